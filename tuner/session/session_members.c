/* Several targets of one session. */
#include "tuner/session/session_members.h"

#include "bench/host/device_lock.h"
#include "tuner/session/known_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t session_n_members(const struct session *session)
{
    return (uint32_t)settings_n_places(session->settings);
}

struct target *session_member_target(struct session *session, uint32_t member)
{
    return member == 0 ? &session->target : &session->other[member - 1].target;
}

struct target *session_member_existing(struct session *session, uint32_t member)
{
    return member == 0 ? &session->existing : &session->other[member - 1].existing;
}

const struct target_facts *session_member_facts(const struct session *session, uint32_t member)
{
    return member == 0 ? &session->target_facts : &session->other[member - 1].target_facts;
}

static int directory_of(const struct session *session, uint32_t member)
{
    return member == 0 ? session->directory_fd : session->other[member - 1].directory_fd;
}

int session_members_check(const struct settings *settings, struct err *err)
{
    const struct settings_file *file = &settings->file;
    const char *option = file->existing[0] != '\0' ? "existing" : "path";
    const struct {
        bool is_there;
        const char *name, *why;
    } pairs[] = {
        {file->simulate[0] != '\0', "simulate", "a surface is one target"},
        {file->prepare[0] != '\0', "prepare", "the script prepares one file"},
        {settings->workload.verify, "verify", "stamps are kept of one target"},
        {settings->beside.n > 0, "beside", "the loads' files would lie in one of them"},
        {settings->search.neighbour_limit_share > 0, "neighbour-limit", "the reference works in one of them"},
        {settings->limits.max_cost_share > 0, "max-cost", "the reference works in one of them"},
        {settings->burst.bytes > 0, "burst", "a burst goes to one target"},
        {settings->prediction.vm.guest_atoms[0] != '\0', "guest-atoms", "the guest has one of them"},
        {settings->runs.cross_check[0] != '\0', "cross-check", "fio is not told of them"},
        {settings->runs.fio_job, "fio-job", "the job would know one of them"},
        {settings->workload.rates.n > 0, "rate", "the rate would have to be shared out among them"},
        {settings->runs.until_steady, "until-steady", "its rounds are about one target"},
        {settings->search.profiles || settings->search.profile_given, "profiles",
         "each alone is measured at one setting"},
    };
    if (file->existing[0] != '\0' && file->more_paths.n > 0)
        return err_set(err, -EINVAL,
                       "--path is given several times beside --existing; give several of one of them");
    if (file->n_destroy_device > settings_n_places(settings))
        return err_set(err, -EINVAL, "--destroy-device is given %zu times for %zu devices; give one for each",
                       file->n_destroy_device, settings_n_places(settings));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && settings_n_places(settings) > 1; i++) {
        if (pairs[i].is_there)
            return err_set(err, -EINVAL, "--%s and more than one --%s exclude each other: %s", pairs[i].name,
                           option, pairs[i].why);
    }
    return 0;
}

/* Two names of one file would be written to by two members, each as if it were alone. */
static int check_distinct(const struct session *session, uint32_t member, struct err *err)
{
    struct stat own, earlier;
    if (session->settings->file.existing[0] == '\0' || fstat(directory_of(session, member), &own) != 0)
        return 0;
    for (uint32_t i = 0; i < member; i++) {
        bool known = fstat(directory_of(session, i), &earlier) == 0;
        bool same =
            known && (S_ISBLK(own.st_mode) ? S_ISBLK(earlier.st_mode) && own.st_rdev == earlier.st_rdev
                                           : own.st_dev == earlier.st_dev && own.st_ino == earlier.st_ino);
        if (same)
            return err_set(err, -EINVAL, "--existing %s is the same as %s; give each once",
                           settings_nth_place(session->settings, member),
                           settings_nth_place(session->settings, i));
    }
    return 0;
}

