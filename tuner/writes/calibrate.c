/* The rounds of a calibration, and the file that comes out of them. */
#include "tuner/writes/calibrate.h"

#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "bench/host/hostinfo.h"
#include "bench/host/procfs.h"
#include "bench/target/target_scratch.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/worker.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB             1048576.0
#define LARGEST_BYTES   134217728.0 /* of one durable call */
#define LARGEST_SECONDS 0.8
#define LARGEST_SHARE   0.02 /* of the budget */
#define LARGE_SHARE     0.06 /* of the memory that may be used */
#define MEMORY_BYTES    (64.0 * MIB)
#define MEMORY_SHARE    0.03 /* of the memory that may be used, for each block */
#define SOAK_SHARE      0.25 /* used up for a moment to find what the host has taken */
#define DEFAULT_EXPIRE  30.0
#define USUAL_ALIGN     4096.0
/* By which the proofs of direct I/O of a round may exceed what they write as a rule. */
#define PROOFS_SLACK_BYTES (2.0 * (TARGET_SCRATCH_PROOF_BYTES - CALIBRATE_PROOF_BYTES))

_Static_assert(512 << (CALIBRATE_N_CALLS - 1) == (int)CAWL_SMALL_BYTES, "the sizes behind bw_page");

/* Sizes that differ by factors of 2; direct writes need multiples of the alignment. */
static void choose_sizes(struct calibrate_sizes *sizes, double align_bytes)
{
    double unit = fmax(1024, align_bytes);
    for (int i = 0; i < CALIBRATE_N_CALLS; i++)
        sizes->calls_bytes[i] = ldexp(512, i);
    for (int i = 0; i < CALIBRATE_N_SMALL; i++)
        sizes->small_bytes[i] = ldexp(unit, i);
    for (int i = 0; i < CALIBRATE_N_BUFFER; i++)
        sizes->buffer_bytes[i] = ldexp(64, i);
}

/* Whatever the rate, the largest durable write is of 1 MiB at least. */
int calibrate_check_writes(uint64_t max_write_bytes, uint64_t file_bytes, uint64_t wanted_file_bytes,
                           struct err *err)
{
    struct calibrate_sizes sizes = {.large_bytes[CALIBRATE_N_LARGE - 1] = MIB};
    struct err why = {0};
    const char *bound;
    char needed[UNITS_TEXT_SIZE];
    uint64_t bytes;
    choose_sizes(&sizes, USUAL_ALIGN);
    double before = (double)file_bytes + TARGET_PROOF_MOST_BYTES + PROOFS_SLACK_BYTES;
    const struct calibrate_room room = {.limit_bg_bytes = INFINITY,
                                        .memory_bytes = INFINITY,
                                        .free_bytes = INFINITY,
                                        .file_size_bytes = INFINITY,
                                        .write_bytes = (double)max_write_bytes - before,
                                        .durable_bytes = calibrate_durable_bytes(&sizes)};
    if (calibrate_cache_size(&room, &bytes, &bound, &why) == 0)
        return 0;
    double least = before + (double)(wanted_file_bytes - file_bytes) + calibrate_least_bytes(&room);
    return err_set(err, -EINVAL, "%s; give --max-write %s or more", why.text,
                   units_format_size((uint64_t)ceil(least / MIB) << 20, needed));
}

/* The file of such writes is three times as large as the largest, which is to take less than a second. */
static void choose_large(struct calibration *calibration, const struct calibrate_room *room)
{
    struct calibrate_sizes *sizes = &calibration->sizes;
    double most = fmin(fmin(room->free_bytes, room->file_size_bytes) / 8, LARGE_SHARE * room->memory_bytes);
    double fill_bps = calibration->session->target.fill_bps;
    double seconds =
        fmin(LARGEST_SECONDS, LARGEST_SHARE * (double)calibration->session->settings->limits.budget_ns / 1e9);
    most = fill_bps > 0 ? fmin(most, seconds * fill_bps) : most;
    most = fmin(most, calibrate_largest_bytes(room, sizes));
    double largest = ldexp(1, ilogb(fmax(fmin(most, LARGEST_BYTES), MIB)));
    for (int i = 0; i < CALIBRATE_N_LARGE; i++) {
        sizes->large_bytes[i] = ldexp(largest, i + 1 - CALIBRATE_N_LARGE);
        sizes->large_calls[i] = fmax(largest / 2 / sizes->large_bytes[i], 1);
    }
}

/* As much again as limit_hard where there is room for it. */
static uint64_t choose_flushed(const struct calibrate_room *room, double limit_hard_bytes)
{
    return calibrate_can_flush(room, 2 * limit_hard_bytes) ? (uint64_t)(2 * limit_hard_bytes)
           : calibrate_can_flush(room, limit_hard_bytes)   ? (uint64_t)limit_hard_bytes
                                                           : 0;
}

