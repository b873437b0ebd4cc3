/* QEMU's options: direct on both nodes, flushes kept, the guest's cache told, names escaped. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

TEST(direct_is_said_on_both_nodes_and_flushes_are_kept)
{
    EXPECT("qemu", "",
           "=-blockdev driver=file,node-name=fst-f0,filename=/path/to/disk.img,aio=native,cache.direct=on,"
           "cache.no-flush=off",
           "=-blockdev driver=raw,node-name=fst-d0,file=fst-f0,cache.direct=on,cache.no-flush=off");
    EXPECT("qemu", "direct=0", "aio=threads,cache.direct=off,cache.no-flush=off\n",
           "file=fst-f0,cache.direct=off,cache.no-flush=off\n");
    EXPECT("qemu", "direct=0 image_format=qcow2", "\n-blockdev driver=qcow2,node-name=fst-d0");
}

TEST(device_that_was_measured_is_the_image)
{
    EXPECT("qemu", "system.file_system=\"block\\u0020device\" system.path=/dev/nvme9n1",
           "=-blockdev driver=host_device,node-name=fst-f0,filename=/dev/nvme9n1,aio=native,cache.direct=on,"
           "cache.no-flush=off");
    EXPECT("qemu",
           "system.file_system=\"block\\u0020device\" system.path=/dev/nvme9n1 "
           "system.device_by_id=/dev/disk/by-id/x",
           "driver=host_device,node-name=fst-f0,filename=/dev/disk/by-id/x,");
    EXPECT("qemu", "system.file_system=\"block\\u0020device\" system.path=/dev/nvme9n1 image=/dev/nvme8n1",
           "filename=/dev/nvme8n1,");
    EXPECT("postgresql", "system.file_system=\"block\\u0020device\" system.path=/dev/nvme9n1", "^--image");
}

TEST(each_bus_has_its_devices)
{
    EXPECT("qemu", "", "=-object iothread,id=fst0",
           "=-device virtio-blk-pci,drive=fst-d0,iothread=fst0,queue-size=256,write-cache=on");
    EXPECT("qemu", "bus=virtio-scsi",
           "\n-device virtio-scsi-pci,id=fst-s0,iothread=fst0,virtqueue_size=256,cmd_per_lun=128\n"
           "-device scsi-hd,bus=fst-s0.0,drive=fst-d0,write-cache=on\n");
    EXPECT("qemu", "bus=nvme", "=-device nvme,drive=fst-d0,serial=fstune0,mdts=7,write-cache=on", "^-object");
    EXPECT("qemu", "bus=nvme request_size=1m", "mdts=8");
    EXPECT("qemu", "bus=nvme request_size=1536k", "mdts=9");
}

TEST(directsync_turns_the_guests_cache_off)
{
    EXPECT("qemu", "directsync", "cache.direct=on", "queue-size=256,write-cache=off\n");
    EXPECT("qemu-drive", "directsync", "cache=directsync,aio=native\n");
    EXPECT("qemu-drive", "directsync direct=0", "cache=writethrough,aio=threads\n");
}

TEST(the_short_form_never_mixes_shortcut_and_parts)
{
    EXPECT("qemu-drive", "",
           "=-drive file=/path/to/disk.img,if=none,id=fst-d0,format=raw,cache=none,aio=native",
           "^cache.direct");
    EXPECT("qemu-drive", "direct=0", "cache=writeback,aio=threads\n");
}

TEST(paths_are_doubled_and_quoted)
{
    EXPECT("qemu qemu-drive", "image=/a,b.img", "~=/a,,b.img,");
    EXPECT("qemu qemu-drive", "image=/a b.img", "~='/a b.img',");
    EXPECT("qemu qemu-drive", "image=/it's.img", "~='/it'\\''s.img',");
    EXPECT("qemu qemu-drive", "image=/a,$x.img", "~='/a,,$x.img',");
    EXPECT("qemu qemu-drive", "image=/a=b%c:d@e+f", "~=/a=b%c:d@e+f,");
    EXPECT("qemu qemu-drive", "image=/\xc3\xbc", "~='/\xc3\xbc',");
    EXPECT("qemu qemu-drive", "image=relative.img", "~=relative.img,");
}

/* A shell would end a command at the end of its first line. */
TEST(the_server_of_a_disk_that_tunes_itself_is_one_line)
{
    EXPECT("qemu qemu-drive", "self_tuning image=/a",
           "=# nbdkit --foreground --unix /run/fstune-disk0.sock fstune file='/a' history='/a.fstune'");
    EXPECT(
        "qemu qemu-drive", "self_tuning image=/a directory with a name/that is long/it's a disk.img",
        "=# nbdkit --foreground --unix /run/fstune-disk0.sock fstune file='/a directory with a name/that is "
        "long/it'\\''s a disk.img' history='/a directory with a name/that is long/it'\\''s a "
        "disk.img.fstune'");
}

TEST(a_device_that_tunes_itself_is_served_by_its_size)
{
    EXPECT(
        "qemu qemu-drive", "self_tuning system.file_system=\"block\\u0020device\" system.path=/dev/nvme9n1",
        "=# nbdkit --foreground --unix /run/fstune-disk0.sock fstune file='/dev/nvme9n1' device-size=BYTES "
        "history=/var/lib/fstune-disk0.json",
        "in the place of BYTES");
}

TEST(a_name_like_a_protocol_stays_a_name)
{
    EXPECT("qemu-drive", "image=nbd:x", "file=./nbd:x,");
    EXPECT("qemu", "image=nbd:x", "filename=nbd:x,");
    EXPECT("qemu-drive", "image=/nbd:x", "file=/nbd:x,");
    EXPECT("qemu-drive", "image=a/nbd:x", "file=a/nbd:x,");
}

TEST(several_threads_map_to_iothreads_where_the_version_has_them)
{
    EXPECT("qemu", "threads=2", "--target-version 9.0", "^\"iothread-vq-mapping\"");
    EXPECT("qemu", "threads=2 target_version=9", "\n-object iothread,id=fst0\n-object iothread,id=fst1\n",
           "=-device '{\"driver\":\"virtio-blk-pci\",\"drive\":\"fst-d0\",\"iothread-vq-mapping\":"
           "[{\"iothread\":\"fst0\"},{\"iothread\":\"fst1\"}],\"num-queues\":2,\"queue-size\":256,"
           "\"write-cache\":\"on\"}'",
           "needs: QEMU 9.0");
}

TEST(old_versions_get_the_fallback_or_a_refusal)
{
    EXPECT("qemu", "api=io_uring", "aio=io_uring", "needs: QEMU 5.0");
    EXPECT("qemu", "api=io_uring target_version=4.2", "aio=native",
           "io_uring needs QEMU 5.0 or later: native stands here instead");
    EXPECT("qemu qemu-drive", "target_version=2.11", "?needs QEMU 2.12");
}

/* What stands behind the comments, which differ. */
static void check_lines(const char *given, const char *const *others)
{
    EXPECT("qemu", given, "\n-object");
    AUTO(auto_free) char *first = strdup(strstr(text, "\n-object"));
    for (; *others != NULL; others++)
        EXPECT("qemu", *others, first);
}

/* Synchronous calls at any depth are QEMU's threads. */
TEST(psync_pvec_and_pool_become_the_same_lines)
{
    check_lines("api=psync queue_depth=1", (const char *const[]){"api=pvec", "api=pool", NULL});
}

/* When writes are to be durable is the guest's to say: every mode honours its flushes. */
TEST(every_sync_becomes_the_same_lines)
{
    check_lines("", (const char *const[]){"sync=none", "sync=each", NULL});
}
