/* The table of formats, and what holds for every one of them. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tuner/base/snippet_formats.h"

#include <ctype.h>

EACH_TEST(snippet_reset, NULL);

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
TEST(no_format_gives_up_durability)
{
    static const char *const never[] = {
        "unsafe",  "no-flush=on",           "error=ignore", "snapshot=on", "locking=off",      "null-aio",
        "null-co", "error_policy='ignore'", "<transient",   "<shareable",  "full_page_writes", "fsync = off",
        "nosync",  "IgnoreFlush\" 1"};
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        for (unsigned combination = 0; combination < 2 * SYNC_N * API_N; combination++) {
            char *text = NULL, *remarks = NULL;
            struct point *point = &snippet_recommendation.point;
            point->api = (enum api)(combination % API_N);
            point->sync = (enum sync)(combination / API_N % SYNC_N);
            point->direct = combination / API_N / SYNC_N;
            point->queue_depth = point->api == API_PSYNC ? 1 : 8;
            if (snippet_make(ops, &snippet_request, &text, &remarks, NULL) != 0)
                continue;
            for (size_t n = 0; n < sizeof never / sizeof never[0]; n++)
                assert_null(strstr(text, never[n]));
            free(text);
            free(remarks);
        }
    }
}

TEST(a_refused_snippet_leaves_no_text)
{
    char *text = NULL, *remarks = NULL;
    struct err err = {0};
    snippet_request.image = "/a\nb";
    assert_int_equal(snippet_make(snippet_find("qemu"), &snippet_request, &text, &remarks, &err), -EINVAL);
    assert_null(text);
    assert_null(remarks);
    assert_non_null(strstr(err.text, "control character"));
}

TEST(the_header_names_origin_evidence_and_doubt)
{
    SNIPPET_EXPECT("qemu", "2024-02-03T04:05:06Z on host store1 in /data (ext4, device vda)", "95% interval",
                   "settled");
    snippet_recommendation.conclusive = false;
    snippet_expect("qemu", "NOT settled");
    snippet_recommendation.ci_low_bps = NAN;
    snippet_expect("qemu", "too few for an interval");
    snippet_recommendation.mean_bps = NAN;
    snippet_recommendation.probability = NAN;
    snippet_expect("qemu", "how sure: not known");
    snippet_recommendation.simulated = true;
    snippet_expect("qemu", "nothing was measured");
}

TEST(the_header_says_the_sync_once)
{
    snippet_expect("qemu", "libaio, sync end\n");
    snippet_recommendation.point.sync = SYNC_EACH;
    snippet_expect("qemu", "libaio, sync each\n");
}

/* The snippet and its remarks as one text; NULL where it is refused. */
static char *everything(const struct snippet_ops *ops)
{
    char *text = NULL, *remarks = NULL, *whole = NULL;
    if (snippet_make(ops, &snippet_request, &text, &remarks, NULL) != 0)
        return NULL;
    assert_true(asprintf(&whole, "%s%s", text, remarks) >= 0);
    free(text);
    free(remarks);
    return whole;
}

static void make_wish(unsigned request)
{
    snippet_request.image = request == 0 ? "/vms/other.img" : "";
    snippet_request.image_format = request == 1 ? SNIPPET_IMAGE_QCOW2 : SNIPPET_IMAGE_RAW;
    snippet_request.bus = request == 2 ? SNIPPET_BUS_NVME : SNIPPET_BUS_VIRTIO_BLK;
    snippet_request.directsync = request == 3;
    snippet_request.version[0] = 0;
}

/* None is dropped in silence. */
TEST(every_wish_changes_the_snippet_or_is_refused)
{
    const struct snippet_ops *ops;
    size_t n_compared = 0;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        make_wish(4);
        AUTO(auto_free) char *plain = everything(ops);
        for (unsigned request = 0; request < 4 && plain != NULL; request++) {
            make_wish(request);
            char *requested = everything(ops);
            bool is_said = requested != NULL && request < 3 && strstr(requested, "not mapped: image") != NULL;
            if (requested != NULL && strcmp(plain, requested) == 0 && !is_said)
                fail_msg("%s: wish %u changes nothing:\n%s", ops->name, request, requested);
            free(requested);
            n_compared++;
        }
    }
    assert_true(n_compared > 50);
}

TEST(what_a_format_has_no_use_for_is_said_once)
{
    snippet_expect_no("shell", "is not used by");
    snippet_expect_no("qemu", "is not used by");
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_request.directsync = true;
    snippet_request.version[0] = 99;
    snippet_request.image = "/a";
    snippet_request.image_format = SNIPPET_IMAGE_QCOW2;
    SNIPPET_EXPECT("shell", "# --bus is not used by shell\n",
                   "# --directsync is not used by shell: nothing here makes every write durable",
                   "# --target-version is not used by shell\n",
                   "# --image is not used by shell\n# --image-format is not used by shell\n");
    snippet_expect("fio", "--directsync is not used by fio");
    snippet_expect_no("fio", "--image is not used by fio");
    snippet_expect_no("json", "is not used by"); /* JSON has no comments: a remark beside it */
    char *whole = everything(snippet_find("json"));
    assert_non_null(strstr(whole, "--directsync is not used by json"));
    free(whole);
    snippet_expect_no("mysql", "--target-version is not used");
    snippet_request =
        (struct snippet_request){.recommendation = &snippet_recommendation, .image = "", .version = {99, 0}};
    static const char *const without[] = {"crosvm", "bhyve",      "xen",    "kubevirt",
                                          "vmware", "virtualbox", "rocksdb"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        snippet_expect(without[i], "--target-version is not used by");
}
