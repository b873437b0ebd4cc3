/* Snippets of virtual machines other than QEMU's: what each says, and what it refuses. */
#include "tests/tuner/emit/snippet_rig.h"

#include <jansson.h>

static const char *const names[] = {"virtualbox", "vmware", "firecracker", "cloud-hypervisor",
                                    "crosvm",     "bhyve",  "xen",         "kubevirt"};

FIXTURE(setup)
{
    snippet_reset(test_state);
    snippet_recommendation.point.api = API_IO_URING;
    snippet_request.image = "/vm/a.img";
    return 0;
}

EACH_TEST(setup, NULL);

TEST(every_machine_says_where_it_comes_from_and_what_it_cannot_say)
{
    for (size_t i = 0; i < N_OF(names); i++) {
        SNIPPET_EXPECT(names[i], "recommended: 64k x 8, direct, io_uring", "not mapped: request size 64k",
                       "not mapped: queue depth 8");
    }
}

TEST(a_setting_that_can_lose_data_is_never_emitted)
{
    static const char *const never[] = {"\"Unsafe\"", "cache: unsafe", "IgnoreFlush\" 1", "no-flush"};
    for (size_t i = 0; i < N_OF(names); i++) {
        for (unsigned setting = 0; setting < 2U * SYNC_N; setting++) {
            snippet_recommendation.point.direct = setting % 2;
            snippet_recommendation.point.sync = (enum sync)(setting / 2);
            for (size_t j = 0; j < N_OF(never); j++)
                snippet_expect_no(names[i], never[j]);
        }
    }
}

TEST(control_characters_in_a_path_are_refused)
{
    static const char *const with_path[] = {"firecracker", "cloud-hypervisor", "crosvm", "bhyve", "xen"};
    snippet_request.image = "/vm/a\nb";
    for (size_t i = 0; i < N_OF(with_path); i++)
        snippet_expect_refused(with_path[i], "control character");
}

TEST(a_path_that_is_not_utf8_is_refused_where_only_that_is_read)
{
    snippet_request.image = "/vm/\xff.img";
    snippet_expect_refused("firecracker", "UTF-8");
    snippet_expect_refused("cloud-hypervisor", "UTF-8");
    snippet_expect_refused("crosvm", "UTF-8");
    snippet_expect("xen", "target=/vm/\xff.img'");
}

TEST(directsync_is_refused_where_no_mode_has_it)
{
    static const char *const without[] = {"virtualbox", "vmware", "firecracker", "cloud-hypervisor",
                                          "crosvm",     "xen",    "kubevirt"};
    snippet_request.directsync = true;
    for (size_t i = 0; i < N_OF(without); i++)
        snippet_expect_refused(without[i], "--directsync");
    snippet_expect("bhyve", "/vm/a.img,nocache,direct'");
    snippet_recommendation.point.direct = 0;
    snippet_expect("bhyve", "/vm/a.img,direct'");
    snippet_expect("kubevirt", "cache: writethrough\n");
}

TEST(a_bus_that_a_machine_lacks_is_refused)
{
    static const char *const without_nvme[] = {"virtualbox", "firecracker", "cloud-hypervisor",
                                               "crosvm",     "xen",         "kubevirt"};
    static const char *const without_scsi[] = {"virtualbox", "firecracker", "cloud-hypervisor",
                                               "crosvm",     "xen",         "bhyve"};
    snippet_request.bus = SNIPPET_BUS_NVME;
    for (size_t i = 0; i < N_OF(without_nvme); i++)
        snippet_expect_refused(without_nvme[i], "nvme");
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    for (size_t i = 0; i < N_OF(without_scsi); i++)
        snippet_expect_refused(without_scsi[i], "scsi");
    snippet_expect("kubevirt", "bus: scsi\n");
    snippet_expect_no("kubevirt", "dedicatedIOThread");
}

TEST(qcow2_is_refused_where_it_cannot_be_read)
{
    snippet_request.image_format = SNIPPET_IMAGE_QCOW2;
    snippet_expect_refused("firecracker", "qemu-img convert");
    snippet_expect_refused("bhyve", "qemu-img convert");
    snippet_expect_refused("crosvm", "qemu-img convert");
    snippet_expect("xen", "'format=qcow2,");
    snippet_expect("cloud-hypervisor", ",image_type=qcow2,");
    snippet_recommendation.point.direct = 0;
    snippet_expect("crosvm", "o_direct=false");
}

TEST(firecracker_is_asynchronous_only_on_request)
{
    SNIPPET_EXPECT("firecracker", "\"io_engine\": \"Sync\"", "--target-version 1.0");
    snippet_request.version[0] = 1;
    SNIPPET_EXPECT("firecracker", "\"io_engine\": \"Async\"", "not yet suitable for production");
    snippet_recommendation.point.api = API_LIBAIO;
    snippet_expect("firecracker", "\"io_engine\": \"Sync\"");
    snippet_recommendation.point.api = API_IO_URING;
    snippet_request.version[0] = 0;
    snippet_request.version[1] = 25;
    snippet_expect("firecracker", "\"io_engine\": \"Sync\"");
}

TEST(firecracker_keeps_flushes_and_comments_beside_the_json)
{
    snippet_expect("firecracker", "\"cache_type\": \"Writeback\"");
    char *text = snippet_text("firecracker");
    json_t *drive = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(drive), 6);
    json_decref(drive);
    free(text);
    snippet_expect("firecracker", "acknowledges them and does nothing");
}