int session_members_open(struct session *session, struct err *err)
{
    bool existing = session->settings->file.existing[0] != '\0';
    int flags = existing ? O_PATH | O_CLOEXEC : O_RDONLY | O_DIRECTORY | O_CLOEXEC, result = 0;
    for (uint32_t i = 1; i < session_n_members(session) && result == 0; i++) {
        const char *place = settings_nth_place(session->settings, i);
        int fd = open(place, flags);
        if (fd < 0)
            return err_sys(err, -errno, "cannot open %s %s", existing ? "file" : "directory", place);
        session->other[i - 1].directory_fd = fd;
        session->other[i - 1].target.fd = -1;
        result = check_distinct(session, i, err);
    }
    return result;
}

uint32_t session_members_beside(const struct session *session, uint32_t first, uint32_t member)
{
    struct stat own, other;
    uint32_t n = 0;
    if (fstat(directory_of(session, member), &own) != 0)
        return 1;
    for (uint32_t i = first; i < session_n_members(session); i++)
        n += fstat(directory_of(session, i), &other) == 0 && other.st_dev == own.st_dev;
    return n;
}

int session_members_lock(struct session *session, struct err *err)
{
    int result = 0;
    session->members.device[0] = session->env.device;
    for (uint32_t i = 1; i < session_n_members(session) && result == 0; i++) {
        hostinfo_find_device(directory_of(session, i), &session->members.device[i]);
        /* What else hinders the lock was said of the first. */
        if (session->lock_fd > 0 &&
            device_lock_more(session->lock_fd, directory_of(session, i)) == -EWOULDBLOCK)
            result = err_set(err, -EWOULDBLOCK,
                             "another fstune is measuring the device of %s; wait for it to end, or give "
                             "--no-lock to measure all the same",
                             settings_nth_place(session->settings, i));
    }
    return result;
}

void session_members_join(struct session *session)
{
    struct members *members = &session->members;
    uint64_t least = UINT64_MAX;
    members->n = session_n_members(session);
    for (uint32_t i = 0; i < members->n; i++) {
        members->target[i] = session_member_target(session, i);
        if (members->target[i]->size_bytes < least)
            least = members->target[i]->size_bytes;
        session->env.rate_is_limited |= known_limits_exist(&session_member_facts(session, i)->stack);
    }
    if (members->n == 1)
        return;
    for (uint32_t i = 0; i < members->n; i++)
        members->target[i]->size_bytes = least;
    session->env.members = members;
}

/* What a rule about all members may look at: the kernel's counters of reads where all of them count, and no
 * limit, since each member has its own. */
static struct target_facts facts_of_all(const struct session *session)
{
    struct target_facts facts = session->target_facts;
    facts.stack.caps_known = false;
    for (uint32_t i = 1; i < session_n_members(session); i++) {
        const struct storage_stack *stack = &session_member_facts(session, i)->stack;
        facts.stack.fuse |= !warnings_counts_reads(stack);
        facts.stack.copies_on_write |= stack->copies_on_write;
    }
    return facts;
}

struct measure_result session_member_result(const struct session *session, uint32_t member,
                                            const struct measure_result *all)
{
    const struct member_figures *figures = &session->members.figures[member];
    struct measure_result own = *all;
    own.throughput_bps = figures->throughput_bps;
    own.iops = figures->iops;
    own.seconds = figures->seconds;
    own.n_requests = figures->n_requests;
    own.bytes_read = figures->bytes_read;
    own.bytes_written = figures->bytes_written;
    return own;
}

uint64_t session_members_warnings(const struct session *session, const struct measure_plan *plan,
                                  const struct measure_result *result)
{
    const uint64_t capped = WARNINGS_BIT(WARNING_RATE_CAPPED);
    if (session->env.members == NULL)
        return warnings_of_run(&session->asked,
                               session_member_facts(session, session->alone > 0 ? session->alone - 1 : 0),
                               plan, result);
    struct target_facts facts = facts_of_all(session);
    uint64_t set = warnings_of_run(&session->asked, &facts, plan, result);
    for (uint32_t i = 0; i < session->members.n; i++) {
        struct measure_result own = session_member_result(session, i, result);
        set |= warnings_of_run(&session->asked, session_member_facts(session, i), plan, &own) & capped;
    }
    return set;
}

