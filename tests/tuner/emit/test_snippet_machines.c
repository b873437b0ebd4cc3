/* Snippets of virtual machines other than QEMU's: what each says, and what it refuses. */
#include "tests/test.h"
#include "tuner/emit/snippet.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {"virtualbox", "vmware", "firecracker", "cloud-hypervisor",
                                    "crosvm",     "bhyve",  "xen",         "kubevirt"};

/* What the cases change, and what they look at. */
struct rig {
    struct recommendation recommendation;
    struct snippet_request request;
    json_t *document;
    char *text, *remarks;
    struct err err;
};

static void drop(struct rig *rig)
{
    free(rig->text);
    free(rig->remarks);
    rig->text = rig->remarks = NULL;
}

FIXTURE(setup)
{
    struct rig *rig = calloc(1, sizeof *rig);
    if (rig == NULL)
        return -1;
    rig->document = json_object();
    rig->recommendation = (struct recommendation){
        .point = {65536, 8, 1, API_IO_URING, 1, SYNC_END, 0},
        .mean_bps = 1e9,
        .ci_low_bps = NAN,
        .ci_high_bps = NAN,
        .probability = NAN,
        .speedup = NAN,
        .latency_p99_ns = NAN,
        .file_system = "ext4",
        .device = "sda",
        .document = rig->document,
    };
    rig->request = (struct snippet_request){.recommendation = &rig->recommendation, .image = "/vm/a.img"};
    *test_state = rig;
    return 0;
}

FIXTURE(teardown)
{
    struct rig *rig = *test_state;
    drop(rig);
    json_decref(rig->document);
    free(rig);
    return 0;
}

EACH_TEST(setup, teardown);

static int make(struct rig *rig, const char *name)
{
    const struct snippet_ops *ops = snippet_find(name);
    assert_non_null(ops);
    drop(rig);
    rig->err = (struct err){0};
    return snippet_make(ops, &rig->request, &rig->text, &rig->remarks, &rig->err);
}

static void says(struct rig *rig, const char *name, const char *words)
{
    assert_int_equal(make(rig, name), 0);
    if (strstr(rig->text, words) == NULL && strstr(rig->remarks, words) == NULL)
        fail_msg("%s does not say \"%s\":\n%s%s", name, words, rig->text, rig->remarks);
}

static void says_not(struct rig *rig, const char *name, const char *words)
{
    assert_int_equal(make(rig, name), 0);
    if (strstr(rig->text, words) != NULL)
        fail_msg("%s says \"%s\":\n%s", name, words, rig->text);
}

/* Refused, with these words of what to do. */
static void refuses(struct rig *rig, const char *name, const char *words)
{
    assert_int_equal(make(rig, name), -EINVAL);
    if (strstr(rig->err.text, words) == NULL)
        fail_msg("%s refuses with \"%s\"", name, rig->err.text);
}

TEST(every_machine_says_where_it_comes_from_and_what_it_cannot_say)
{
    for (size_t i = 0; i < N_OF(names); i++) {
        says(*test_state, names[i], "recommended: 64k x 8, direct, io_uring");
        says(*test_state, names[i], "not mapped: request size 64k");
        says(*test_state, names[i], "not mapped: queue depth 8");
    }
}

TEST(a_setting_that_can_lose_data_is_never_emitted)
{
    struct rig *rig = *test_state;
    static const char *const never[] = {"\"Unsafe\"", "cache: unsafe", "IgnoreFlush\" 1", "no-flush"};
    for (size_t i = 0; i < N_OF(names); i++) {
        for (unsigned setting = 0; setting < 2U * SYNC_N; setting++) {
            rig->recommendation.point.direct = setting % 2;
            rig->recommendation.point.sync = (enum sync)(setting / 2);
            for (size_t j = 0; j < N_OF(never); j++)
                says_not(rig, names[i], never[j]);
        }
    }
}

TEST(control_characters_in_a_path_are_refused)
{
    struct rig *rig = *test_state;
    static const char *const with_path[] = {"firecracker", "cloud-hypervisor", "crosvm", "bhyve", "xen"};
    rig->request.image = "/vm/a\nb";
    for (size_t i = 0; i < N_OF(with_path); i++)
        refuses(rig, with_path[i], "control character");
}

TEST(a_path_that_is_not_utf8_is_refused_where_only_that_is_read)
{
    struct rig *rig = *test_state;
    rig->request.image = "/vm/\xff.img";
    refuses(rig, "firecracker", "UTF-8");
    refuses(rig, "cloud-hypervisor", "UTF-8");
    refuses(rig, "crosvm", "UTF-8");
    says(rig, "xen", "target=/vm/\xff.img'");
}

