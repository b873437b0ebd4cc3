/* Loads made of a few numbers, and traces: CSV with a header line. */
#include "tuner/writes/write_load.h"

#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "tuner/base/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PATH 200
#define LINE_SIZE  8192
#define BOM        "\xEF\xBB\xBF"

void write_load_done(struct write_load *load)
{
    for (size_t i = 0; load->files != NULL && i < load->n_files; i++)
        free(load->files[i]);
    free(load->chunks);
    free(load->files);
    *load = (struct write_load){0};
}

/* Chunk i of a file written once from its beginning to its end. */
static struct cawl_chunk chunk_at(const struct settings_prediction *asked, size_t i)
{
    const uint64_t offset = i * asked->request_size_bytes, left = asked->total_bytes - offset;
    return (struct cawl_chunk){.offset_bytes = offset,
                               .size_bytes =
                                   left < asked->request_size_bytes ? left : asked->request_size_bytes,
                               .delay_s = (double)asked->delay_ns / 1e9};
}

static void move_back(struct cawl_chunk *chunks, size_t n, double share)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t size = chunks[i].size_bytes, wanted = (uint64_t)llround(share * (double)size);
        const uint64_t overlap = wanted < size ? wanted : size; /* 2^60 bytes do not fit into a double */
        chunks[i].offset_bytes = chunks[i - 1].offset_bytes + chunks[i - 1].size_bytes - overlap;
    }
}

/* Fisher and Yates: every order is as likely. */
static void shuffle(struct cawl_chunk *chunks, size_t n, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)(rng_uniform(&rng) * (double)i);
        const struct cawl_chunk held = chunks[i - 1];
        chunks[i - 1] = chunks[other];
        chunks[other] = held;
    }
}

static int allocate_load(struct write_load *load, size_t n)
{
    *load = (struct write_load){.n = n, .n_files = 1};
    load->chunks = malloc(n * sizeof *load->chunks);
    load->files = calloc(1, sizeof *load->files);
    if (load->files != NULL)
        load->files[0] = strdup("");
    if (load->chunks != NULL && load->files != NULL && load->files[0] != NULL)
        return 0;
    write_load_done(load);
    return -ENOMEM;
}

int write_load_generate(const struct settings_prediction *asked, uint64_t seed, struct write_load *ret,
                        struct err *err)
{
    struct write_load load;
    const uint64_t n_chunks = (asked->total_bytes - 1) / asked->request_size_bytes + 1;
    const size_t n = (size_t)n_chunks;
    if (n_chunks > WRITE_LOAD_MAX_CHUNKS)
        return err_set(err, -EINVAL,
                       "more than %d writes; use larger requests or a smaller total (%" PRIu64
                       " bytes at a time make %" PRIu64 ")",
                       WRITE_LOAD_MAX_CHUNKS, asked->request_size_bytes, n_chunks);
    int result = allocate_load(&load, n);
    if (result < 0)
        return err_set(err, result, "no memory for %zu writes", n);
    for (size_t i = 0; i < n; i++)
        load.chunks[i] = chunk_at(asked, i);
    if (asked->random)
        shuffle(load.chunks, n, seed);
    else if (asked->rewrite_share > 0)
        move_back(load.chunks, n, asked->rewrite_share);
    load.total_bytes = asked->total_bytes;
    *ret = load;
    return 0;
}

enum column { COLUMN_FILE, COLUMN_OFFSET, COLUMN_SIZE, COLUMN_DELAY, N_COLUMNS };

static const char *const names[N_COLUMNS] = {"file", "offset", "size", "delay_s"};

/* A file of the trace in the tree of names. */
struct named {
    char *name;
    uint32_t number;
};

struct reader {
    const char *path;
    FILE *in;
    size_t line, n_columns;
    enum column columns[N_COLUMNS]; /* in the order of the header */
    struct write_load load;
    size_t capacity, files_capacity;
    void *tree;
    const struct named *last; /* most lines name the file of the line before */
};