TEST(xen_is_direct_on_local_file_systems_only)
{
    static const char *const unsafe[] = {"nfs", "nfs4", "cifs", "fuse.sshfs", "ceph", "ext", "ext44", ""};
    snippet_expect("xen", ",direct-io-safe,target=/vm/a.img'");
    for (size_t i = 0; i < N_OF(unsafe); i++) {
        snprintf(snippet_recommendation.file_system, sizeof snippet_recommendation.file_system, "%s",
                 unsafe[i]);
        snippet_expect_no("xen", ",direct-io-safe,");
        snippet_expect("xen", "not mapped: direct 1");
    }
    snprintf(snippet_recommendation.file_system, sizeof snippet_recommendation.file_system, "xfs");
    snippet_expect("xen", ",direct-io-safe,");
    snprintf(snippet_recommendation.device, sizeof snippet_recommendation.device, "nbd0");
    snippet_expect_no("xen", ",direct-io-safe,");
}

TEST(xen_and_bhyve_want_a_whole_path)
{
    snippet_request.image = "a.img";
    snippet_expect_refused("xen", "relative");
    snippet_expect_refused("bhyve", "relative");
    snippet_request.image = "/vm/a,b";
    snippet_expect_refused("xen", "','");
    snippet_expect_refused("bhyve", "','");
}

TEST(commas_are_quoted_where_that_is_possible)
{
    snippet_request.image = "/vm/a,b";
    snippet_expect("cloud-hypervisor", "--disk 'path=\"/vm/a,b\",");
    snippet_expect("crosvm", "--block 'path=\"/vm/a,b\",");
    snippet_request.image = "/vm/a\\,\"b";
    snippet_expect_refused("cloud-hypervisor", "'\"'");
    snippet_expect("crosvm", "--block 'path=\"/vm/a\\\\,\\\"b\",");
    snippet_request.image = "/vm/it's";
    snippet_expect("cloud-hypervisor", "--disk 'path=/vm/it'\\''s,");
}

TEST(cloud_hypervisor_names_the_image_type_from_50_1_on)
{
    snippet_expect("cloud-hypervisor", ",image_type=raw,");
    snippet_request.version[0] = 51;
    snippet_expect("cloud-hypervisor", ",image_type=raw,");
    snippet_request.version[0] = 50;
    snippet_request.version[1] = 1;
    snippet_expect("cloud-hypervisor", ",image_type=raw,");
    snippet_request.version[1] = 0;
    snippet_expect_no("cloud-hypervisor", ",image_type=");
}

TEST(a_queue_serves_each_thread_of_cloud_hypervisor)
{
    snippet_recommendation.point.threads = 4;
    snippet_recommendation.point.queue_depth = 300;
    SNIPPET_EXPECT("cloud-hypervisor", ",direct=on,num_queues=4,queue_size=512'", "--cpus boot=4");
    snippet_recommendation.point.request_size_bytes = 4088U << 10;
    snippet_expect_no("cloud-hypervisor", "splits");
    snippet_recommendation.point.request_size_bytes = 4096U << 10;
    SNIPPET_EXPECT("cloud-hypervisor", "queue_size=1024'", "splits");
}

TEST(slots_of_bhyve_follow_the_depth_up_to_its_ring)
{
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect("bhyve", "4,nvme,/vm/a.img,nocache,ioslots=8'");
    snippet_recommendation.point.queue_depth = 100;
    snippet_expect("bhyve", ",ioslots=100'");
    snippet_recommendation.point.threads = 2;
    SNIPPET_EXPECT("bhyve", ",ioslots=128'", "measured with 200 in flight");
}

TEST(vmware_gets_parameters_above_254_in_flight_only)
{
    static const char *const parameters = "\nvmw_pvscsi.cmd_per_lun=254 vmw_pvscsi.ring_pages=32\n";
    snippet_recommendation.point.queue_depth = 254;
    snippet_expect_no("vmware", parameters);
    snippet_recommendation.point.queue_depth = 255;
    snippet_expect("vmware", parameters);
    snippet_recommendation.point.queue_depth = 128;
    snippet_recommendation.point.threads = 2;
    snippet_expect("vmware", parameters);
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect_no("vmware", parameters);
}

TEST(virtualbox_lets_flushes_through)
{
    SNIPPET_EXPECT("virtualbox", "LUN#$port/Config/IgnoreFlush\" 0\n", "--hostiocache off\n");
    snippet_recommendation.point.direct = 0;
    SNIPPET_EXPECT("virtualbox", "LUN#$port/Config/IgnoreFlush\" 0\n", "--hostiocache on\n");
}

TEST(kubevirt_is_native_with_direct_only)
{
    snippet_expect("kubevirt", "cache: none\n    io: native\n");
    snippet_recommendation.point.direct = 0;
    snippet_expect("kubevirt", "cache: writeback\n    io: threads\n");
    snippet_recommendation.point.api = API_LIBAIO;
    snippet_expect("kubevirt", "cache: writeback\n    io: threads\n");
    snippet_recommendation.point.direct = 1;
    snippet_expect("kubevirt", "cache: none\n    io: native\n");
    snippet_recommendation.point.api = API_PSYNC;
    SNIPPET_EXPECT("kubevirt", "cache: none\n    io: threads\n", "at 1 in flight");
}

TEST(kubevirt_takes_the_image_for_a_volume_where_it_is_a_name)
{
    snippet_expect("kubevirt", "name: \"disk0\"\n");
    snippet_request.image = "on";
    snippet_expect("kubevirt", "name: \"on\"\n");
    snippet_request.image = "-on";
    snippet_expect("kubevirt", "name: \"disk0\"\n");
    snippet_request.image = "a\": x";
    snippet_expect("kubevirt", "name: \"disk0\"\n");
}
