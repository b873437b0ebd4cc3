/* Tests of tuner/session/session: the proof of direct I/O writes within --max-write, and its bytes count; of
 * --verify, --files and --alignment through the program: what excludes each other, and what is said. */
/* LINK: -Wl,--wrap=target_prove_direct_within */
#include "tests/tuner/rig.h"
#include "tuner/base/interrupt.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define MIB         ((uint64_t)1 << 20)
#define PROOF_BYTES (5 * MIB)

static uint64_t allowed_bytes;
static int proof_code;

int __wrap_target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *err);

/* A proof that takes what it needs or gets. */
int __wrap_target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *err)
{
    allowed_bytes = most_write_bytes;
    target->proof_bytes = most_write_bytes < PROOF_BYTES ? most_write_bytes : PROOF_BYTES;
    return proof_code < 0 ? err_set(err, proof_code, "made up") : 0;
}

static void check(const char *max_write, int code, uint64_t allowed, uint64_t written)
{
    static struct settings settings;
    struct err err = {0};
    rig_settings(&settings, "--pattern", "randread", "--max-write", max_write, "--no-lock", "--quiet", NULL);
    settings.file.size_given = true;
    settings.file.size_bytes = 2 * MIB;
    struct session *session = rig_open_session(&settings);
    assert_int_equal(session_prepare(session, &err), code);
    assert_int_equal(allowed_bytes, allowed);
    assert_int_equal(session->bytes_written, written);
    rig_close_session(session);
}

TEST(bytes_of_the_proof_are_written_bytes)
{
    check("1g", 0, TARGET_PROOF_MOST_BYTES, 2 * MIB + PROOF_BYTES);
    proof_code = -EIO;
    check("1g", -EIO, TARGET_PROOF_MOST_BYTES, 2 * MIB + PROOF_BYTES);
    proof_code = 0;
}

TEST(a_proof_gets_what_filling_leaves_of_max_write)
{
    check("5m", 0, 3 * MIB, 5 * MIB);
    check("2m", 0, 0, 2 * MIB);
}

TEST(targets_that_are_still_to_be_filled_keep_their_bytes)
{
    static struct settings settings;
    struct err err = {0};
    struct target other = {.fd = -1};
    rig_settings(&settings, "--pattern", "randread", "--max-write", "6m", "--no-lock", "--quiet", NULL);
    settings.file.size_given = true;
    settings.file.size_bytes = 2 * MIB;
    struct session *session = rig_open_session(&settings);
    session->n_targets = 2;
    assert_int_equal(session_prepare(session, &err), 0);
    assert_int_equal(allowed_bytes, MIB);
    assert_int_equal(session_make_target(session, 2, &other, &err), 0);
    assert_int_equal(allowed_bytes, MIB);
    target_close(&other);
    rig_close_session(session);
}

/* A slow place: nothing hangs, the file is only not there in time. */
TEST(a_file_that_is_not_filled_in_time_is_told)
{
    static struct settings settings;
    struct err err = {0};
    rig_settings(&settings, "--pattern", "randread", "--no-lock", "--quiet", NULL);
    settings.file.size_given = true;
    settings.file.size_bytes = 256 * MIB;
    struct session *session = rig_open_session(&settings);
    session->end_ns = session->start_ns;
    assert_int_equal(session_prepare(session, &err), -ETIME);
    assert_false(session->abandoned);
    assert_memory_equal(err.text, "the time was over: ", 19);
    assert_non_null(strstr(err.text, ": filling was interrupted after "));
    assert_non_null(
        strstr(err.text, " of 268 MB; allow more time (--budget), or give a smaller --file-size"));
    atomic_store(&interrupt_signal, 0);
    rig_close_session(session);
}

#define POINT "measure --path . --no-lock --quiet --request-size 4k --queue-depth 1 --api psync "

TEST(what_excludes_each_other_is_refused)
{
    rig_write_blocks("data", 1 << 20);
    rig_simulator("surface", "", rig_flat_bps);
    rig_refused(POINT "--pattern randwrite --direct 0 --verify --simulate surface.conf", 2, "--simulate");
    rig_refused(POINT "--pattern randread --direct 0 --verify --existing data", 2, "--existing");
    rig_refused(POINT "--pattern randread --direct 0 --verify --cross-check fio", 2, "--cross-check");
    rig_refused(POINT "--pattern randread --direct 0 --files 2 --existing data", 2, "--files and --existing");
    rig_refused(POINT "--pattern randwrite --direct 0 --alignment 512 --simulate surface.conf", 2,
                "--alignment and --simulate");
    rig_refused(POINT "--pattern randread --direct 0 --files 2 --fio-job", 2, "--files and --fio-job");
}

TEST(alignment_is_a_multiple_of_512)
{
    rig_refused(POINT "--pattern randread --direct 0 --alignment 1000", 2, "use 512 or 1024");
    rig_refused(POINT "--pattern randread --direct 0 --alignment 256", 2, "512..512m");
    rig_refused(POINT "--pattern randread --direct 0 --files 1025", 2, "1..1024");
}

TEST(what_was_done_is_said)
{
    json_auto_t *document = rig_document(
        POINT "--pattern randrw:50 --direct 0 --verify --files 4 --alignment 1k --file-size 128m "
              "--replays 1 --duration 50ms --warmup-limit 0s --json");
    const json_t *warning;
    size_t i, n_found = 0;
    json_array_foreach(json_object_get(document, "warnings"), i, warning)
    {
        const char *code = json_string_value(json_object_get(warning, "code"));
        n_found +=
            strcmp(code, "verify") == 0 || strcmp(code, "files") == 0 || strcmp(code, "alignment") == 0;
    }
    assert_int_equal(n_found, 3);
}
