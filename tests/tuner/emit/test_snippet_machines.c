/* Snippets of virtual machines other than QEMU's: what each says, and what it refuses. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

#define ALL "virtualbox vmware firecracker cloud-hypervisor crosvm bhyve xen kubevirt"
/* An image where a machine is to say more than that it has none. */
#define DISK "image=/vm/a.img"

TEST(every_machine_says_where_it_comes_from_and_what_it_cannot_say)
{
    EXPECT(ALL, "api=io_uring", "recommended: 64k x 8, direct, io_uring", "not mapped: request size 64k",
           "not mapped: queue depth 8");
}

TEST(control_characters_in_a_path_are_refused)
{
    EXPECT("qemu qemu-drive libvirt firecracker cloud-hypervisor crosvm bhyve xen", "image=/vm/a\nb",
           "?control character");
}

TEST(a_path_that_is_not_utf8_is_refused_where_only_that_is_read)
{
    EXPECT("firecracker cloud-hypervisor crosvm", "image=/vm/\xff.img", "?UTF-8");
    EXPECT("xen", "image=/vm/\xff.img", "target=/vm/\xff.img'");
}

TEST(directsync_is_refused_where_no_mode_has_it)
{
    EXPECT("virtualbox vmware firecracker cloud-hypervisor crosvm xen", "directsync", "?--directsync");
    EXPECT("kubevirt", "directsync", "?--directsync");
    EXPECT("kubevirt", "directsync direct=0", "cache: writethrough\n");
    EXPECT("bhyve", "directsync " DISK, "/vm/a.img,nocache,direct'");
    EXPECT("bhyve", "directsync direct=0 " DISK, "/vm/a.img,direct'");
}

TEST(a_bus_that_a_machine_lacks_is_refused)
{
    EXPECT("virtualbox firecracker cloud-hypervisor crosvm xen kubevirt", "bus=nvme", "?nvme");
    EXPECT("virtualbox firecracker cloud-hypervisor crosvm xen bhyve", "bus=virtio-scsi", "?scsi");
    EXPECT("kubevirt", "bus=virtio-scsi", "bus: scsi\n", "^dedicatedIOThread");
}

TEST(qcow2_is_refused_where_it_cannot_be_read)
{
    EXPECT("firecracker bhyve crosvm", "image_format=qcow2", "?qemu-img convert");
    EXPECT("xen", "image_format=qcow2", "'format=qcow2,");
    EXPECT("cloud-hypervisor", "image_format=qcow2", ",image_type=qcow2,");
    EXPECT("crosvm", "image_format=qcow2 direct=0", "o_direct=false");
}

TEST(firecracker_is_asynchronous_only_on_request)
{
    EXPECT("firecracker", "api=io_uring", "\"io_engine\": \"Sync\"", "--target-version 1.0");
    EXPECT("firecracker", "api=io_uring target_version=1", "\"io_engine\": \"Async\"",
           "not yet suitable for production");
    EXPECT("firecracker", "target_version=1", "\"io_engine\": \"Sync\"");
    EXPECT("firecracker", "api=io_uring target_version=0.25", "\"io_engine\": \"Sync\"");
}

TEST(firecracker_keeps_flushes_and_comments_beside_the_json)
{
    EXPECT("firecracker", "", "\"cache_type\": \"Writeback\"", "acknowledges them and does nothing");
    json_auto_t *drive = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(drive), 6);
}

TEST(xen_is_direct_on_local_file_systems_only)
{
    static const char *const unsafe[] = {"nfs", "nfs4", "cifs", "fuse.sshfs", "ceph", "ext", "ext44", ""};
    EXPECT("xen", DISK, ",direct-io-safe,target=/vm/a.img'");
    for (size_t i = 0; i < N_OF(unsafe); i++) {
        char given[64];
        snprintf(given, sizeof given, "system.file_system=%s", unsafe[i]);
        EXPECT("xen", given, "^,direct-io-safe,", "not mapped: direct 1");
    }
    EXPECT("xen", "system.file_system=xfs", ",direct-io-safe,");
    EXPECT("xen", "system.file_system=xfs system.device=nbd0", "^,direct-io-safe,");
}

