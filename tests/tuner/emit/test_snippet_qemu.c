/* QEMU's options: direct on both nodes, flushes kept, the guest's cache told, names escaped. */
#include "tests/tuner/emit/snippet_rig.h"

EACH_TEST(snippet_reset, NULL);

TEST(direct_is_said_on_both_nodes_and_flushes_are_kept)
{
    SNIPPET_EXPECT("qemu",
                   "\n-blockdev driver=file,node-name=fst-f0,filename=/path/to/disk.img,aio=native,"
                   "cache.direct=on,cache.no-flush=off\n",
                   "\n-blockdev driver=raw,node-name=fst-d0,file=fst-f0,cache.direct=on,"
                   "cache.no-flush=off\n");
    snippet_recommendation.point.direct = 0;
    SNIPPET_EXPECT("qemu", "aio=threads,cache.direct=off,cache.no-flush=off\n",
                   "file=fst-f0,cache.direct=off,cache.no-flush=off\n");
    snippet_request.image_format = SNIPPET_IMAGE_QCOW2;
    snippet_expect("qemu", "\n-blockdev driver=qcow2,node-name=fst-d0");
}

TEST(each_bus_has_its_devices)
{
    SNIPPET_EXPECT("qemu", "\n-object iothread,id=fst0\n",
                   "\n-device virtio-blk-pci,drive=fst-d0,iothread=fst0,queue-size=256,write-cache=on\n");
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    snippet_expect("qemu",
                   "\n-device virtio-scsi-pci,id=fst-s0,iothread=fst0,virtqueue_size=256,cmd_per_lun=128\n"
                   "-device scsi-hd,bus=fst-s0.0,drive=fst-d0,write-cache=on\n");
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect("qemu", "\n-device nvme,drive=fst-d0,serial=fstune0,mdts=7,write-cache=on\n");
    snippet_expect_no("qemu", "-object");
    snippet_recommendation.point.request_size_bytes = 1 << 20;
    snippet_expect("qemu", "mdts=8");
    snippet_recommendation.point.request_size_bytes = 1536 << 10;
    snippet_expect("qemu", "mdts=9");
}

TEST(directsync_turns_the_guests_cache_off)
{
    snippet_request.directsync = true;
    SNIPPET_EXPECT("qemu", "cache.direct=on", "queue-size=256,write-cache=off\n");
    snippet_expect("qemu-drive", "cache=directsync,aio=native\n");
    snippet_recommendation.point.direct = 0;
    snippet_expect("qemu-drive", "cache=writethrough,aio=threads\n");
}

TEST(the_short_form_never_mixes_shortcut_and_parts)
{
    snippet_expect("qemu-drive", "\n-drive file=/path/to/disk.img,if=none,id=fst-d0,format=raw,cache=none,"
                                 "aio=native\n");
    snippet_expect_no("qemu-drive", "cache.direct");
    snippet_recommendation.point.direct = 0;
    snippet_expect("qemu-drive", "cache=writeback,aio=threads\n");
}

TEST(paths_are_doubled_and_quoted)
{
    static const struct {
        const char *path, *expected;
    } rows[] = {
        {"/a,b.img", "=/a,,b.img,"},        {"/a b.img", "='/a b.img',"},
        {"/it's.img", "='/it'\\''s.img',"}, {"/a,$x.img", "='/a,,$x.img',"},
        {"/a=b%c:d@e+f", "=/a=b%c:d@e+f,"}, {"/\xc3\xbc", "='/\xc3\xbc',"},
        {"relative.img", "=relative.img,"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snippet_request.image = rows[i].path;
        snippet_expect("qemu", rows[i].expected);
        snippet_expect("qemu-drive", rows[i].expected);
    }
}

TEST(a_name_like_a_protocol_stays_a_name)
{
    snippet_request.image = "nbd:x";
    snippet_expect("qemu-drive", "file=./nbd:x,");
    snippet_expect("qemu", "filename=nbd:x,");
    snippet_request.image = "/nbd:x";
    snippet_expect("qemu-drive", "file=/nbd:x,");
    snippet_request.image = "a/nbd:x";
    snippet_expect("qemu-drive", "file=a/nbd:x,");
}

TEST(several_threads_map_to_iothreads_where_the_version_has_them)
{
    snippet_recommendation.point.threads = 2;
    snippet_expect("qemu", "--target-version 9.0");
    snippet_expect_no("qemu", "\"iothread-vq-mapping\"");
    snippet_request.version[0] = 9;
    SNIPPET_EXPECT("qemu", "\n-object iothread,id=fst0\n-object iothread,id=fst1\n",
                   "\n-device '{\"driver\":\"virtio-blk-pci\",\"drive\":\"fst-d0\",\"iothread-vq-mapping\":"
                   "[{\"iothread\":\"fst0\"},{\"iothread\":\"fst1\"}],\"num-queues\":2,\"queue-size\":256,"
                   "\"write-cache\":\"on\"}'\n",
                   "needs: QEMU 9.0");
}

TEST(old_versions_get_the_fallback_or_a_refusal)
{
    snippet_recommendation.point.api = API_IO_URING;
    SNIPPET_EXPECT("qemu", "aio=io_uring", "needs: QEMU 5.0");
    snippet_request.version[0] = 4;
    snippet_request.version[1] = 2;
    SNIPPET_EXPECT("qemu", "aio=native", "io_uring needs QEMU 5.0 or later: native stands here instead");
    snippet_request.version[0] = 2;
    snippet_request.version[1] = 11;
    snippet_expect_refused("qemu", "needs QEMU 2.12");
    snippet_expect_refused("qemu-drive", "needs QEMU 2.12");
}

TEST(control_characters_in_a_path_are_refused)
{
    snippet_request.image = "/a\nb";
    snippet_expect_refused("qemu", "control character");
    snippet_expect_refused("qemu-drive", "control character");
}

/* What stands behind the comments, which differ. */
static const char *lines_of(const char *text)
{
    const char *lines = strstr(text, "\n-object");
    assert_non_null(lines);
    return lines;
}

/* Synchronous calls at any depth are QEMU's threads. */
TEST(psync_pvec_and_pool_become_the_same_lines)
{
    static const enum api apis[] = {API_PVEC, API_POOL};
    snippet_recommendation.point.api = API_PSYNC;
    AUTO(auto_free) char *first = snippet_text("qemu");
    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++) {
        snippet_recommendation.point.api = apis[i];
        AUTO(auto_free) char *text = snippet_text("qemu");
        assert_string_equal(lines_of(text), lines_of(first));
    }
}

/* When writes are to be durable is the guest's to say: every mode honours its flushes. */
TEST(every_sync_becomes_the_same_lines)
{
    AUTO(auto_free) char *first = snippet_text("qemu");
    for (unsigned sync = 0; sync < SYNC_N; sync++) {
        snippet_recommendation.point.sync = (enum sync)sync;
        AUTO(auto_free) char *text = snippet_text("qemu");
        assert_string_equal(lines_of(text), lines_of(first));
    }
}
