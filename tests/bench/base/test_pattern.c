/* Tests of bench/base/pattern: one mix has one name, however it was written. */
#include "bench/base/pattern.h"
#include "tests/test.h"

#include <errno.h>

static const struct {
    const char *text, *name;
    uint32_t percent[PATTERN_N_KINDS];
} known[] = {
    {"read", "read", {100, 0, 0, 0}},
    {"seqread", "read", {100, 0, 0, 0}},
    {"write", "write", {0, 100, 0, 0}},
    {"seqwrite", "write", {0, 100, 0, 0}},
    {"randread", "randread", {0, 0, 100, 0}},
    {"randwrite", "randwrite", {0, 0, 0, 100}},
    {"rw", "rw:50", {50, 50, 0, 0}},
    {"rw:50", "rw:50", {50, 50, 0, 0}},
    {"rw:70", "rw:70", {70, 30, 0, 0}},
    {"rw:100", "read", {100, 0, 0, 0}},
    {"rw:0", "write", {0, 100, 0, 0}},
    {"randrw", "randrw:50", {0, 0, 50, 50}},
    {"randrw:1", "randrw:1", {0, 0, 1, 99}},
    {"randrw:0", "randwrite", {0, 0, 0, 100}},
    {"randrw:100", "randread", {0, 0, 100, 0}},
    {"seq-read=100", "read", {100, 0, 0, 0}},
    {"rand-write=100,seq-read=0", "randwrite", {0, 0, 0, 100}},
    {"seq-write=60,seq-read=40", "rw:40", {40, 60, 0, 0}},
    {"rand-read=30,rand-write=70", "randrw:30", {0, 0, 30, 70}},
    {"seq-read=40,seq-write=10,rand-read=30,rand-write=20",
     "seq-read=40,seq-write=10,rand-read=30,rand-write=20",
     {40, 10, 30, 20}},
    {"rand-write=60,seq-write=0,seq-read=40", "seq-read=40,rand-write=60", {40, 0, 0, 60}},
    {"rand-read=50,seq-read=50", "seq-read=50,rand-read=50", {50, 0, 50, 0}},
};

TEST(known_patterns_have_their_shares_and_names_that_are_read_back)
{
    for (size_t i = 0; i < N_OF(known); i++) {
        struct pattern pattern, again;
        struct err err = {0};
        assert_int_equal(pattern_parse(known[i].text, &pattern, &err), 0);
        assert_string_equal(pattern.name, known[i].name);
        assert_memory_equal(pattern.percent, known[i].percent, sizeof(pattern.percent));
        assert_int_equal(err.code, 0);
        assert_int_equal(pattern_parse(pattern.name, &again, NULL), 0);
        assert_string_equal(again.name, pattern.name);
        assert_memory_equal(again.percent, pattern.percent, sizeof(pattern.percent));
    }
}

TEST(wrong_patterns_are_einval_and_say_what_is_wrong)
{
    const struct {
        const char *text, *said;
    } rows[] = {
        {"", "randrw[:READ%]"},
        {"foo", "\"foo\": unknown"},
        {"Read", "unknown"},
        {"read ", "unknown"},
        {"rando", "unknown"},
        {"read:70", "read takes no share"},
        {"randwrite:0", "randwrite takes no share"},
        {"rw:", "0..100"},
        {"rw:101", "0..100"},
        {"rw:-1", "0..100"},
        {"rw:7.5", "0..100"},
        {"rw:70%", "0..100"},
        {"rw:70:30", "0..100"},
        {"rw:18446744073709551666", "0..100"},
        {":70", "unknown"},
        {"seq-read=40,seq-write=10", "sum to 50"},
        {"seq-read=60,rand-read=60", "sum to 120"},
        {"seq-read=50,seq-read=50", "seq-read is given twice"},
        {"seq-read=0,seq-write=100,seq-read=0", "seq-read is given twice"},
        {"seq-read=100,", "\"\" is not a share"},
        {",seq-read=100", "\"\" is not a share"},
        {"seq-read=100,rw", "\"rw\" is not a share"},
        {"seq-read=", "\"seq-read=\": a share"},
        {"=100", "\"=100\" is not a share"},
        {"seqread=100", "\"seqread=100\" is not a share"},
        {"seq-read=100%", "whole number"},
        {"seq-read= 100", "whole number"},
        {"seq-read=1e2", "whole number"},
        {"seq-read=99.5,seq-write=0.5", "\"seq-read=99.5\""},
        {"seq-read=000000000000100", "whole number"},
        {"seq-read=00000100", "whole number"},
        {"seq-read=4294967396", "whole number"},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct pattern pattern, untouched;
        struct err err = {0};
        memset(&pattern, 0x5a, sizeof(pattern));
        memset(&untouched, 0x5a, sizeof(untouched));
        assert_int_equal(pattern_parse(rows[i].text, &pattern, &err), -EINVAL);
        assert_int_equal(err.code, -EINVAL);
        if (!strstr(err.text, rows[i].said))
            fail_msg("\"%s\" said: %s", rows[i].text, err.text);
        assert_memory_equal(&pattern, &untouched, sizeof(pattern));
        assert_int_equal(pattern_parse(rows[i].text, &pattern, NULL), -EINVAL);
    }
}

TEST(long_nonsense_leaves_room_for_the_advice)
{
    char text[5000];
    struct pattern pattern;
    struct err err = {0};
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(pattern_parse(text, &pattern, &err), -EINVAL);
    assert_non_null(strstr(err.text, "randrw"));
    text[2500] = '=';
    assert_int_equal(pattern_parse(text, &pattern, &err), -EINVAL);
    assert_non_null(strstr(err.text, "rand-write=N"));
}

TEST(reads_writes_and_random_follow_the_shares)
{
    const struct {
        const char *text;
        bool reads, writes, random;
    } rows[] = {
        {"read", true, false, false},
        {"write", false, true, false},
        {"randread", true, false, true},
        {"randwrite", false, true, true},
        {"rw:1", true, true, false},
        {"randrw:99", true, true, true},
        {"rw:100", true, false, false},
        {"seq-read=50,rand-read=50", true, false, true},
        {"seq-write=99,rand-write=1", false, true, true},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct pattern pattern;
        assert_int_equal(pattern_parse(rows[i].text, &pattern, NULL), 0);
        assert_int_equal(pattern_reads(&pattern), rows[i].reads);
        assert_int_equal(pattern_writes(&pattern), rows[i].writes);
        assert_int_equal(pattern_is_random(&pattern), rows[i].random);
    }
}