TEST(directsync_is_refused_where_no_mode_has_it)
{
    struct rig *rig = *test_state;
    static const char *const without[] = {"virtualbox", "vmware", "firecracker", "cloud-hypervisor",
                                          "crosvm",     "xen",    "kubevirt"};
    rig->request.directsync = true;
    for (size_t i = 0; i < N_OF(without); i++)
        refuses(rig, without[i], "--directsync");
    says(rig, "bhyve", "/vm/a.img,nocache,direct'");
    rig->recommendation.point.direct = 0;
    says(rig, "bhyve", "/vm/a.img,direct'");
    says(rig, "kubevirt", "cache: writethrough\n");
}

TEST(a_bus_that_a_machine_lacks_is_refused)
{
    struct rig *rig = *test_state;
    static const char *const without_nvme[] = {"virtualbox", "firecracker", "cloud-hypervisor",
                                               "crosvm",     "xen",         "kubevirt"};
    static const char *const without_scsi[] = {"virtualbox", "firecracker", "cloud-hypervisor",
                                               "crosvm",     "xen",         "bhyve"};
    rig->request.bus = SNIPPET_BUS_NVME;
    for (size_t i = 0; i < N_OF(without_nvme); i++)
        refuses(rig, without_nvme[i], "nvme");
    rig->request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    for (size_t i = 0; i < N_OF(without_scsi); i++)
        refuses(rig, without_scsi[i], "scsi");
    says(rig, "kubevirt", "bus: scsi\n");
    says_not(rig, "kubevirt", "dedicatedIOThread");
}

TEST(qcow2_is_refused_where_it_cannot_be_read)
{
    struct rig *rig = *test_state;
    rig->request.image_format = SNIPPET_IMAGE_QCOW2;
    refuses(rig, "firecracker", "qemu-img convert");
    refuses(rig, "bhyve", "qemu-img convert");
    refuses(rig, "crosvm", "qemu-img convert");
    says(rig, "xen", "'format=qcow2,");
    says(rig, "cloud-hypervisor", ",image_type=qcow2,");
    rig->recommendation.point.direct = 0;
    says(rig, "crosvm", "o_direct=false");
}

TEST(firecracker_is_asynchronous_only_on_request)
{
    struct rig *rig = *test_state;
    says(rig, "firecracker", "\"io_engine\": \"Sync\"");
    says(rig, "firecracker", "--target-version 1.0");
    rig->request.version[0] = 1;
    says(rig, "firecracker", "\"io_engine\": \"Async\"");
    says(rig, "firecracker", "not yet suitable for production");
    rig->recommendation.point.api = API_LIBAIO;
    says(rig, "firecracker", "\"io_engine\": \"Sync\"");
    rig->recommendation.point.api = API_IO_URING;
    rig->request.version[0] = 0;
    rig->request.version[1] = 25;
    says(rig, "firecracker", "\"io_engine\": \"Sync\"");
}

TEST(firecracker_keeps_flushes_and_comments_beside_the_json)
{
    struct rig *rig = *test_state;
    says(rig, "firecracker", "\"cache_type\": \"Writeback\"");
    json_t *drive = json_loads(rig->text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(drive), 6);
    assert_non_null(strstr(rig->remarks, "acknowledges them and does nothing"));
    json_decref(drive);
}

TEST(xen_is_direct_on_local_file_systems_only)
{
    struct rig *rig = *test_state;
    static const char *const unsafe[] = {"nfs", "nfs4", "cifs", "fuse.sshfs", "ceph", "ext", "ext44", ""};
    says(rig, "xen", ",direct-io-safe,target=/vm/a.img'");
    for (size_t i = 0; i < N_OF(unsafe); i++) {
        snprintf(rig->recommendation.file_system, sizeof rig->recommendation.file_system, "%s", unsafe[i]);
        says_not(rig, "xen", ",direct-io-safe,");
        says(rig, "xen", "not mapped: direct 1");
    }
    snprintf(rig->recommendation.file_system, sizeof rig->recommendation.file_system, "xfs");
    says(rig, "xen", ",direct-io-safe,");
    snprintf(rig->recommendation.device, sizeof rig->recommendation.device, "nbd0");
    says_not(rig, "xen", ",direct-io-safe,");
}

TEST(xen_and_bhyve_want_a_whole_path)
{
    struct rig *rig = *test_state;
    rig->request.image = "a.img";
    refuses(rig, "xen", "relative");
    refuses(rig, "bhyve", "relative");
    rig->request.image = "/vm/a,b";
    refuses(rig, "xen", "','");
    refuses(rig, "bhyve", "','");
}