static int choose_room(struct calibration *calibration, struct err *err)
{
    struct session *session = calibration->session;
    struct hostinfo_memory_room memory;
    const char *bound = NULL;
    hostinfo_find_memory_room(&memory);
    struct calibrate_room room = {
        .limit_bg_bytes = calibration->thresholds.background_bytes,
        .dirty_bytes = fmax(hostinfo_number(&session->host, "dirty_memory_bytes_before"), 0),
        .memory_bytes = memory.bytes,
        .free_bytes = (double)session->target.available_bytes * (1 - TARGET_FREE_SHARE) -
                      (double)session->target.size_bytes,
        .file_size_bytes = fmin(hostinfo_number(&session->host, "file_size_limit_bytes"), INFINITY),
        .write_bytes = (double)session->settings->limits.max_write_bytes - (double)session->bytes_written -
                       PROOFS_SLACK_BYTES,
    };
    choose_large(calibration, &room);
    room.durable_bytes = calibrate_durable_bytes(&calibration->sizes);
    calibration->flushed_bytes =
        calibration->in_memory ? 0 : choose_flushed(&room, calibration->thresholds.hard_bytes);
    calibration->rig.memory_bytes =
        (uint64_t)fmax(MIB, fmin(MEMORY_BYTES, MEMORY_SHARE * memory.bytes)) >> 20 << 20;
    calibration->soak_bytes = (uint64_t)(SOAK_SHARE * memory.bytes) >> 20 << 20;
    int result = calibrate_cache_size(&room, &calibration->rig.cache_bytes, &bound, err);
    if (result == 0 && bound != NULL) {
        char size[UNITS_TEXT_SIZE];
        notes_add(&session->warnings, "calibrate_small",
                  "only %s went into the page cache at a time, because of %s: short writes scatter more",
                  units_format_size(calibration->rig.cache_bytes, size), bound);
    }
    return result;
}

static int read_limits(struct calibration *calibration, struct err *err)
{
    if (dirty_limits_thresholds(&calibration->thresholds) < 0)
        return err_set(err, -ENODATA,
                       "/proc/vmstat does not tell the dirty limits (nr_dirty_threshold); they are needed to "
                       "calibrate");
    return 0;
}

static int run_calibration_job(struct calibration *calibration, int (*measure)(void *), struct err *err)
{
    struct session *session = calibration->session;
    calibration->err = (struct err){0};
    int result = worker_call_until(session->end_ns, measure, calibration, &session->abandoned, err);
    if (session->abandoned)
        return result;
    if (result < 0 && calibration->err.code != 0)
        err_set(err, result, "%s", calibration->err.text);
    return result < 0 ? result : target_check_free(&session->target, err);
}

/* That a round may write. */
static double most_bytes(const struct calibration *calibration)
{
    double cached = calibration->flushed_bytes > 0
                        ? (double)calibration->flushed_bytes - calibration->thresholds.background_bytes
                        : 2 * (double)calibration->rig.cache_bytes;
    return calibrate_durable_bytes(&calibration->sizes) + PROOFS_SLACK_BYTES + cached;
}

/* A round that would not end in time, or could write too much, is not begun. */
static bool has_room(const struct calibration *calibration, double longest_s)
{
    const struct session *session = calibration->session;
    uint64_t written = session->bytes_written + calibration->rig.written_bytes;
    return session_seconds(session) + 1.2 * longest_s <= (double)session->settings->limits.budget_ns / 1e9 &&
           (double)written + most_bytes(calibration) <= (double)session->settings->limits.max_write_bytes;
}

static int make_rounds(struct calibration *calibration, struct err *err)
{
    struct session *session = calibration->session;
    double longest_s = 0;
    int result = calibration->takes_back ? run_calibration_job(calibration, calibrate_round_touch, err) : 0;
    while (result == 0 && calibration->n_rounds < CALIBRATE_MOST_ROUNDS && has_room(calibration, longest_s)) {
        double start_s = session_seconds(session);
        progress_show(&session->progress, "calibrating: round %zu of %d", calibration->n_rounds + 1,
                      CALIBRATE_MOST_ROUNDS);
        result = run_calibration_job(calibration, calibrate_round_measure, err);
        longest_s = fmax(longest_s, session_seconds(session) - start_s);
    }
    return result;
}

static void take_system(struct calibrate_value *value, double number, const char *how)
{
    value->known = number > 0 && isfinite(number);
    value->value = number;
    value->interval = (struct interval){NAN, NAN};
    snprintf(value->how, sizeof value->how, "%s", how);
}

