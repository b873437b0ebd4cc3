/* What stands at the image's path, the consumer's version and the bus decide what may be emitted. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tests/tuner/rig.h"
#include "tuner/emit/snippet_plan.h"

EACH_TEST(snippet_reset, NULL);

static const struct snippet_plan_product product = {.name = "Emu",
                                                    .least = {2, 0},
                                                    .io_uring = {5, 0},
                                                    .queue_size = {3, 0},
                                                    .sizes_scsi_queue = true,
                                                    .mapping = {9, 0},
                                                    .mapping_name = "maps"};

static struct snippet_plan make(void)
{
    struct snippet_plan plan;
    struct err err = {0};
    if (snippet_plan_make(&plan, &snippet_request, &product, &err) != 0)
        fail_msg("%s", err.text);
    return plan;
}

static void give_version(unsigned major, unsigned minor)
{
    snippet_request.version[0] = major;
    snippet_request.version[1] = minor;
}

TEST(a_file_to_come_is_taken_for_a_file)
{
    assert_int_equal(make().disk, SNIPPET_PLAN_UNSEEN);
    snippet_request.image = "absent";
    assert_int_equal(make().disk, SNIPPET_PLAN_UNSEEN);
    snippet_request.image = "full/below";
    assert_int_equal(make().disk, SNIPPET_PLAN_UNSEEN);
}

TEST(files_are_sparse_or_full)
{
    snippet_request.image = "full";
    assert_int_equal(make().disk, SNIPPET_PLAN_FILE);
    assert_false(make().is_sparse);
    snippet_request.image = "sparse";
    assert_int_equal(make().disk, SNIPPET_PLAN_FILE);
    assert_true(make().is_sparse);
}

TEST(directories_and_character_devices_are_refused)
{
    struct snippet_plan plan;
    struct err err = {0};
    snippet_request.image = ".";
    assert_int_equal(snippet_plan_make(&plan, &snippet_request, &product, &err), -EINVAL);
    snippet_request.image = "/dev/null";
    assert_int_equal(snippet_plan_make(&plan, &snippet_request, &product, &err), -EINVAL);
    assert_non_null(strstr(err.text, "neither a file nor a block device"));
}

TEST(versions_gate_what_is_emitted)
{
    struct snippet_plan plan;
    struct err err = {0};
    snippet_recommendation.point.api = API_IO_URING;
    assert_string_equal(make().aio, "io_uring");
    give_version(5, 0);
    assert_string_equal(make().aio, "io_uring");
    give_version(4, 9);
    assert_string_equal(make().aio, "native");
    assert_true(make().is_too_old);
    snippet_recommendation.point.direct = 0;
    assert_string_equal(make().aio, "threads");
    assert_int_equal(make().queue_size, 256);
    give_version(2, 9);
    assert_int_equal(make().queue_size, 0);
    give_version(1, 9);
    assert_int_equal(snippet_plan_make(&plan, &snippet_request, &product, &err), -EINVAL);
    assert_non_null(strstr(err.text, "Emu 2.0"));
}

TEST(a_host_that_keeps_io_uring_to_root_gets_the_fallback)
{
    json_auto_t *document = json_pack("{s:{s:i}}", "system", "io_uring_disabled", 1);
    assert_non_null(document);
    snippet_recommendation.document = document;
    snippet_recommendation.point.api = API_IO_URING;
    assert_string_equal(make().aio, "native");
    snippet_expect("qemu", "keeps io_uring to privileged processes");
    snippet_expect_no("qemu", "aio=io_uring");
    json_object_set_new(json_object_get(document, "system"), "io_uring_disabled", json_integer(0));
    assert_string_equal(make().aio, "io_uring");
}

TEST(several_iothreads_are_for_a_version_that_is_known_to_have_them)
{
    snippet_recommendation.point.threads = 4;
    assert_int_equal(make().n_iothreads, 1);
    give_version(8, 2);
    assert_int_equal(make().n_iothreads, 1);
    give_version(9, 0);
    assert_int_equal(make().n_iothreads, 4);
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    assert_int_equal(make().n_iothreads, 1);
    snippet_request.bus = SNIPPET_BUS_NVME;
    assert_int_equal(make().n_iothreads, 0);
}

/* QEMU's own 128 at least, and never more than the queue can hold. */
TEST(commands_of_a_scsi_disk_stay_in_range)
{
    assert_int_equal(make().commands, 0);
    snippet_request.bus = SNIPPET_BUS_VIRTIO_SCSI;
    assert_int_equal(make().commands, 128);
    snippet_recommendation.point.queue_depth = 200;
    assert_int_equal(make().commands, 200);
    snippet_recommendation.point.queue_depth = 256;
    assert_int_equal(make().commands, 254);
    snippet_recommendation.point.queue_depth = 1024;
    snippet_recommendation.point.threads = 64;
    assert_int_equal(make().commands, 1022);
}

TEST(remarks_follow_image_and_request)
{
    snippet_expect("qemu", "put the path of the image");
    snippet_request.image = "absent";
    snippet_expect("qemu", "cannot be seen from here");
    snippet_request.image = "full";
    snippet_expect_no("qemu", "cannot be seen from here");
    snippet_expect_no("qemu", "preallocat");
    snippet_request.image = "sparse";
    snippet_expect("qemu", "preallocate it");
    snippet_recommendation.point.api = API_POOL;
    snippet_expect_no("qemu", "preallocat");
    snippet_request.image_format = SNIPPET_IMAGE_QCOW2;
    snippet_expect("qemu", "qcow2 writes tables");
    snippet_expect_no("qemu", "can be split");
    snippet_recommendation.point.request_size_bytes = 8 << 20;
    snippet_expect("qemu", "above 4088k can be split");
    snippet_request.image = "";
    snippet_expect("proxmox", "above 1016k can be split");
    snippet_request.bus = SNIPPET_BUS_NVME;
    snippet_expect_no("qemu", "can be split");
    snippet_recommendation.point.direct = 0;
    snippet_expect("qemu", "do not migrate");
}

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write_blocks("full", 1 << 16);
    rig_write("sparse", "x");
    return truncate("sparse", 1 << 20);
}

GROUP(enter, rig_leave);
