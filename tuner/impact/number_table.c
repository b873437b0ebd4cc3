/* CSV of numbers, with or without a header. */
#include "tuner/impact/number_table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PATH 200
#define BOM        "\xEF\xBB\xBF"

struct table_reader {
    const char *path;
    FILE *in;
    char *line;
    size_t line_size, number, n_bytes;
    size_t capacity; /* rows */
    struct number_table table;
};

static int refuse_row(const struct table_reader *reader, struct err *err, const char *what)
{
    return err_set(err, -EINVAL, "%.*s:%zu: %s", SHOWN_PATH, reader->path, reader->number, what);
}

static char *trim_field(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text + strspn(text, " \t");
}

/* No hexadecimal numbers, no words such as inf. */
static bool read_number(const char *text, double *ret)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

static size_t count_fields(const char *line)
{
    size_t n = 1;
    for (; (line = strchr(line, ',')) != NULL; line++)
        n++;
    return n;
}

static int take_header(struct table_reader *reader, char *line, struct err *err)
{
    struct number_table *table = &reader->table;
    table->n_columns = count_fields(line);
    table->names = calloc(table->n_columns, sizeof *table->names);
    if (table->names == NULL)
        return err_set(err, -ENOMEM, "%.*s: no memory", SHOWN_PATH, reader->path);
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *name = trim_field(strsep(&line, ","));
        if (name[0] == '\0')
            return refuse_row(reader, err, "a column has no name; give each one");
        snprintf(table->names[i], sizeof table->names[i], "%s", name);
    }
    return 0;
}

static int grow_table(struct table_reader *reader)
{
    struct number_table *table = &reader->table;
    if (table->n_rows < reader->capacity)
        return 0;
    const size_t rows = reader->capacity > 0 ? 2 * reader->capacity : 64;
    double *values = reallocarray(table->values, rows, table->n_columns * sizeof *values);
    if (values != NULL)
        table->values = values;
    size_t *lines = reallocarray(table->lines, rows, sizeof *lines);
    if (lines != NULL)
        table->lines = lines;
    if (values == NULL || lines == NULL)
        return -ENOMEM;
    reader->capacity = rows;
    return 0;
}

static int take_row(struct table_reader *reader, char *line, struct err *err)
{
    struct number_table *table = &reader->table;
    char what[128];
    const size_t n = count_fields(line);
    if (table->n_columns == 0)
        table->n_columns = n;
    if (n != table->n_columns) {
        snprintf(what, sizeof what, "%zu values stand here, %zu in the lines before; give as many", n,
                 table->n_columns);
        return refuse_row(reader, err, what);
    }
    if (grow_table(reader) < 0)
        return err_set(err, -ENOMEM, "%.*s: no memory for its lines", SHOWN_PATH, reader->path);
    for (size_t i = 0; i < n; i++) {
        const char *field = trim_field(strsep(&line, ","));
        if (!read_number(field, &table->values[table->n_rows * n + i])) {
            snprintf(what, sizeof what, "'%.40s' is no number; write one like 12.5", field);
            return refuse_row(reader, err, what);
        }
    }
    table->lines[table->n_rows++] = reader->number;
    return 0;
}

static int take_line(struct table_reader *reader, char *line, struct err *err)
{
    double number;
    if (reader->number == 1 && strncmp(line, BOM, strlen(BOM)) == 0)
        line += strlen(BOM);
    line = trim_field(line);
    if (line[0] == '\0' || line[0] == '#')
        return 0;
    char first[NUMBER_TABLE_MAX_NAME];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(line, ","), line);
    bool is_first = reader->table.n_rows == 0 && reader->table.names == NULL;
    return is_first && !read_number(trim_field(first), &number) && isalpha((unsigned char)first[0])
               ? take_header(reader, line, err)
               : take_row(reader, line, err);
}

static int read_lines(struct table_reader *reader, struct err *err)
{
    ssize_t n;
    int result = 0;
    while (result == 0 && (n = getline(&reader->line, &reader->line_size, reader->in)) >= 0) {
        reader->number++;
        reader->n_bytes += (size_t)n;
        if (strlen(reader->line) != (size_t)n)
            return refuse_row(reader, err, "a zero byte stands here; give a file of text");
        if (reader->n_bytes > NUMBER_TABLE_MAX_BYTES)
            return refuse_row(reader, err, "the file is larger than 64 MiB; give fewer lines");
        result = take_line(reader, reader->line, err);
    }
    if (result == 0 && ferror(reader->in))
        return err_sys(err, -errno, "%.*s: cannot be read", SHOWN_PATH, reader->path);
    if (result == 0 && reader->table.n_rows == 0)
        return err_set(err, -EINVAL, "%.*s: no numbers stand there; give a line of them for each run",
                       SHOWN_PATH, reader->path);
    return result;
}

int number_table_read(const char *path, struct number_table *ret, struct err *err)
{
    struct table_reader reader = {.path = path};
    bool is_stdin = strcmp(path, "-") == 0;
    reader.in = is_stdin ? stdin : fopen(path, "re");
    if (reader.in == NULL)
        return err_sys(err, -errno, "%.*s: cannot be opened", SHOWN_PATH, path);
    int result = read_lines(&reader, err);
    if (!is_stdin)
        fclose(reader.in);
    free(reader.line);
    if (result == 0)
        *ret = reader.table;
    else
        number_table_free(&reader.table);
    return result;
}

void number_table_free(struct number_table *table)
{
    free(table->values);
    free(table->names);
    free(table->lines);
    *table = (struct number_table){0};
}
