/* Trials for the peers of `make compare`: a simulated surface as fstune meets it - the same candidates, the
 * same runs, the same noise, the same virtual clock - behind two pipes.
 *
 * usage: trial_server SURFACE.conf PATTERN SEED      "space N", then N lines "INDEX REQUEST_SIZE QUEUE_DEPTH
 *            DIRECT API THREADS"; then for every line "INDEX RUN_SECONDS" on stdin one trial (set-up and a
 *            run without warm-up phase) and one line "THROUGHPUT_BPS NOW_SECONDS". Ends with stdin.
 *        trial_server --truth SURFACE.conf PATTERN   N lines "INDEX REQUEST_SIZE QUEUE_DEPTH DIRECT API
 *            THREADS TRUTH_BPS"
 * Exit code 2: wrong usage or a line that is no trial; 1: anything else that fails. */
#include "bench/base/units.h"
#include "tuner/options/settings.h"
#include "tuner/session/candidates.h"
#include "tuner/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e6
#define NO_SEED     "0"

struct server {
    struct settings settings;
    struct session session;
    struct candidates candidates;
    struct histogram latency;
};

static int complain(const char *text)
{
    fprintf(stderr, "trial_server: %s\n", text);
    return 1;
}

static int usage(void)
{
    fputs("usage: trial_server SURFACE.conf PATTERN SEED\n       trial_server --truth SURFACE.conf PATTERN\n",
          stderr);
    return 2;
}

static int server_open(struct server *server, const char *simulator, const char *pattern, const char *seed,
                       struct err *err)
{
    struct settings *settings = &server->settings;
    settings_init(settings);
    if (units_parse_count(seed, INT64_MAX, &settings->seed) < 0)
        return err_set(err, -EINVAL, "'%.40s' is not a seed", seed);
    settings->seed_given = settings->quiet = true;
    snprintf(settings->file.simulate, sizeof settings->file.simulate, "%s", simulator);
    int result = pattern_parse(pattern, &settings->workload.pattern, err);
    if (result == 0)
        result = session_open(&server->session, settings, err);
    return result < 0 ? result : candidates_build(&server->candidates, &server->session, UINT64_MAX, err);
}

static void server_close(struct server *server)
{
    candidates_free(&server->candidates);
    session_close(&server->session);
}

static void print_point(const struct server *server, size_t index)
{
    const struct point *point = &server->candidates.points[index];
    printf("%zu %" PRIu64 " %" PRIu32 " %" PRIu32 " %s %" PRIu32, index, point->request_size_bytes,
           point->queue_depth, point->direct, api_names[point->api], point->threads);
}

static int print_truth(struct server *server, struct err *err)
{
    for (size_t i = 0; i < server->candidates.n; i++) {
        const struct point *point = &server->candidates.points[i];
        double table_bps = 0;
        int result = simulator_truth_bps(&server->session.simulator, &server->settings.workload.pattern,
                                         point, &table_bps, err);
        if (result < 0)
            return result;
        print_point(server, i);
        printf(" %.17g\n", table_bps * simulator_truth_factor(&server->session.simulator.world, point));
    }
    return 0;
}

static void print_space(const struct server *server)
{
    printf("space %zu\n", server->candidates.n);
    for (size_t i = 0; i < server->candidates.n; i++) {
        print_point(server, i);
        putchar('\n');
    }
}

static int trial(struct server *server, size_t index, double seconds, struct err *err)
{
    const struct settings *settings = &server->settings;
    struct measure_plan plan = {
        .pattern = settings->workload.pattern,
        .point = server->candidates.points[index],
        .duration_ns = (uint64_t)(seconds * 1e9),
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
    };
    struct measure_result result;
    int code = session_measure(&server->session, &plan, &result, &server->latency, err);
    if (code == 0)
        printf("%.17g %.9f\n", result.throughput_bps, session_seconds(&server->session));
    return code;
}

static int parse_trial(const char *line, size_t n_points, size_t *ret_index, double *ret_seconds)
{
    char *end = NULL;
    if (line[0] < '0' || line[0] > '9')
        return -EINVAL;
    unsigned long long index = strtoull(line, &end, 10);
    if (*end != ' ' || index >= n_points)
        return -EINVAL;
    double seconds = strtod(end, &end);
    if (*end != '\n' || !(seconds * 1e9 >= MEASURE_MIN_DURATION_NS && seconds <= SECONDS_MAX))
        return -EINVAL;
    *ret_index = (size_t)index;
    *ret_seconds = seconds;
    return 0;
}

static int serve(struct server *server, struct err *err)
{
    char line[128];
    print_space(server);
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL) {
        size_t index = 0;
        double seconds = 0;
        if (parse_trial(line, server->candidates.n, &index, &seconds) < 0)
            return err_set(err, -EINVAL, "'%.40s' is not INDEX RUN_SECONDS (0.05 s or more)", line);
        int result = trial(server, index, seconds, err);
        if (result < 0)
            return result;
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool truth = argc == 4 && strcmp(argv[1], "--truth") == 0;
    struct err err = {0};
    if (argc != 4)
        return usage();
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return complain("no memory");
    histogram_init(&server->latency);
    int result = truth ? server_open(server, argv[2], argv[3], NO_SEED, &err)
                       : server_open(server, argv[1], argv[2], argv[3], &err);
    if (result == 0)
        result = truth ? print_truth(server, &err) : serve(server, &err);
    if (result == 0 && fflush(stdout) != 0)
        result = err_sys(&err, -errno, "cannot write the answers");
    if (result < 0)
        complain(err.text);
    server_close(server);
    free(server);
    return result == 0 ? 0 : result == -EINVAL ? 2 : 1;
}
