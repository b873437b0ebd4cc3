/* Tests of bench/base/err: the words of an error survive, and nothing else does. */
#include "bench/base/err.h"
#include "tests/test.h"

#include <errno.h>

static struct err err;

FIXTURE(clear)
{
    err = (struct err){0};
    return 0;
}

EACH_TEST(clear, NULL);

TEST(set_stores_code_and_text)
{
    assert_int_equal(err_set(&err, -EINVAL, "%s: %d is odd", "depth", 3), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, "depth: 3 is odd");
}

TEST(sys_appends_the_systems_words)
{
    assert_int_equal(err_sys(&err, -ENOENT, "open %s", "a.conf"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.text, "open a.conf: No such file or directory");
}

TEST(failures_of_a_device_are_named_as_such)
{
    static const int codes[] = {-ENODATA, -EILSEQ, -ENOLINK, -EREMOTEIO};
    for (size_t i = 0; i < N_OF(codes); i++) {
        char text[256];
        snprintf(text, sizeof text, "read: Input/output error (%s)", strerror(-codes[i]));
        assert_int_equal(err_sys(&err, codes[i], "read"), codes[i]);
        assert_string_equal(err.text, text);
        assert_int_equal(err_io(&err, codes[i], "read"), codes[i]);
        assert_memory_equal(err.text, text, strlen(text));
        assert_non_null(strstr(err.text, "; see dmesg"));
        assert_true(err_is_device(codes[i]));
    }
    err_io(&err, -EIO, "read");
    assert_string_equal(err.text,
                        "read: Input/output error; see dmesg for what the kernel knows of the device");
    err_io(&err, -ENOSPC, "write");
    assert_string_equal(err.text, "write: No space left on device");
}

TEST(prefixes_pile_up_and_keep_the_code)
{
    err_set(&err, -EIO, "short read");
    assert_int_equal(err_prefix(&err, "offset %d", 512), -EIO);
    assert_int_equal(err_prefix(&err, "file"), -EIO);
    assert_string_equal(err.text, "file: offset 512: short read");
}

TEST(prefix_of_nothing_is_the_prefix_alone)
{
    assert_int_equal(err_prefix(&err, "start"), 0);
    assert_string_equal(err.text, "start");
}

TEST(null_passes_the_code_and_is_never_success)
{
    assert_int_equal(err_set(NULL, -EPERM, "x"), -EPERM);
    assert_int_equal(err_sys(NULL, -ENOSPC, "x"), -ENOSPC);
    assert_true(err_prefix(NULL, "x") < 0);
}

TEST(text_may_be_its_own_argument)
{
    err_set(&err, -EIO, "inner");
    err_set(&err, -EINVAL, "<%s>", err.text);
    assert_string_equal(err.text, "<inner>");
    err_prefix(&err, "%s", err.text);
    assert_string_equal(err.text, "<inner>: <inner>");
}

TEST(long_texts_keep_their_head)
{
    /* A guard behind the text shows an overflow also without a sanitizer. */
    struct {
        struct err err;
        unsigned char guard[64];
    } box;
    char name[2 * ERR_TEXT_SIZE];
    memset(&box, 0x5a, sizeof(box));
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    err_set(&box.err, -EIO, "head %s", name);
    assert_int_equal(strlen(box.err.text), ERR_TEXT_SIZE - 1);
    assert_memory_equal(box.err.text, "head nnn", 8);
    err_sys(&box.err, -EIO, "sys %s", name);
    assert_int_equal(strlen(box.err.text), ERR_TEXT_SIZE - 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(err_prefix(&box.err, "prefix %d", i), -EIO);
    assert_int_equal(strlen(box.err.text), ERR_TEXT_SIZE - 1);
    assert_memory_equal(box.err.text, "prefix 99: prefix 98: ", 22);
    err_prefix(&box.err, "%s", name);
    assert_int_equal(strlen(box.err.text), ERR_TEXT_SIZE - 1);
    for (size_t i = 0; i < sizeof(box.guard); i++)
        assert_int_equal(box.guard[i], 0x5a);
}

TEST(every_length_around_the_limit_fits)
{
    char name[ERR_TEXT_SIZE + 8];
    for (size_t length = ERR_TEXT_SIZE - 8; length < ERR_TEXT_SIZE + 8; length++) {
        err = (struct err){0};
        memset(name, 'n', length);
        name[length] = '\0';
        err_set(&err, -EIO, "%s", name);
        size_t expected = length < ERR_TEXT_SIZE ? length : ERR_TEXT_SIZE - 1;
        assert_int_equal(strlen(err.text), expected);
        err_prefix(&err, "p");
        assert_int_equal(strlen(err.text), expected + 3 < ERR_TEXT_SIZE ? expected + 3 : ERR_TEXT_SIZE - 1);
    }
}

TEST(control_characters_become_question_marks)
{
    err_set(&err, -EIO, "a\nb\tc\033[31md\177 caf\303\251");
    assert_string_equal(err.text, "a?b?c?[31md? caf\303\251");
    err_prefix(&err, "x\r\n");
    assert_string_equal(err.text, "x??: a?b?c?[31md? caf\303\251");
}