static void read_system(struct calibration *calibration)
{
    const struct session *session = calibration->session;
    const struct dirty_thresholds *thresholds = &calibration->thresholds;
    struct calibrate_value *values = calibration->values;
    double centiseconds = 100 * DEFAULT_EXPIRE;
    bool lowered = thresholds->cgroup_share < 1;
    procfs_read_number("/proc/sys/vm/dirty_expire_centisecs", &centiseconds);
    double block = hostinfo_number(&session->host, "logical_block_bytes");
    take_system(&values[HOST_BS], block > 0 ? block : (double)session->target.fs_block_bytes,
                block > 0 ? "logical_block_size of the disk" : "block of the file system; there is no disk");
    take_system(&values[HOST_LIMIT_BG], thresholds->background_bytes,
                lowered ? "nr_dirty_background_threshold, this cgroup's share of it"
                        : "nr_dirty_background_threshold");
    take_system(&values[HOST_LIMIT_HARD], thresholds->hard_bytes,
                lowered ? "nr_dirty_threshold, this cgroup's share of it" : "nr_dirty_threshold");
    take_system(&values[HOST_DIRTY_EXPIRE], centiseconds / 100, "dirty_expire_centisecs");
}

static void explain_calibration(struct calibration *calibration)
{
    struct calibrate_value *values = calibration->values;
    const char *direct = calibration->session->target.direct_write == TARGET_DIRECT_PROVED
                             ? "O_DIRECT|O_DSYNC, a file that grows"
                             : "O_DSYNC, a file that grows (no direct I/O here)";
    char size[UNITS_TEXT_SIZE], copied[UNITS_TEXT_SIZE], seek[UNITS_TEXT_SIZE];
    units_format_size(calibration->rig.cache_bytes, size);
    units_format_size(calibration->rig.memory_bytes, copied);
#define HOW(place, ...) snprintf(values[place].how, sizeof values[place].how, __VA_ARGS__)
    HOW(HOST_BW_MEM, "memcpy of %s", copied);
    HOW(HOST_BW_RAMDISK, "a new file in large writes, memory touched before");
    HOW(HOST_BW_RAMDISK_FIRST_TOUCH, "the same into memory that the host had taken back");
    if (calibration->flushed_bytes > 0)
        HOW(HOST_BW_REDUCED, "large writes from limit_bg on, which the kernel writes back");
    else
        HOW(HOST_BW_REDUCED, "up to %s of a new file while others of its pages are written back", size);
    HOW(HOST_BW_REWRITE, "the same once more, while it is dirty");
    HOW(HOST_BW_DEV, "%.3g MiB to %.3g MiB, less sc_sw each, %s", calibration->sizes.large_bytes[0] / MIB,
        calibration->sizes.large_bytes[CALIBRATE_N_LARGE - 1] / MIB, direct);
    HOW(HOST_BW_WRITEBACK, "fdatasync of large writes");
    HOW(HOST_BW_PAGE, "slope of 512 bytes to 16 KiB into new pages");
    HOW(HOST_BW_BUFFER, "slope of 64 to 512 bytes into a stream's buffer");
    HOW(HOST_SC_F, "intercept of 64 to 512 bytes into a stream's buffer");
    HOW(HOST_BW_RDEV, "reads of 1 MiB, %s",
        calibration->session->target.direct_read == TARGET_DIRECT_PROVED ? "O_DIRECT" : "cache dropped");
    HOW(HOST_SC_W, "intercept of 512 bytes to 16 KiB into new pages");
    HOW(HOST_SC_SW, "intercept of %.0f bytes to 16 times that, %s", calibration->sizes.small_bytes[0],
        direct);
    HOW(HOST_C_SK, "random less sequential writes of %s into new files",
        units_format_size(calibrate_seek_bytes(&calibration->rig), seek));
#undef HOW
}

/* Says why a value was not measured, and which other one stands for it where that is clear. */
static void explain_missing(struct calibration *calibration)
{
    struct calibrate_value *values = calibration->values;
    if (calibration->takes_back && !values[HOST_BW_RAMDISK_FIRST_TOUCH].known && calibration->n_rounds > 0)
        snprintf(values[HOST_BW_RAMDISK_FIRST_TOUCH].how, CALIBRATE_TEXT_SIZE,
                 "the host takes free memory back, but none of that was met in a quarter of the memory");
    if (!calibration->takes_back)
        snprintf(values[HOST_BW_RAMDISK_FIRST_TOUCH].how, CALIBRATE_TEXT_SIZE,
                 "no host takes free memory back (no free page reporting): the same as bw_ramdisk");
    if (calibration->in_memory)
        snprintf(values[HOST_BW_WRITEBACK].how, CALIBRATE_TEXT_SIZE,
                 "files in memory are never written back");
    if (calibration->in_memory && values[HOST_BW_RAMDISK].known) {
        values[HOST_BW_REDUCED] = values[HOST_BW_RAMDISK];
        snprintf(values[HOST_BW_REDUCED].how, CALIBRATE_TEXT_SIZE,
                 "as bw_ramdisk: files in memory are never written back");
    } else if (!values[HOST_BW_REDUCED].known && calibration->n_rounds > 0) {
        snprintf(values[HOST_BW_REDUCED].how, CALIBRATE_TEXT_SIZE,
                 "writing back was over before it could be measured; allow more in the page cache");
    }
}