TEST(commas_are_quoted_where_that_is_possible)
{
    struct rig *rig = *test_state;
    rig->request.image = "/vm/a,b";
    says(rig, "cloud-hypervisor", "--disk 'path=\"/vm/a,b\",");
    says(rig, "crosvm", "--block 'path=\"/vm/a,b\",");
    rig->request.image = "/vm/a\\,\"b";
    refuses(rig, "cloud-hypervisor", "'\"'");
    says(rig, "crosvm", "--block 'path=\"/vm/a\\\\,\\\"b\",");
    rig->request.image = "/vm/it's";
    says(rig, "cloud-hypervisor", "--disk 'path=/vm/it'\\''s,");
}

TEST(cloud_hypervisor_names_the_image_type_from_50_1_on)
{
    struct rig *rig = *test_state;
    says(rig, "cloud-hypervisor", ",image_type=raw,");
    rig->request.version[0] = 51;
    says(rig, "cloud-hypervisor", ",image_type=raw,");
    rig->request.version[0] = 50;
    rig->request.version[1] = 1;
    says(rig, "cloud-hypervisor", ",image_type=raw,");
    rig->request.version[1] = 0;
    says_not(rig, "cloud-hypervisor", ",image_type=");
}

TEST(a_queue_serves_each_thread_of_cloud_hypervisor)
{
    struct rig *rig = *test_state;
    rig->recommendation.point.threads = 4;
    rig->recommendation.point.queue_depth = 300;
    says(rig, "cloud-hypervisor", ",direct=on,num_queues=4,queue_size=512'");
    says(rig, "cloud-hypervisor", "--cpus boot=4");
    rig->recommendation.point.request_size_bytes = 4088U << 10;
    says_not(rig, "cloud-hypervisor", "splits");
    rig->recommendation.point.request_size_bytes = 4096U << 10;
    says(rig, "cloud-hypervisor", "queue_size=1024'");
    says(rig, "cloud-hypervisor", "splits");
}

TEST(slots_of_bhyve_follow_the_depth_up_to_its_ring)
{
    struct rig *rig = *test_state;
    rig->request.bus = SNIPPET_BUS_NVME;
    says(rig, "bhyve", "4,nvme,/vm/a.img,nocache,ioslots=8'");
    rig->recommendation.point.queue_depth = 100;
    says(rig, "bhyve", ",ioslots=100'");
    rig->recommendation.point.threads = 2;
    says(rig, "bhyve", ",ioslots=128'");
    says(rig, "bhyve", "measured with 200 in flight");
}

TEST(vmware_gets_parameters_above_254_in_flight_only)
{
    struct rig *rig = *test_state;
    static const char *const parameters = "\nvmw_pvscsi.cmd_per_lun=254 vmw_pvscsi.ring_pages=32\n";
    rig->recommendation.point.queue_depth = 254;
    says_not(rig, "vmware", parameters);
    rig->recommendation.point.queue_depth = 255;
    says(rig, "vmware", parameters);
    rig->recommendation.point.queue_depth = 128;
    rig->recommendation.point.threads = 2;
    says(rig, "vmware", parameters);
    rig->request.bus = SNIPPET_BUS_NVME;
    says_not(rig, "vmware", parameters);
}

TEST(virtualbox_lets_flushes_through)
{
    struct rig *rig = *test_state;
    says(rig, "virtualbox", "LUN#$port/Config/IgnoreFlush\" 0\n");
    says(rig, "virtualbox", "--hostiocache off\n");
    rig->recommendation.point.direct = 0;
    says(rig, "virtualbox", "LUN#$port/Config/IgnoreFlush\" 0\n");
    says(rig, "virtualbox", "--hostiocache on\n");
}

TEST(kubevirt_is_native_with_direct_only)
{
    struct rig *rig = *test_state;
    says(rig, "kubevirt", "cache: none\n    io: native\n");
    rig->recommendation.point.direct = 0;
    says(rig, "kubevirt", "cache: writeback\n    io: threads\n");
    rig->recommendation.point.api = API_LIBAIO;
    says(rig, "kubevirt", "cache: writeback\n    io: threads\n");
    rig->recommendation.point.direct = 1;
    says(rig, "kubevirt", "cache: none\n    io: native\n");
    rig->recommendation.point.api = API_PSYNC;
    says(rig, "kubevirt", "cache: none\n    io: threads\n");
    says(rig, "kubevirt", "at 1 in flight");
}

TEST(kubevirt_takes_the_image_for_a_volume_where_it_is_a_name)
{
    struct rig *rig = *test_state;
    says(rig, "kubevirt", "name: \"disk0\"\n");
    rig->request.image = "on";
    says(rig, "kubevirt", "name: \"on\"\n");
    rig->request.image = "-on";
    says(rig, "kubevirt", "name: \"disk0\"\n");
    rig->request.image = "a\": x";
    says(rig, "kubevirt", "name: \"disk0\"\n");
}
