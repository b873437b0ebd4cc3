/* Tables of numbers are read exactly, or refused with file and line. */
#include "tests/test.h"
#include "tuner/impact/number_table.h"

#include <errno.h>
#include <sys/mman.h>

static struct number_table table;
static struct err err;

FIXTURE(done)
{
    number_table_free(&table);
    return 0;
}

EACH_TEST(NULL, done);

static int read_bytes(const char *bytes, size_t size)
{
    char path[32];
    int fd = memfd_create("table", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    number_table_free(&table);
    err = (struct err){0};
    int result = number_table_read(path, &table, &err);
    close(fd);
    return result;
}

static int read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

TEST(numbers_stand_row_by_row)
{
    assert_int_equal(read_text("0, 1.5,-2e3\r\n\n# a comment\n3,4,5"), 0);
    assert_int_equal(table.n_rows, 2);
    assert_int_equal(table.n_columns, 3);
    static const double expected[] = {0, 1.5, -2000, 3, 4, 5};
    for (size_t i = 0; i < N_OF(expected); i++)
        assert_close(table.values[i], expected[i], 0);
    assert_null(table.names);
    assert_int_equal(table.lines[1], 4);
}

TEST(a_first_line_of_words_names_the_columns)
{
    assert_int_equal(read_text("\xEF\xBB\xBF"
                               "cpu, disk\n1,2\n"),
                     0);
    assert_int_equal(table.n_rows, 1);
    assert_string_equal(table.names[0], "cpu");
    assert_string_equal(table.names[1], "disk");
}

TEST(many_rows_grow_the_table)
{
    char text[4096] = "";
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,1\n", i);
    assert_int_equal(read_text(text), 0);
    assert_int_equal(table.n_rows, 300);
    assert_close(table.values[299 * 2], 299, 0);
}

TEST(what_is_no_table_is_refused_with_its_line)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {{"", "no numbers"},        {"a,b\n", "no numbers"}, {"1,2\n3\n", ":2: 1 values"},
                 {"1,2\n3,x\n", ":2: 'x'"}, {"1,inf\n", "'inf'"},    {"1,0x10\n", "'0x10'"},
                 {"1,1e999\n", "'1e999'"},  {"1,\n", ":1: ''"},      {"a,,b\n1,2,3\n", "has no name"},
                 {"1,2\na,b\n", ":2: 'a'"}};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_int_equal(read_text(wrong[i].text), -EINVAL);
        assert_contains(err.text, wrong[i].words);
    }
    assert_int_equal(read_bytes("1,\0002\n", 5), -EINVAL);
    assert_contains(err.text, "zero byte");
}

TEST(a_file_that_is_not_there_is_an_error)
{
    assert_int_equal(number_table_read("/absent/table.csv", &table, &err), -ENOENT);
}
