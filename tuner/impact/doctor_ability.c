/* What can run here: APIs, direct I/O, room for the file, limits of process and kernel. */
#include "bench/base/units.h"
#include "tuner/impact/doctor.h"

#include <errno.h>
#include <math.h>

/* In flight at most, as a share of the memory that is available (interfaces, section 3). */
#define MEMORY_SHARE 8.0
#define MIB          1048576.0

static void check_apis(const struct doctor_facts *facts, struct doctor_report *report)
{
    char works[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < API_N; i++) {
        if (facts->apis[i].works)
            used += (size_t)snprintf(works + used, sizeof works - used, "%s%s", used > 0 ? ", " : "",
                                     api_names[i]);
    }
    if (used > 0)
        doctor_say(report, DOCTOR_OK, NULL, "%s", works);
    for (size_t i = 0; i < API_N; i++) {
        if (!facts->apis[i].works)
            doctor_say(report, DOCTOR_FINDING,
                       "settings with it are left out; allow it if your program is to use it", "%s: %.250s",
                       api_names[i], facts->apis[i].why_not);
    }
}

static const char *advice_for(const struct doctor_facts *facts)
{
    switch (facts->target_code) {
    case -EROFS:
        return "reads of a file that is there can be measured with --existing";
    case -EFBIG:
        return "raise --max-write or the limit of a file's size (ulimit -f)";
    case -ENOSPC:
    case -EDQUOT:
        return "free some space or give another --path";
    default:
        return "give another --path, or measure a file that is there with --existing";
    }
}

static void check_create(const struct doctor_facts *facts, struct doctor_report *report)
{
    if (facts->has_target && facts->is_existing)
        doctor_say(report, DOCTOR_OK, NULL, "it can be opened and read");
    else if (facts->has_target)
        doctor_say(report, DOCTOR_OK, NULL, "a file can be made, filled and removed here");
    else if (facts->target_code < 0 && facts->target_code != -EINTR)
        doctor_say(report, DOCTOR_FINDING, advice_for(facts), "no test file: %.300s", facts->target_why);
}

/* advice: for a proof that failed. */
static void say_direct(const struct doctor_facts *facts, struct doctor_report *report,
                       enum target_proof proof, const char *recommendation)
{
    if (!facts->has_target)
        return;
    switch (proof) {
    case TARGET_DIRECT_PROVED:
        doctor_say(report, DOCTOR_OK, NULL, "proved: no page of the file was cached");
        break;
    case TARGET_DIRECT_UNTRIED:
        doctor_say(report, DOCTOR_NOTE, recommendation, "not tried");
        break;
    case TARGET_DIRECT_UNVERIFIED:
        doctor_say(
            report, DOCTOR_FINDING, recommendation, "not proved: %.200s",
            facts->direct_why[0] != '\0'
                ? facts->direct_why
                : "the kernel cannot tell whether it bypasses the page cache; Linux 6.5 and later can");
        break;
    case TARGET_DIRECT_BUFFERED:
        doctor_say(report, DOCTOR_FINDING, recommendation, "accepted, but not direct: %.200s",
                   facts->direct_why[0] != '\0' ? facts->direct_why : "pages of the file were cached");
        break;
    default:
        doctor_say(report, DOCTOR_FINDING, recommendation, "refused: %.200s",
                   facts->direct_why[0] != '\0' ? facts->direct_why : "this file system has no direct I/O");
    }
}

static void check_direct_read(const struct doctor_facts *facts, struct doctor_report *report)
{
    say_direct(facts, report, facts->direct_read,
               "patterns that read are measured without it; your program's O_DIRECT is no gain here either");
}

static void check_direct_write(const struct doctor_facts *facts, struct doctor_report *report)
{
    if (facts->is_existing)
        return; /* nothing is written to it */
    say_direct(facts, report, facts->direct_write,
               "patterns that write are measured without it; your program's O_DIRECT is no gain here either");
}

static void check_alignment(const struct doctor_facts *facts, struct doctor_report *report)
{
    if (facts->direct_read != TARGET_DIRECT_PROVED || facts->direct_align_bytes == 0)
        return;
    bool fine = facts->direct_align_bytes <= 512;
    doctor_say(report, fine ? DOCTOR_OK : DOCTOR_NOTE,
               fine ? NULL : "direct settings with a smaller or odd request size are left out",
               "direct requests are multiples of %u bytes", facts->direct_align_bytes);
}

static void check_free_space(const struct doctor_facts *facts, struct doctor_report *report)
{
    char free_text[UNITS_TEXT_SIZE], all_text[UNITS_TEXT_SIZE], file_text[UNITS_TEXT_SIZE];
    double available = hostinfo_number(facts->host, "fs_available_bytes"),
           size = hostinfo_number(facts->host, "fs_size_bytes");
    if (facts->file_bytes == 0 && facts->file_why[0] != '\0' && facts->target_code != -EROFS) {
        doctor_say(report, DOCTOR_FINDING, "free some space or give another --path", "%s", facts->file_why);
        return;
    }
    if (!(size > 0))
        return;
    units_format_bytes((uint64_t)available, free_text);
    units_format_bytes((uint64_t)size, all_text);
    units_format_size(facts->file_bytes, file_text);
    if (available < 0.05 * size)
        doctor_say(report, DOCTOR_FINDING, "file systems slow down when nearly full; free some space",
                   "nearly full: %s of %s are free", free_text, all_text);
    else if (facts->file_bytes > 0 && facts->file_bytes < TARGET_SIZE_DEFAULT_BYTES)
        doctor_say(report, DOCTOR_NOTE, "a small file may fit into caches of the drive; free some space",
                   "%s of %s are free: the test file could have %s only", free_text, all_text, file_text);
    else
        doctor_say(report, DOCTOR_OK, NULL, "%s of %s are free%s%s", free_text, all_text,
                   facts->file_bytes > 0 ? ": the test file can have " : "",
                   facts->file_bytes > 0 ? file_text : "");
}