static int refuse_load_line(const struct reader *reader, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse_load_line(const struct reader *reader, struct err *err, const char *format, ...)
{
    char what[ERR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return err_set(err, -EINVAL, "%.*s:%zu: %s", SHOWN_PATH, reader->path, reader->line, what);
}

static int no_memory(const struct reader *reader, struct err *err)
{
    return err_set(err, -ENOMEM, "%.*s: no memory for its %zu writes", SHOWN_PATH, reader->path,
                   reader->load.n);
}

/* One line without its end, \n or \r\n; own code because a file without line ends may be of any size. 1, 0 at
 * the end of the file, or a negative errno. */
static int next_load_line(struct reader *reader, char line[LINE_SIZE], struct err *err)
{
    size_t n = 0;
    int c = getc_unlocked(reader->in);
    if (c == EOF)
        return ferror(reader->in) ? err_sys(err, -errno, "%.*s: cannot be read", SHOWN_PATH, reader->path)
                                  : 0;
    reader->line++;
    for (; c != EOF && c != '\n'; c = getc_unlocked(reader->in)) {
        if (c == '\0')
            return refuse_load_line(reader, err, "holds a zero byte; give a table in CSV");
        if (n == LINE_SIZE - 1)
            return refuse_load_line(reader, err, "is longer than %d bytes; give a table in CSV",
                                    LINE_SIZE - 1);
        line[n++] = (char)c;
    }
    n -= n > 0 && line[n - 1] == '\r';
    line[n] = '\0';
    return 1;
}

/* Takes one field off the line, its quotes (RFC 4180) removed in place. The rest is NULL behind the last. */
static int next_field(const struct reader *reader, char **rest, char **ret_field, struct err *err)
{
    char *from = *rest, *to = *rest;
    *ret_field = from;
    if (*from != '"') {
        from += strcspn(from, ",\"");
        if (*from == '"')
            return refuse_load_line(reader, err,
                                    "a quote inside a field; put the whole field in quotes, quotes doubled");
        to = from;
    } else {
        for (from++; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from == '\0')
            return refuse_load_line(reader, err,
                                    "a quote is not closed; a field may not hold an end of line");
        from++;
        if (*from != '\0' && *from != ',')
            return refuse_load_line(reader, err, "something follows the closing quote of a field");
    }
    *rest = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return 0;
}

static int read_header(struct reader *reader, char *line, struct err *err)
{
    bool seen[N_COLUMNS] = {false};
    char *rest = strncmp(line, BOM, strlen(BOM)) == 0 ? line + strlen(BOM) : line, *field;
    while (rest != NULL) {
        size_t i = 0;
        int result = next_field(reader, &rest, &field, err);
        if (result < 0)
            return result;
        while (i < N_COLUMNS && strcmp(names[i], field) != 0)
            i++;
        if (i == N_COLUMNS)
            return refuse_load_line(reader, err,
                                    "'%.40s' is no column; the header is file,offset,size,delay_s", field);
        if (seen[i])
            return refuse_load_line(reader, err, "the column %s stands there twice", names[i]);
        seen[i] = true;
        reader->columns[reader->n_columns++] = (enum column)i;
    }
    for (size_t i = COLUMN_OFFSET; i < N_COLUMNS; i++) {
        if (!seen[i])
            return refuse_load_line(
                reader, err, "the column %s is missing; the header is file,offset,size,delay_s", names[i]);
    }
    return 0;
}

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static void free_named(void *named)
{
    free(named); /* its name belongs to the load */
}

static int add_file(struct reader *reader, const char *name, struct named **ret_named)
{
    struct write_load *load = &reader->load;
    struct named *named = calloc(1, sizeof *named);
    if (named == NULL)
        return -ENOMEM;
    char **added = grow_array(&load->files, load->n_files, &reader->files_capacity, sizeof *added);
    named->name = added != NULL ? strdup(name) : NULL;
    named->number = (uint32_t)load->n_files;
    if (named->name == NULL || tsearch(named, &reader->tree, compare_named) == NULL) {
        free(named->name);
        free(named);
        return -ENOMEM;
    }
    *added = named->name;
    load->n_files++;
    *ret_named = named;
    return 0;
}

static int find_file(struct reader *reader, char *name, uint32_t *ret_number, struct err *err)
{
    struct named *named = NULL;
    if (reader->last == NULL || strcmp(reader->last->name, name) != 0) {
        struct named **found = tfind(&(struct named){.name = name}, &reader->tree, compare_named);
        if (found != NULL)
            named = *found;
        else if (add_file(reader, name, &named) < 0)
            return no_memory(reader, err);
        reader->last = named;
    }
    *ret_number = reader->last->number;
    return 0;
}

static int read_bytes(const struct reader *reader, enum column column, const char *text, uint64_t *ret_bytes,
                      struct err *err)
{
    int result = units_parse_size(text, ret_bytes);
    if (result == -EINVAL)
        return refuse_load_line(reader, err,
                                "%s: '%.40s' is no number of bytes; write digits, as 65536 or 64k",
                                names[column], text);
    if (result < 0 || *ret_bytes > WRITE_LOAD_MAX_BYTES)
        return refuse_load_line(reader, err, "%s: '%.40s' is too large; use at most 2^62", names[column],
                                text);
    return 0;
}

static int read_delay(const struct reader *reader, const char *text, double *ret_s, struct err *err)
{
    char *end;
    const bool is_plain = text[0] != '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
    const double seconds = strtod(text, &end);
    if (!is_plain || *end != '\0')
        return refuse_load_line(reader, err,
                                "delay_s: '%.40s' is no number of seconds; write one as 0.25 or 1e-3", text);
    if (!(seconds >= 0 && seconds <= WRITE_LOAD_MAX_DELAY_S))
        return refuse_load_line(reader, err, "delay_s: '%.40s' is out of range; use 0 to %g", text,
                                WRITE_LOAD_MAX_DELAY_S);
    *ret_s = seconds;
    return 0;
}

static int read_load_value(struct reader *reader, enum column column, char *text, struct cawl_chunk *chunk,
                           struct err *err)
{
    int result;
    switch (column) {
    case COLUMN_FILE:
        return find_file(reader, text, &chunk->file, err);
    case COLUMN_OFFSET:
        return read_bytes(reader, column, text, &chunk->offset_bytes, err);
    case COLUMN_SIZE:
        result = read_bytes(reader, column, text, &chunk->size_bytes, err);
        if (result == 0 && chunk->size_bytes == 0)
            return refuse_load_line(reader, err, "size: 0 bytes are no write; leave the line out");
        return result;
    case COLUMN_DELAY:
    default:
        return read_delay(reader, text, &chunk->delay_s, err);
    }
}

static int add_chunk(struct reader *reader, const struct cawl_chunk *chunk, struct err *err)
{
    struct write_load *load = &reader->load;
    if (load->n == WRITE_LOAD_MAX_CHUNKS)
        return refuse_load_line(reader, err, "more than %d writes; give a shorter trace",
                                WRITE_LOAD_MAX_CHUNKS);
    if (chunk->offset_bytes + chunk->size_bytes > WRITE_LOAD_MAX_BYTES)
        return refuse_load_line(reader, err, "the write ends behind 2^62 bytes, where no file can");
    if (load->total_bytes > WRITE_LOAD_MAX_BYTES - chunk->size_bytes)
        return refuse_load_line(reader, err, "the writes up to here are more than 2^62 bytes");
    struct cawl_chunk *added = grow_array(&load->chunks, load->n, &reader->capacity, sizeof *added);
    if (added == NULL)
        return no_memory(reader, err);
    *added = *chunk;
    load->n++;
    load->total_bytes += chunk->size_bytes;
    return 0;
}

static int read_row(struct reader *reader, char *line, struct err *err)
{
    struct cawl_chunk chunk = {0};
    char *rest = line, *field;
    size_t n = 0;
    int result = 0;
    for (; result == 0 && rest != NULL; n++) {
        if (n == reader->n_columns)
            return refuse_load_line(reader, err, "more than the header's %zu fields", reader->n_columns);
        result = next_field(reader, &rest, &field, err);
        if (result == 0)
            result = read_load_value(reader, reader->columns[n], field, &chunk, err);
    }
    if (result < 0)
        return result;
    if (n < reader->n_columns)
        return refuse_load_line(reader, err, "%zu fields instead of %zu", n, reader->n_columns);
    return add_chunk(reader, &chunk, err);
}

static int read_lines(struct reader *reader, struct err *err)
{
    char line[LINE_SIZE];
    uint32_t none;
    int result = 0, more;
    while (result == 0 && (more = next_load_line(reader, line, err)) != 0) {
        if (more < 0)
            return more;
        if (reader->n_columns == 0)
            result = read_header(reader, line, err);
        else if (line[0] != '\0')
            result = read_row(reader, line, err);
        /* A trace without the column has one file without a name. */
        if (result == 0 && reader->load.n_files == 0 && reader->n_columns < N_COLUMNS)
            result = find_file(reader, (char[]){""}, &none, err);
    }
    if (result == 0 && reader->load.n == 0)
        result = err_set(err, -EINVAL,
                         "%.*s:%zu: no write in it; it needs a header "
                         "file,offset,size,delay_s and a line for each write",
                         SHOWN_PATH, reader->path, reader->line + (reader->line == 0));
    return result;
}

int write_load_read(const char *path, struct write_load *ret, struct err *err)
{
    const bool is_input = strcmp(path, "-") == 0;
    struct reader reader = {.path = is_input ? "standard input" : path};
    reader.in = is_input ? stdin : fopen(path, "re");
    if (reader.in == NULL)
        return err_sys(err, -errno, "%.*s: cannot be opened", SHOWN_PATH, path);
    int result = read_lines(&reader, err);
    if (!is_input)
        fclose(reader.in);
    tdestroy(reader.tree, free_named);
    if (result == 0)
        *ret = reader.load;
    else
        write_load_done(&reader.load);
    return result;
}
