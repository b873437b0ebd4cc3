/* The table of formats, and what holds for every one of them. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tuner/base/snippet_formats.h"

#include <ctype.h>

GROUP(NULL, leave);

TEST(names_are_unique_and_found)
{
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        assert_ptr_equal(snippet_find(ops->name), ops);
        assert_string_equal(ops->name, snippet_formats[i]);
        for (const char *c = ops->name; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || *c == '-');
    }
    assert_null(snippet_find("qemu2"));
    assert_null(snippet_find(""));
}

TEST(every_row_says_what_it_is_and_how_to_check_it)
{
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        assert_true(strlen(ops->title) > 10 && strchr(ops->title, '\n') == NULL);
        assert_true(strlen(ops->hint) > 0 && strchr(ops->hint, '\n') == NULL);
        assert_int_equal(strspn(ops->says, "-py"), SNIPPET_SAYS_N);
        assert_int_equal(strlen(ops->says), SNIPPET_SAYS_N);
        assert_non_null(ops->text);
    }
}

/* What a snippet must not hold whatever was measured: data would be lost, or nobody would know. */
/* What a snippet must not hold whatever was measured: data would be lost, or nobody would know. */
TEST(no_format_gives_up_durability)
{
    static const char *const never[] = {
        "nsafe",   "no-flush=on",           "error=ignore", "snapshot=on", "locking=off",      "null-aio",
        "null-co", "error_policy='ignore'", "<transient",   "<shareable",  "full_page_writes", "fsync = off",
        "nosync",  "IgnoreFlush\" 1"};
    const struct snippet_ops *ops;
    for (unsigned combination = 0; combination < 2 * SYNC_N * API_N; combination++) {
        enum api api = (enum api)(combination % API_N);
        give("");
        answers[0].point.api = api;
        answers[0].point.sync = (enum sync)(combination / API_N % SYNC_N);
        answers[0].point.direct = combination / API_N / SYNC_N;
        answers[0].point.queue_depth = api == API_PSYNC ? 1 : 8;
        for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++)
            for (size_t n = 0; emit(ops) == 0 && n < N_OF(never); n++)
                assert_null(strstr(text, never[n]));
    }
}

TEST(the_header_names_origin_evidence_and_doubt)
{
    EXPECT("qemu", "", "2024-02-03T04:05:06Z on host store1 in /srv/data (ext4, device vda)", "95% interval",
           "settled");
    EXPECT("qemu", ".conclusive=false", "NOT settled");
    EXPECT("qemu", "throughput.ci_low=null", "too few for an interval");
    EXPECT("qemu", "throughput.mean=null .probability_within_tolerance=null", "how sure: not known");
    EXPECT("qemu", "system.simulated=true", "nothing was measured");
}

TEST(the_header_says_the_sync_once)
{
    EXPECT("qemu", "", "libaio, sync end\n");
    EXPECT("qemu", "sync=each", "libaio, sync each\n");
}

/* None is dropped in silence. */
TEST(every_wish_changes_the_snippet_or_is_refused)
{
    static const char *const wishes[] = {"directsync", "image_format=qcow2", "bus=nvme",
                                         "image=/vms/other.img"};
    const struct snippet_ops *ops;
    size_t n_compared = 0;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        give("");
        if (emit(ops) != 0)
            continue;
        AUTO(auto_free) char *plain = strdup(text), *beside = strdup(remarks);
        for (size_t wish = 0; wish < N_OF(wishes); wish++, n_compared++) {
            give(wishes[wish]);
            if (emit(ops) == 0 && strcmp(text, plain) == 0 && strcmp(remarks, beside) == 0 &&
                (wish == 0 || !holds("not mapped: image")))
                fail_msg("%s: %s changes nothing:\n%s", ops->name, wishes[wish], text);
        }
    }
    assert_true(n_compared > 50);
}

#define ALL_WISHES "bus=nvme directsync target_version=99 image_format=qcow2 image=/a"

TEST(what_a_format_has_no_use_for_is_said_once)
{
    EXPECT("shell qemu", "", "^is not used by");
    EXPECT("shell", ALL_WISHES, "# --bus is not used by shell\n",
           "# --directsync is not used by shell: nothing here makes every write durable",
           "# --target-version is not used by shell\n",
           "# --image is not used by shell\n# --image-format is not used by shell\n");
    EXPECT("fio", ALL_WISHES, "--directsync is not used by fio", "^--image is not used by fio");
    /* JSON has no comments: a remark beside it. */
    EXPECT("json", ALL_WISHES, "^is not used by", "--directsync is not used by json");
    EXPECT("mysql", ALL_WISHES, "^--target-version is not used");
    EXPECT("crosvm bhyve xen kubevirt vmware virtualbox rocksdb", "target_version=99",
           "--target-version is not used by");
}
