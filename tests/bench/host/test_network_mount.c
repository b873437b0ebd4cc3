/* Tests of bench/host/network_mount: words of real mounts. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/network_mount.h"
#include "tests/test.h"

static struct network_mount mount;

static void parse(const char *line)
{
    char copy[1024];
    struct hostinfo_mount words;
    snprintf(copy, sizeof copy, "%s", line);
    assert_true(hostinfo_parse_mount(copy, &words));
    network_mount_parse(&words, &mount);
}

#define NFS "52 1 0:38 / /mnt rw,relatime shared:1 - nfs4 10.0.0.1:/ "

TEST(nfs_tells_what_it_is)
{
    parse(NFS "rw,vers=4.2,rsize=1048576,wsize=524288,namlen=255,soft,proto=tcp,nconnect=4,timeo=600,"
              "retrans=2,sec=sys,clientaddr=10.0.0.2,local_lock=none,addr=10.0.0.1");
    assert_string_equal(mount.server, "10.0.0.1");
    assert_string_equal(mount.version, "4.2");
    assert_string_equal(mount.transport, "tcp");
    assert_true(mount.read_bytes == 1048576 && mount.write_bytes == 524288);
    assert_true(mount.connections == 4 && mount.attributes_s == 60);
    assert_true(mount.soft);
    assert_false(mount.sync || mount.disk_cache);
}

/* What is the default stands in mountinfo for none of these. */
TEST(nfs_has_defaults)
{
    parse(NFS "rw,vers=3,rsize=65536,wsize=65536,hard,proto=tcp,mountaddr=10.0.0.9,addr=10.0.0.1");
    assert_string_equal(mount.server, "10.0.0.1");
    assert_true(mount.connections == 1 && mount.attributes_s == 60);
    assert_false(mount.soft);
    parse(NFS "rw,sync,vers=4.1,rsize=65536,wsize=65536,noac,softerr,fsc,proto=tcp,addr=10.0.0.1");
    assert_true(mount.attributes_s == 0 && mount.soft && mount.sync && mount.disk_cache);
}

TEST(softreval_is_not_soft)
{
    parse(NFS "rw,vers=4.2,softreval,hard,addr=10.0.0.1");
    assert_false(mount.soft);
}

TEST(smb_and_9p_say_it_in_the_same_words)
{
    parse(
        "52 1 0:38 / /mnt rw - cifs //10.0.0.1/share rw,vers=3.1.1,cache=strict,multichannel,max_channels=2,"
        "addr=10.0.0.1,file_mode=0755,soft,rsize=4194304,wsize=4194304,actimeo=1");
    assert_string_equal(mount.version, "3.1.1");
    assert_string_equal(mount.cache, "strict");
    assert_true(mount.read_bytes == 4194304 && mount.connections == 2 && mount.attributes_s == 1 &&
                mount.soft);
    parse("52 1 0:38 / /mnt rw - 9p host rw,access=client,trans=virtio,msize=512000,cache=loose");
    assert_string_equal(mount.transport, "virtio");
    assert_true(mount.read_bytes == 512000 && mount.write_bytes == 512000 && mount.connections == 0);
}

TEST(a_local_mount_tells_nothing)
{
    parse("36 35 98:12 / / rw,noatime - ext4 /dev/vda rw,errors=continue,stripe=16,rsize=,wsize=x");
    const struct network_mount nothing = {0};
    assert_memory_equal(&mount, &nothing, sizeof mount);
    struct hostinfo info = {0};
    network_mount_add(&info, &mount);
    assert_int_equal(info.n, 0);
}

TEST(connections_and_layout_are_those_of_the_mount)
{
    char path[] = "/tmp/fstune-mountstats-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] =
        "device rootfs mounted on / with fstype rootfs\n"
        "device 10.0.0.1:/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n"
        "\tnfsv4:\tbm0=0xf8f3b77e,acl=0x3,sessions,pnfs=not configured,lease_time=90\n"
        "\txprt:\ttcp 0 0 1 0 0 9 9 0 9 0 2 0 0\n"
        "device 10.0.0.1:/b mounted on /mnt/my\\040b with fstype nfs4 statvers=1.1\n"
        "\tnfsv4:\tbm0=0xf8f3b77e,acl=0x3,sessions,pnfs=LAYOUT_FLEX_FILES,lease_time=90\n"
        "\txprt:\ttcp 0 0 1 0 0 9 9 0 9 0 2 0 0\n"
        "\txprt:\ttcp 0 0 1 0 0 9 9 0 9 0 2 0 0\n"
        "\tper-op statistics\n";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    mount = (struct network_mount){.connections = 7};
    network_mount_add_stats(path, "/mnt/my b", &mount);
    assert_true(mount.connections == 2);
    assert_string_equal(mount.layout, "LAYOUT_FLEX_FILES");
    mount = (struct network_mount){.connections = 7};
    network_mount_add_stats(path, "/mnt/a", &mount);
    assert_true(mount.connections == 1);
    assert_string_equal(mount.layout, "");
    mount = (struct network_mount){.connections = 7};
    network_mount_add_stats(path, "/elsewhere", &mount);
    assert_true(mount.connections == 7);
    unlink(path);
    network_mount_add_stats(path, "/mnt/a", &mount);
    assert_true(mount.connections == 7);
}

TEST(large_requests_are_sent_in_pieces)
{
    assert_true(network_mount_pieces(4096, 65536) == 1);
    assert_true(network_mount_pieces(65536, 65536) == 1);
    assert_true(network_mount_pieces(65537, 65536) == 2);
    assert_true(network_mount_pieces(1 << 20, 0) == 1);
}
