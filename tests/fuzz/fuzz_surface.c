/* Descriptions of simulated surfaces, with a table ("points.csv") and a trace ("trace.csv") beside them. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_libconfig.h"

#include "tuner/session/simulator.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#define DESCRIPTION_FD   900
#define DESCRIPTION_LINK "/proc/self/fd/900"

static const char points[] = "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n"
                             "randread,4k,1,0,psync,1,1e8\nrandread,64k,1,0,psync,1,4e8\n"
                             "randread,4k,1,0,io_uring,1,1e8\nrandread,4k,8,0,io_uring,1,4e8\n";
static const char trace[] = "seconds,factor\n0,1\n60,0.25\n";
static char folder[4096], description[4200];

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void write_beside(const char *name, const char *text)
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    FUZZ_CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Names in a description are relative to it, so it needs a directory: one beside the program, under build/.
 * What changes with every input is in memory, behind a link: a disk would be the slowest part. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    snprintf(folder, sizeof(folder), "%.4000s.files", (*argv)[0]);
    snprintf(description, sizeof(description), "%s/surface.conf", folder);
    mkdir(folder, 0700);
    write_beside("points.csv", points);
    write_beside("trace.csv", trace);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && dup3(fd, DESCRIPTION_FD, O_CLOEXEC) == DESCRIPTION_FD);
    FUZZ_CHECK(symlink(DESCRIPTION_LINK, description) == 0 || errno == EEXIST);
    return 0;
}

/* Chance must not open a device or a pipe, which may never end. */
static int leaves_its_folder(const char *text)
{
    return strstr(text, "\"/") != NULL || strstr(text, "..") != NULL || strstr(text, "\\x") != NULL;
}

static void check_accepted(struct simulator *simulator)
{
    const struct simulator_noise *noise = &simulator->world.noise;
    struct pattern pattern;
    struct point point = {16384, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
    size_t first = 0, n = 0;
    double bps = 0;
    FUZZ_CHECK(noise->op_ar1 >= 0 && noise->op_ar1 < 1 && noise->op_cv >= 0 && noise->run_cv >= 0);
    FUZZ_CHECK(noise->outlier_probability >= 0 && noise->outlier_probability <= 1);
    FUZZ_CHECK(noise->outlier_factor > 0 && noise->warmup_factor > 0 && noise->setup_seconds >= 0);
    FUZZ_CHECK(isfinite(noise->drift_per_hour) && isfinite(noise->run_cv_seconds));
    FUZZ_CHECK(memchr(simulator->name, '\0', sizeof(simulator->name)) != NULL);
    FUZZ_CHECK(pattern_parse("randread", &pattern, NULL) == 0);
    simulator_cells_of(simulator, &pattern, &first, &n);
    FUZZ_CHECK(simulator->n_cells == 4 && first == 0 && n == 4);
    FUZZ_CHECK(simulator_truth_bps(simulator, &pattern, &point, &bps, NULL) == 0 && fabs(bps - 2e8) < 1);
}

FUZZ_TEXT(text, size)
{
    struct simulator simulator;
    if (leaves_its_folder(text))
        return;
    FUZZ_CHECK(ftruncate(DESCRIPTION_FD, 0) == 0);
    FUZZ_CHECK(pwrite(DESCRIPTION_FD, text, size, 0) == (ssize_t)size);
    if (!fuzz_refused(simulator_open(&simulator, description, &fuzz_err)))
        check_accepted(&simulator);
    simulator_close(&simulator);
}