uint64_t session_members_target_warnings(const struct session *session)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < session_n_members(session); i++)
        set |= warnings_of_target(&session->asked, session_member_facts(session, i));
    return set;
}

/* Whether two members lie on one disk, whose limits they share. */
static bool share_disk(const struct session *session, uint32_t a, uint32_t b)
{
    const char *of_a = session->members.device[a].sysfs, *of_b = session->members.device[b].sysfs;
    return a == b || (of_a[0] != '\0' && strcmp(of_a, of_b) == 0);
}

/* What all members on this one's disk did. */
static struct measure_result disk_result(const struct session *session, uint32_t member,
                                         const struct measure_result *all)
{
    struct measure_result disk = session_member_result(session, member, all);
    for (uint32_t i = 0; i < session->members.n; i++) {
        const struct member_figures *figures = &session->members.figures[i];
        if (i == member || !share_disk(session, i, member))
            continue;
        disk.throughput_bps += figures->throughput_bps;
        disk.iops += figures->iops;
        disk.bytes_read += figures->bytes_read;
        disk.bytes_written += figures->bytes_written;
    }
    return disk;
}

static void apply_limits(struct session *session, const struct measure_plan *plan,
                         struct measure_result *result)
{
    double share[MEMBERS_MOST], bps = 0, iops = 0, lost_bps = 0;
    if (session->env.members == NULL) {
        const uint32_t member = session->alone > 0 ? session->alone - 1 : 0;
        known_limits_apply(&session_member_facts(session, member)->stack, plan, result);
        return;
    }
    for (uint32_t i = 0; i < session->members.n; i++) {
        struct measure_result disk = disk_result(session, i, result);
        double before = disk.throughput_bps;
        known_limits_apply(&session_member_facts(session, i)->stack, plan, &disk);
        share[i] = before > 0 ? disk.throughput_bps / before : 1;
    }
    for (uint32_t i = 0; i < session->members.n; i++) {
        struct member_figures *figures = &session->members.figures[i];
        lost_bps += figures->throughput_bps * (1 - share[i]);
        figures->throughput_bps *= share[i];
        figures->iops *= share[i];
        bps += figures->throughput_bps;
        iops += figures->iops;
    }
    if (lost_bps <= 0)
        return;
    result->burst_bps = result->throughput_bps;
    result->throughput_bps = fmin(result->throughput_bps, bps);
    result->iops = fmin(result->iops, iops);
}

void session_members_apply_limits(struct session *session, const struct measure_plan *plan,
                                  struct measure_result *result)
{
    apply_limits(session, plan, result);
    session->repaid_ns = clock_now_ns(&session->clock) + known_limits_debt_ns(result);
}

double session_members_ceiling(const struct session *session, const struct point *point)
{
    bool cold = session->env.cache == MEASURE_CACHE_COLD;
    double sum = 0;
    /* Each has its own limits, which are known there. */
    if (session->clients != NULL)
        return INFINITY;
    for (uint32_t i = 0; i < session_n_members(session); i++) {
        bool counted = false;
        for (uint32_t k = 0; k < i; k++)
            counted |= share_disk(session, i, k);
        sum += counted ? 0
                       : known_limits_ceiling(&session_member_facts(session, i)->stack,
                                              &session->settings->workload.pattern, point, cold);
    }
    return sum;
}

int session_members_check_targets(struct session *session, struct err *err)
{
    int result = 0;
    for (uint32_t i = 0; i < session_n_members(session) && result == 0; i++) {
        struct target *target = session_member_target(session, i);
        result = target->owned ? target_check_free(target, err) : target_check_alone(target, err);
    }
    return result;
}

void session_members_close(struct session *session)
{
    for (uint32_t i = 1; i < session_n_members(session); i++) {
        struct session_other *other = &session->other[i - 1];
        target_close(&other->target);
        target_close(&other->existing);
        /* Descriptor 0 is never ours. */
        if (other->directory_fd > 0)
            close(other->directory_fd);
    }
}