static void fill_file(struct calibration *calibration)
{
    const struct session *session = calibration->session;
    struct host_file *file = &calibration->file;
    char whole[PATH_MAX];
    double centiseconds = 0, sectors_kb = fmax(hostinfo_number(&session->host, "max_sectors_kb"), 0);
    calibration->complete = true;
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        const struct calibrate_value *value = &calibration->values[i];
        calibration->complete &= value->known || host_parameters[i].optional;
        host_set_value(&file->host, i, value->known ? value->value : 0);
        file->intervals[i] = value->known ? value->interval : (struct interval){NAN, NAN};
    }
    file->page_size_bytes = (double)sysconf(_SC_PAGESIZE);
    file->max_request_bytes = 1024 * sectors_kb;
    if (procfs_read_number("/proc/sys/vm/dirty_writeback_centisecs", &centiseconds) == 0)
        file->writeback_interval_s = centiseconds / 100;
    snprintf(file->hostname, sizeof file->hostname, "%s", hostinfo_text(&session->host, "hostname"));
    snprintf(file->path, sizeof file->path, "%.*s", HOST_TEXT_SIZE - 1,
             realpath(session->settings->file.path, whole) != NULL ? whole : session->settings->file.path);
    snprintf(file->file_system, sizeof file->file_system, "%s", hostinfo_text(&session->host, "file_system"));
    snprintf(file->kernel, sizeof file->kernel, "%s", hostinfo_text(&session->host, "kernel"));
    clock_format_utc(file->date);
}

static int conclude(struct calibration *calibration, struct err *err)
{
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        calibration->values[i].interval = (struct interval){NAN, NAN};
    explain_calibration(calibration);
    read_system(calibration);
    int result = calibrate_evaluate(calibration->rounds, calibration->n_rounds, &calibration->sizes,
                                    calibration->values, err);
    explain_missing(calibration);
    fill_file(calibration);
    return result;
}

static int prepare_calibration(struct calibration *calibration, struct err *err)
{
    struct session *session = calibration->session;
    struct calibrate_value *buffer = &calibration->values[HOST_BF];
    calibration->takes_back = hostinfo_free_pages_are_taken();
    calibration->in_memory = strcmp(hostinfo_text(&session->host, "file_system"), "tmpfs") == 0 ||
                             strcmp(hostinfo_text(&session->host, "file_system"), "ramfs") == 0;
    calibration->rig.target = &session->target;
    calibration->rig.directory = session->settings->file.path;
    calibration->rig.directory_fd = session->directory_fd;
    calibration->rig.clock = &session->clock;
    calibration->rig.interrupted = &interrupt_signal;
    calibration->rig.seed = rng_derive(session->seed, 2);
    choose_sizes(&calibration->sizes, session->target.direct_offset_align_bytes);
    int result = read_limits(calibration, err);
    if (result == 0)
        result = choose_room(calibration, err);
    if (result == 0)
        result = calibrate_open(&calibration->rig, err);
    if (result == 0)
        result = calibrate_stream(&calibration->rig, &buffer->value, err);
    if (result == 0)
        take_system(buffer, buffer->value, "__fbufsize of a stream of a file here");
    return result;
}

int calibrate_run(struct calibration *calibration, struct err *err)
{
    struct session *session = calibration->session;
    int result = prepare_calibration(calibration, err);
    if (result == 0)
        result = make_rounds(calibration, err);
    session->bytes_written += calibration->rig.written_bytes;
    session->bytes_read += calibration->rig.read_bytes;
    calibration->interrupted = atomic_load(&interrupt_signal) > 0;
    if (session->abandoned || (result < 0 && result != -EINTR && result != -ETIME))
        return result;
    return conclude(calibration, err);
}

void calibrate_done(struct calibration *calibration)
{
    /* A thread that hangs in the kernel still uses it. */
    if (calibration->session == NULL || !calibration->session->abandoned)
        calibrate_close(&calibration->rig);
}
