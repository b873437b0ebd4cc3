/* What stands at the image's path, the consumer's version and the bus decide what may be emitted. */
#include "tests/tuner/emit/snippet_rig.h"
#include "tests/tuner/rig.h"
#include "tuner/emit/snippet_plan.h"

static const struct snippet_plan_product product = {.name = "Emu",
                                                    .least = {2, 0},
                                                    .io_uring = {5, 0},
                                                    .queue_size = {3, 0},
                                                    .sizes_scsi_queue = true,
                                                    .mapping = {9, 0},
                                                    .mapping_name = "maps"};

static struct snippet_plan plan(const char *given)
{
    struct snippet_plan made;
    give(given);
    if (snippet_plan_make(&made, &request, &product, &err) != 0)
        fail_msg("%s: %s", given, err.text);
    return made;
}

static void check_refused(const char *given, const char *part)
{
    struct snippet_plan made;
    give(given);
    assert_int_equal(snippet_plan_make(&made, &request, &product, &err), -EINVAL);
    assert_non_null(strstr(err.text, part));
}

TEST(a_file_to_come_is_taken_for_a_file)
{
    assert_int_equal(plan("").disk, SNIPPET_PLAN_UNSEEN);
    assert_int_equal(plan("image=absent").disk, SNIPPET_PLAN_UNSEEN);
    assert_int_equal(plan("image=full/below").disk, SNIPPET_PLAN_UNSEEN);
}

/* The lines may be for another machine. */
TEST(what_is_not_seen_below_dev_is_taken_for_a_device)
{
    assert_int_equal(plan("image=/dev/nvme9n1").disk, SNIPPET_PLAN_DEVICE);
    assert_int_equal(plan("image=/dev/no-group/volume").disk, SNIPPET_PLAN_DEVICE);
    assert_int_equal(plan("image=/dev/shm/no-image").disk, SNIPPET_PLAN_UNSEEN);
}

TEST(files_are_sparse_or_full)
{
    assert_int_equal(plan("image=full").disk, SNIPPET_PLAN_FILE);
    assert_false(plan("image=full").is_sparse);
    assert_int_equal(plan("image=sparse").disk, SNIPPET_PLAN_FILE);
    assert_true(plan("image=sparse").is_sparse);
}

TEST(directories_and_character_devices_are_refused)
{
    check_refused("image=.", "neither a file nor a block device");
    check_refused("image=/dev/null", "neither a file nor a block device");
}

TEST(versions_gate_what_is_emitted)
{
    assert_string_equal(plan("api=io_uring").aio, "io_uring");
    assert_string_equal(plan("api=io_uring target_version=5").aio, "io_uring");
    assert_string_equal(plan("api=io_uring target_version=4.9").aio, "native");
    assert_true(plan("api=io_uring target_version=4.9").is_too_old);
    assert_string_equal(plan("api=io_uring target_version=4.9 direct=0").aio, "threads");
    assert_int_equal(plan("target_version=4.9").queue_size, 256);
    assert_int_equal(plan("target_version=2.9").queue_size, 0);
    check_refused("target_version=1.9", "Emu 2.0");
}

TEST(a_host_that_keeps_io_uring_to_root_gets_the_fallback)
{
    assert_string_equal(plan("api=io_uring system.io_uring_disabled=0").aio, "io_uring");
    assert_string_equal(plan("api=io_uring system.io_uring_disabled=1").aio, "native");
    EXPECT("qemu", "api=io_uring system.io_uring_disabled=1", "keeps io_uring to privileged processes",
           "^aio=io_uring");
}

TEST(several_iothreads_are_for_a_version_that_is_known_to_have_them)
{
    assert_int_equal(plan("threads=4").n_iothreads, 1);
    assert_int_equal(plan("threads=4 target_version=8.2").n_iothreads, 1);
    assert_int_equal(plan("threads=4 target_version=9.0").n_iothreads, 4);
    assert_int_equal(plan("threads=4 target_version=9.0 bus=virtio-scsi").n_iothreads, 1);
    assert_int_equal(plan("threads=4 target_version=9.0 bus=nvme").n_iothreads, 0);
}

/* QEMU's own 128 at least, and never more than the queue can hold. */
TEST(commands_of_a_scsi_disk_stay_in_range)
{
    assert_int_equal(plan("").commands, 0);
    assert_int_equal(plan("bus=virtio-scsi").commands, 128);
    assert_int_equal(plan("bus=virtio-scsi queue_depth=200").commands, 200);
    assert_int_equal(plan("bus=virtio-scsi queue_depth=256").commands, 254);
    assert_int_equal(plan("bus=virtio-scsi queue_depth=1024 threads=64").commands, 1022);
}

TEST(remarks_follow_image_and_request)
{
    EXPECT("qemu", "", "put the path of the image");
    EXPECT("qemu", "image=absent", "cannot be seen from here");
    EXPECT("qemu", "image=full", "^cannot be seen from here", "^preallocat");
    EXPECT("qemu", "image=sparse", "preallocate it");
    EXPECT("qemu", "api=pool image=sparse", "^preallocat");
    EXPECT("qemu", "api=pool image_format=qcow2 image=sparse", "qcow2 writes tables", "^can be split");
    EXPECT("qemu", "request_size=8m", "above 4088k can be split");
    EXPECT("proxmox", "request_size=8m", "above 1016k can be split");
    EXPECT("qemu", "request_size=8m bus=nvme", "^can be split");
    EXPECT("qemu", "direct=0", "do not migrate");
}

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write_blocks("full", 1 << 16);
    rig_write("sparse", "x");
    return truncate("sparse", 1 << 20);
}

FIXTURE(leave_folder)
{
    return leave(test_state) == 0 ? rig_leave(test_state) : -1;
}

GROUP(enter, leave_folder);
