/* The points that a search may choose from. */
#include "tuner/session/candidates.h"

#include "bench/base/units.h"
#include "bench/host/hostinfo.h"
#include "bench/io/ioapi.h"
#include "tuner/session/session_members.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT_LIMIT_BYTES 0x1p30
#define RUN_SHARE_OF_BUDGET   0.05
#define DIRECT_KEY            "direct 1"

/* Why a point is out; the key keeps one note per reason. */
struct refusal {
    char key[96];
    char why[400];
};

static int refuse(struct refusal *refusal, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct refusal *refusal, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    snprintf(refusal->key, sizeof refusal->key, "%s", key);
    vsnprintf(refusal->why, sizeof refusal->why, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

static int check_api(const struct point *point, struct refusal *refusal)
{
    /* The answer does not change while the program runs. */
    static struct {
        bool known;
        int result;
        struct err err;
    } probes[API_N];
    const struct ioapi_ops *ops = ioapi_table[point->api];
    if (!probes[point->api].known) {
        probes[point->api].result = ops->probe(&probes[point->api].err);
        probes[point->api].known = true;
    }
    if (probes[point->api].result == 0)
        return 0;
    char key[96];
    snprintf(key, sizeof key, "api %s", ops->name);
    return refuse(refusal, key, "it cannot run here: %.300s", probes[point->api].err.text);
}

/* Says why direct I/O was not proved, in the target's own words where it has some. */
static const char *proof_text(const struct target *target, enum target_proof proof)
{
    if (target->direct_why[0] != '\0')
        return target->direct_why;
    switch (proof) {
    case TARGET_DIRECT_REFUSED:
        return "the file system refuses O_DIRECT";
    case TARGET_DIRECT_BUFFERED:
        return "the file system accepts O_DIRECT but goes through the page cache";
    case TARGET_DIRECT_UNVERIFIED:
        return "the kernel does not tell whether O_DIRECT bypasses the page cache";
    case TARGET_DIRECT_UNTRIED:
        return "it was not tried";
    default:
        return "it is proved";
    }
}

static int check_direct_of(const struct session *session, const struct target *target,
                           const struct point *point, struct refusal *refusal)
{
    const struct pattern *pattern = &session->asked.pattern;
    if (point->direct == 0 || target->fd < 0)
        return 0;
    if (pattern_reads(pattern) && target->direct_read != TARGET_DIRECT_PROVED)
        return refuse(refusal, DIRECT_KEY, "direct reads are not proved: %s",
                      proof_text(target, target->direct_read));
    if (pattern_writes(pattern) && target->direct_write != TARGET_DIRECT_PROVED)
        return refuse(refusal, DIRECT_KEY, "direct writes are not proved: %s",
                      proof_text(target, target->direct_write));
    if (target->direct_offset_align_bytes != 0 &&
        (point->request_size_bytes % target->direct_offset_align_bytes != 0 ||
         factors_write_size_bytes(point) % target->direct_offset_align_bytes != 0))
        return refuse(refusal, "direct 1 at small request sizes",
                      "direct I/O needs multiples of %u bytes here", target->direct_offset_align_bytes);
    uint64_t shift = measure_shift_bytes(&session->env, point);
    if (target->direct_offset_align_bytes != 0 && shift % target->direct_offset_align_bytes != 0)
        return refuse(refusal, "direct 1 at this alignment",
                      "direct I/O needs offsets that are multiples of %u bytes here (--alignment)",
                      target->direct_offset_align_bytes);
    return 0;
}

static int check_direct(struct session *session, const struct point *point, struct refusal *refusal)
{
    int result = 0;
    for (uint32_t i = 0; i < session_n_members(session) && result == 0; i++)
        result = check_direct_of(session, session_member_target(session, i), point, refusal);
    return result;
}

/* How large a point's file and its requests in flight may be. */
struct room {
    uint64_t file_bytes, in_flight_bytes;
};

static struct room room_of(const struct session *session, uint64_t file_bytes)
{
    struct hostinfo_memory_room memory = {.bytes = INFINITY};
    if (!session->simulated)
        hostinfo_find_memory_room(&memory);
    double limit = fmin((double)file_bytes / 4, IN_FLIGHT_LIMIT_BYTES);
    uint32_t n = session_n_members(session) * (session->clients != NULL ? session->clients->n_here : 1);
    return (struct room){file_bytes, (uint64_t)fmin(limit, memory.bytes / 8 / n)};
}

static int check_size(const struct session *session, const struct point *point, const struct room *room,
                      struct refusal *refusal)
{
    char bytes[UNITS_TEXT_SIZE];
    if (factors_bytes_of_client(point) > room->in_flight_bytes)
        return refuse(
            refusal, "too many bytes in flight",
            "request_size x queue_depth x threads above %s (a quarter of the file, an eighth of the free "
            "memory, 1 GiB)",
            units_format_bytes(room->in_flight_bytes, bytes));
    struct measure_env env = session->env;
    struct target sized = session->target;
    sized.size_bytes = room->file_bytes;
    env.target = &sized;
    uint64_t cap = measure_cap_bytes(&env, &session->asked.pattern, point);
    if (cap / MEASURE_MIN_REQUESTS < factors_largest_size_bytes(point))
        return refuse(refusal, "request sizes too large for the file",
                      "a run needs %d requests, and %s may touch %s of the file; %s", MEASURE_MIN_REQUESTS,
                      point->direct ? "a cold run" : "a buffered run", units_format_bytes(cap, bytes),
                      cap == env.dirty_room_bytes ? "give the control group more memory"
                                                  : "use a larger --file-size");
    return 0;
}

/* libaio is synchronous for buffered I/O; it is measured there only where someone asks for it by name. */
static int check_libaio(const struct session *session, const struct point *point, struct refusal *refusal)
{
    /* An experiment names all its levels. */
    if (session->simulated || session->settings->experiment.on ||
        session->settings->workload.levels[FACTOR_API].n != 0)
        return 0;
    if (point->api == API_LIBAIO && point->direct == 0 && point->queue_depth > 1)
        return refuse(refusal, "libaio, buffered, depth above 1", "libaio is synchronous without direct I/O");
    return 0;
}

/* Gives one reason for all pairs of sizes of a kind, not one for each pair. */
static int check_split(const struct session *session, const struct point *point, struct refusal *refusal)
{
    const struct pattern *pattern = &session->asked.pattern;
    if (!factors_is_split(point))
        return 0;
    if (!pattern_reads(pattern) || !pattern_writes(pattern))
        return refuse(refusal, "two request sizes", "pattern %s has one kind of request only", pattern->name);
    if (point->api == API_PVEC)
        return refuse(refusal, "pvec with two request sizes", "it moves one vector at one offset");
    uint64_t writes = factors_write_size_bytes(point), reads = point->request_size_bytes;
    if (reads == 0 || (reads > writes ? reads % writes : writes % reads) != 0)
        return refuse(refusal, "two sizes of which none is a multiple of the other",
                      "blocks of the larger are cut into whole requests of the smaller; use powers of two");
    return 0;
}

static int check_point(struct session *session, const struct point *point, const struct room *room,
                       struct refusal *refusal)
{
    struct err why = {0};
    if (check_split(session, point, refusal) < 0)
        return -EINVAL;
    if (factors_check(point, &why) < 0) {
        const char *key =
            point->api == API_PSYNC && point->queue_depth > 1 ? "psync at depth above 1" : why.text;
        return refuse(refusal, key, "%.300s", why.text);
    }
    int result = check_libaio(session, point, refusal);
    if (session->simulated) {
        double truth = 0;
        if (result == 0 &&
            simulator_truth_bps(&session->simulator, &session->asked.pattern, point, &truth, &why) < 0)
            return refuse(refusal, "settings outside the surface's table", "%.300s", why.text);
        return result;
    }
    if (result == 0)
        result = check_api(point, refusal);
    if (result == 0)
        result = check_direct(session, point, refusal);
    return result == 0 ? check_size(session, point, room, refusal) : result;
}

int candidates_check(struct session *session, const struct point *point, uint64_t file_bytes, struct err *err)
{
    struct refusal refusal;
    char text[FACTORS_TEXT_SIZE];
    const struct room room = room_of(session, file_bytes);
    if (check_point(session, point, &room, &refusal) == 0)
        return 0;
    return err_set(err, -EINVAL, "%s: %s", factors_format(point, text), refusal.why);
}

/* With split sizes the product is large: each is looked at in steps of 4. */
static void default_levels(const struct settings *settings, struct levels levels[FACTOR_N])
{
    uint64_t step = settings_splits_sizes(settings) ? 4 : 2;
    static const uint64_t apis[] = {API_PSYNC, API_POOL, API_LIBAIO, API_IO_URING};
    for (uint64_t size = 4096; size <= 4U << 20; size *= step)
        levels[FACTOR_REQUEST_SIZE].value[levels[FACTOR_REQUEST_SIZE].n++] = size;
    for (uint64_t depth = 1; depth <= 64; depth *= 2)
        levels[FACTOR_QUEUE_DEPTH].value[levels[FACTOR_QUEUE_DEPTH].n++] = depth;
    levels[FACTOR_DIRECT] = (struct levels){.n = 2, .value = {0, 1}};
    levels[FACTOR_API].n = sizeof apis / sizeof apis[0];
    memcpy(levels[FACTOR_API].value, apis, sizeof apis);
    levels[FACTOR_THREADS] = (struct levels){.n = 1, .value = {1}};
    levels[FACTOR_SYNC] = (struct levels){.n = 1, .value = {SYNC_END}};
}

static int add_level(struct levels *levels, uint64_t value)
{
    size_t place = 0;
    while (place < levels->n && levels->value[place] < value)
        place++;
    if (place < levels->n && levels->value[place] == value)
        return 0;
    if (levels->n == SETTINGS_MAX_LEVELS)
        return -ERANGE;
    memmove(levels->value + place + 1, levels->value + place, (levels->n - place) * sizeof levels->value[0]);
    levels->value[place] = value;
    levels->n++;
    return 0;
}

int candidates_table_levels(const struct session *session, const struct pattern *pattern,
                            struct levels levels[FACTOR_N], struct err *err)
{
    size_t first = 0, n = 0;
    simulator_cells_of(&session->simulator, pattern, &first, &n);
    if (n == 0)
        return err_set(err, -EINVAL, "surface \"%s\" has no row for pattern %s", session->simulator.name,
                       pattern->name);
    bool splits = settings_splits_sizes(session->settings), any_split = false;
    for (size_t i = first; i < first + n; i++) {
        const struct point *point = &session->simulator.cells[i].point;
        any_split |= factors_is_split(point);
        if (factors_is_split(point) && !splits)
            continue;
        int result = 0;
        for (enum factor factor = 0; factor < FACTOR_N; factor++) {
            if (factor != FACTOR_SYNC && (factor != FACTOR_WRITE_SIZE || splits))
                result |= add_level(&levels[factor], factors_level(point, factor));
        }
        if (result != 0)
            return err_set(err, -ERANGE, "surface \"%s\" has more than %d levels of one factor",
                           session->simulator.name, SETTINGS_MAX_LEVELS);
    }
    if (splits && !any_split)
        return err_set(err, -EINVAL,
                       "surface \"%s\" has no row with two request sizes for pattern %s; its table needs the "
                       "column write_request_size",
                       session->simulator.name, pattern->name);
    levels[FACTOR_SYNC] = (struct levels){.n = 1, .value = {SYNC_END}};
    return 0;
}

static int choose_levels(const struct session *session, struct levels levels[FACTOR_N], struct err *err)
{
    const struct settings *settings = session->settings;
    memset(levels, 0, FACTOR_N * sizeof levels[0]);
    if (session->simulated) {
        int result = candidates_table_levels(session, &settings->workload.pattern, levels, err);
        if (result < 0)
            return result;
        if (settings->workload.levels[FACTOR_SYNC].n > 0 &&
            (settings->workload.levels[FACTOR_SYNC].n > 1 ||
             settings->workload.levels[FACTOR_SYNC].value[0] != SYNC_END))
            return err_set(err, -EINVAL, "--sync: a simulated surface knows only sync end");
    } else {
        default_levels(settings, levels);
    }
    for (int factor = 0; factor < FACTOR_N; factor++) {
        if (settings->workload.levels[factor].n > 0)
            levels[factor] = settings->workload.levels[factor];
    }
    /* With the levels of the reads every split point has its one size to be compared with. */
    if (!settings_splits_sizes(settings))
        levels[FACTOR_WRITE_SIZE] = (struct levels){.n = 1, .value = {0}};
    else if (levels[FACTOR_WRITE_SIZE].n == 0)
        levels[FACTOR_WRITE_SIZE] = levels[FACTOR_REQUEST_SIZE];
    return 0;
}

/* Point number `index` of the full factorial of the levels. */
static struct point nth_point(const struct levels levels[FACTOR_N], size_t index)
{
    uint64_t value[FACTOR_N];
    for (int factor = FACTOR_N - 1; factor >= 0; factor--) {
        value[factor] = levels[factor].value[index % levels[factor].n];
        index /= levels[factor].n;
    }
    return factors_point(value);
}

/* The same points for each number of clients. */
static struct point of_clients(struct point point, const struct levels *clients, size_t index)
{
    if (clients->n > 0)
        point.clients = (uint32_t)clients->value[index % clients->n];
    return point;
}

/* On a surface every level that the user named must have at least one point. */
static int check_named_levels(const struct candidates *candidates, const struct session *session,
                              const struct levels levels[FACTOR_N], struct err *err)
{
    static const char *const names[FACTOR_N] = {
        "request-size", "queue-depth", "direct", "api", "threads", "sync", "write-request-size"};
    for (int factor = 0; factor < FACTOR_N && session->simulated; factor++) {
        for (size_t k = 0; k < session->settings->workload.levels[factor].n; k++) {
            bool found = false;
            for (size_t i = 0; i < candidates->n && !found; i++)
                found = factors_level(&candidates->points[i], (enum factor)factor) == levels[factor].value[k];
            if (!found)
                return err_set(err, -EINVAL,
                               "--%s: surface \"%s\" has no setting with level %" PRIu64 " for pattern %s",
                               names[factor], session->simulator.name, levels[factor].value[k],
                               session->settings->workload.pattern.name);
        }
    }
    return 0;
}

/* On a slow device the 64 requests of one run can take longer than the search can afford. */
static int check_patience(const struct session *session, const struct point *point, struct refusal *refusal)
{
    double fill_bps = session->target.fill_bps;
    double least_bytes =
        MEASURE_MIN_REQUESTS * measure_request_bytes(&session->settings->workload.pattern, point);
    double patience_s = RUN_SHARE_OF_BUDGET * (double)session->settings->limits.budget_ns / 1e9;
    if (session->simulated || fill_bps <= 0 || least_bytes / fill_bps <= patience_s)
        return 0;
    return refuse(refusal, "request sizes too large for the budget",
                  "at the %.0f MB/s of filling the file, a run of %d requests takes more than %.0f %% of the "
                  "budget; use a larger --budget",
                  fill_bps / 1e6, MEASURE_MIN_REQUESTS, RUN_SHARE_OF_BUDGET * 100);
}

static void note_refusal(struct session *session, const struct refusal *refusal)
{
    notes_add(&session->dropped, refusal->key, "%s", refusal->why);
    if (strcmp(refusal->key, DIRECT_KEY) == 0)
        notes_add(&session->warnings, "direct_not_proved", "direct I/O was left out: %s", refusal->why);
}

int candidates_admit(struct session *session, const struct point *point, uint64_t file_bytes)
{
    struct refusal refusal = {{0}, {0}};
    const struct room room = room_of(session, file_bytes);
    int result = check_point(session, point, &room, &refusal);
    if (result < 0)
        note_refusal(session, &refusal);
    return result;
}

int candidates_build(struct candidates *candidates, struct session *session, uint64_t file_bytes,
                     struct err *err)
{
    struct levels levels[FACTOR_N];
    *candidates = (struct candidates){0};
    int result = choose_levels(session, levels, err);
    if (result < 0)
        return result;
    const struct levels *clients = &session->settings->workload.clients;
    size_t n_clients = clients->n > 0 ? clients->n : 1, n = n_clients;
    for (int factor = 0; factor < FACTOR_N; factor++)
        n *= levels[factor].n;
    candidates->points = calloc(n, sizeof *candidates->points);
    if (candidates->points == NULL)
        return err_set(err, -ENOMEM, "no memory for a space of %zu settings", n);
    struct refusal refusal = {{0}, {0}};
    const struct room room = room_of(session, file_bytes);
    for (size_t i = 0; i < n; i++) {
        struct point point = of_clients(nth_point(levels, i / n_clients), clients, i);
        if (check_point(session, &point, &room, &refusal) == 0 &&
            check_patience(session, &point, &refusal) == 0)
            candidates->points[candidates->n++] = point;
        else
            note_refusal(session, &refusal);
    }
    result = check_named_levels(candidates, session, levels, err);
    if (result == 0 && candidates->n == 0)
        result = err_set(err, -EINVAL, "no point is left to measure: %s: %s", session->dropped.note[0].code,
                         session->dropped.note[0].text);
    if (result < 0)
        candidates_free(candidates);
    return result;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->points);
    *candidates = (struct candidates){0};
}

/* Dimension FACTOR_N is the number of clients. A size of writes that is always that of the reads is no
 * dimension of its own. */
static double level_of(const struct point *point, size_t dim, bool any_split)
{
    static const enum factor factors[FACTOR_N] = {FACTOR_REQUEST_SIZE, FACTOR_QUEUE_DEPTH, FACTOR_THREADS,
                                                  FACTOR_DIRECT,       FACTOR_API,         FACTOR_SYNC,
                                                  FACTOR_WRITE_SIZE};
    if (dim == FACTOR_N)
        return point->clients;
    return factors[dim] == FACTOR_WRITE_SIZE && !any_split ? 1 : (double)factors_level(point, factors[dim]);
}

int candidates_space(const struct candidates *candidates, struct space *ret_space)
{
    static const enum space_kind kinds[CANDIDATES_DIMS] = {SPACE_ORDERED,  SPACE_ORDERED,  SPACE_ORDERED,
                                                           SPACE_CATEGORY, SPACE_CATEGORY, SPACE_CATEGORY,
                                                           SPACE_ORDERED,  SPACE_ORDERED};
    bool any_split = false;
    for (size_t i = 0; i < candidates->n; i++)
        any_split |= factors_is_split(&candidates->points[i]);
    /* The last dimensions are there only where they are used. */
    size_t n_dims = candidates->points[0].clients > 0 ? CANDIDATES_DIMS : any_split ? FACTOR_N : FACTOR_N - 1;
    double *raw = calloc(candidates->n * n_dims, sizeof *raw);
    if (raw == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < candidates->n; i++) {
        for (size_t dim = 0; dim < n_dims; dim++) {
            double level = level_of(&candidates->points[i], dim, any_split);
            raw[i * n_dims + dim] = kinds[dim] == SPACE_ORDERED ? log2(level) : level;
        }
    }
    int result = space_init(ret_space, raw, candidates->n, n_dims, kinds);
    free(raw);
    return result;
}