static void check_memory(const struct doctor_facts *facts, struct doctor_report *report)
{
    char free_text[UNITS_TEXT_SIZE], most_text[UNITS_TEXT_SIZE];
    double available = hostinfo_number(facts->host, "memory_room_bytes");
    if (!(available >= 0))
        return;
    double most = fmin(available / MEMORY_SHARE, 256 * MIB);
    units_format_bytes((uint64_t)available, free_text);
    units_format_bytes((uint64_t)most, most_text);
    if (most < 256 * MIB)
        doctor_say(report, most < 16 * MIB ? DOCTOR_FINDING : DOCTOR_NOTE,
                   "settings with more in flight are left out; end other programs",
                   "%s available: at most %s in flight", free_text, most_text);
    else
        doctor_say(report, DOCTOR_OK, NULL, "%s available", free_text);
}

static void check_file_limit(const struct doctor_facts *facts, struct doctor_report *report)
{
    char text[UNITS_TEXT_SIZE];
    double limit = hostinfo_number(facts->host, "file_size_limit_bytes");
    if (!isfinite(limit) || limit >= (double)TARGET_SIZE_DEFAULT_BYTES)
        return;
    units_format_bytes((uint64_t)limit, text);
    doctor_say(report, limit < (double)TARGET_SIZE_MIN_BYTES ? DOCTOR_FINDING : DOCTOR_NOTE,
               "raise the limit (ulimit -f) or give a smaller --file-size", "files may have %s at most",
               text);
}

static void check_open_files(const struct doctor_facts *facts, struct doctor_report *report)
{
    double limit = hostinfo_number(facts->host, "open_files_limit");
    if (limit < 256)
        doctor_say(report, limit < 32 ? DOCTOR_FINDING : DOCTOR_NOTE, "raise the limit (ulimit -n)",
                   "%.0f files may be open at once; many threads need more", limit);
}

static void check_memlock(const struct doctor_facts *facts, struct doctor_report *report)
{
    char text[UNITS_TEXT_SIZE];
    double limit = hostinfo_number(facts->host, "memlock_limit_bytes");
    if (!isfinite(limit))
        return;
    units_format_bytes((uint64_t)limit, text);
    /* Kernels before 5.12 count the rings themselves against it. */
    if (limit < 64 * 1024)
        doctor_say(report, DOCTOR_NOTE, "older kernels refuse deep io_uring queues then; raise ulimit -l",
                   "%s may be locked in memory", text);
    else
        doctor_say(report, DOCTOR_OK, NULL, "%s may be locked in memory: enough for plain rings", text);
}

static void check_aio(const struct doctor_facts *facts, struct doctor_report *report)
{
    double most = hostinfo_number(facts->host, "aio_max_nr"), used = hostinfo_number(facts->host, "aio_nr");
    if (!isfinite(most) || !isfinite(used))
        return;
    double room = most - used;
    if (room < 16384)
        doctor_say(report, room < 1024 ? DOCTOR_FINDING : DOCTOR_NOTE, "raise fs.aio-max-nr with sysctl",
                   "libaio: %.0f of %.0f requests are taken (fs.aio-nr of fs.aio-max-nr)", used, most);
    else
        doctor_say(report, DOCTOR_OK, NULL, "libaio: room for %.0f requests (fs.aio-max-nr)", room);
}

static void check_io_uring(const struct doctor_facts *facts, struct doctor_report *report)
{
    double disabled = hostinfo_number(facts->host, "io_uring_disabled");
    if (disabled > 0)
        doctor_say(report, DOCTOR_NOTE, "kernel.io_uring_disabled=0 allows it to everyone",
                   "kernel.io_uring_disabled is %.0f: %s", disabled,
                   disabled > 1 ? "nobody may use it" : "only members of kernel.io_uring_group may use it");
}

static void check_pressure(const struct doctor_facts *facts, struct doctor_report *report)
{
    if (hostinfo_number(facts->host, "pressure_readable") == 0)
        doctor_say(report, DOCTOR_NOTE, "a busy neighbour may go unseen; boot with psi=1",
                   "/proc/pressure/io cannot be read");
}

static const struct doctor_check checks[] = {
    {"apis", check_apis},
    {"create", check_create},
    {"direct_read", check_direct_read},
    {"direct_write", check_direct_write},
    {"direct_alignment", check_alignment},
    {"free_space", check_free_space},
    {"memory", check_memory},
    {"file_size_limit", check_file_limit},
    {"open_files_limit", check_open_files},
    {"memlock_limit", check_memlock},
    {"aio_limit", check_aio},
    {"io_uring_disabled", check_io_uring},
    {"pressure", check_pressure},
};

const struct doctor_group doctor_ability = {"What can run here", checks, sizeof checks / sizeof checks[0]};