TEST(xen_and_bhyve_want_a_whole_path)
{
    EXPECT("xen bhyve", "image=a.img", "?relative");
    EXPECT("xen bhyve", "image=/vm/a,b", "?','");
}

TEST(commas_are_quoted_where_that_is_possible)
{
    EXPECT("cloud-hypervisor", "image=/vm/a,b", "--disk 'path=\"/vm/a,b\",");
    EXPECT("crosvm", "image=/vm/a,b", "--block 'path=\"/vm/a,b\",");
    EXPECT("cloud-hypervisor", "image=/vm/a\\,\"b", "?'\"'");
    EXPECT("crosvm", "image=/vm/a\\,\"b", "--block 'path=\"/vm/a\\\\,\\\"b\",");
    EXPECT("cloud-hypervisor", "image=/vm/it's", "--disk 'path=/vm/it'\\''s,");
}

TEST(cloud_hypervisor_names_the_image_type_from_50_1_on)
{
    EXPECT("cloud-hypervisor", "", ",image_type=raw,");
    EXPECT("cloud-hypervisor", "target_version=51", ",image_type=raw,");
    EXPECT("cloud-hypervisor", "target_version=50.1", ",image_type=raw,");
    EXPECT("cloud-hypervisor", "target_version=50.0", "^,image_type=");
}

TEST(a_queue_serves_each_thread_of_cloud_hypervisor)
{
    EXPECT("cloud-hypervisor", "threads=4 queue_depth=300", ",direct=on,num_queues=4,queue_size=512'",
           "--cpus boot=4");
    EXPECT("cloud-hypervisor", "threads=4 queue_depth=300 request_size=4088k", "^splits");
    EXPECT("cloud-hypervisor", "threads=4 queue_depth=300 request_size=4m", "queue_size=1024'", "splits");
}

TEST(slots_of_bhyve_follow_the_depth_up_to_its_ring)
{
    EXPECT("bhyve", "bus=nvme " DISK, "4,nvme,/vm/a.img,nocache,ioslots=8'");
    EXPECT("bhyve", "bus=nvme queue_depth=100", ",ioslots=100'");
    EXPECT("bhyve", "bus=nvme queue_depth=100 threads=2", ",ioslots=128'", "measured with 200 in flight");
}

TEST(vmware_gets_parameters_above_254_in_flight_only)
{
    EXPECT("vmware", "queue_depth=254", "^\nvmw_pvscsi.");
    EXPECT("vmware", "queue_depth=255", "=vmw_pvscsi.cmd_per_lun=254 vmw_pvscsi.ring_pages=32");
    EXPECT("vmware", "queue_depth=128 threads=2", "=vmw_pvscsi.cmd_per_lun=254 vmw_pvscsi.ring_pages=32");
    EXPECT("vmware", "queue_depth=255 bus=nvme", "^\nvmw_pvscsi.");
}

TEST(virtualbox_lets_flushes_through)
{
    EXPECT("virtualbox", "", "LUN#$port/Config/IgnoreFlush\" 0\n", "--hostiocache off\n");
    EXPECT("virtualbox", "direct=0", "LUN#$port/Config/IgnoreFlush\" 0\n", "--hostiocache on\n");
}

TEST(kubevirt_is_native_with_direct_only)
{
    EXPECT("kubevirt", "api=io_uring", "cache: none\n    io: native\n");
    EXPECT("kubevirt", "api=io_uring direct=0", "cache: writeback\n    io: threads\n");
    EXPECT("kubevirt", "direct=0", "cache: writeback\n    io: threads\n");
    EXPECT("kubevirt", "", "cache: none\n    io: native\n");
    EXPECT("kubevirt", "api=psync queue_depth=1", "cache: none\n    io: threads\n", "at 1 in flight");
}

TEST(kubevirt_takes_the_image_for_a_volume_where_it_is_a_name)
{
    EXPECT("kubevirt", DISK, "name: \"disk0\"\n");
    EXPECT("kubevirt", "image=on", "name: \"on\"\n");
    EXPECT("kubevirt", "image=-on", "name: \"disk0\"\n");
    EXPECT("kubevirt", "image=a\": x", "name: \"disk0\"\n");
}
