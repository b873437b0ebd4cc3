/* tuner/profile/record: the library, the memory and the program brought together. */
#include "tuner/profile/record.h"

#include "bench/base/clock.h"
#include "bench/base/clock_quick.h"
#include "bench/profile/hardware_counters.h"
#include "bench/profile/program.h"
#include "models/profile/store.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY          "libfstune-profile.so"
#define LIBRARY_VARIABLE "FSTUNE_PROFILE_LIBRARY"
#define N_COST_REQUESTS  20000

int record_find_library(const char *name, char *path, size_t size, struct err *err)
{
    static const char *const places[] = {"", "../lib/fstune/"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *end = strrchr(self, '/');
    for (size_t i = 0; i < sizeof places / sizeof places[0] && end != NULL; i++) {
        int n = snprintf(path, size, "%.*s/%s%s", (int)(end - self), self, places[i], name);
        if (n > 0 && (size_t)n < size && access(path, R_OK) == 0)
            return 0;
    }
    return err_set(err, -ENOENT, "%s is neither beside this program nor in ../lib/fstune; install it", name);
}

int record_find_wrappers(char *path, size_t size, struct err *err)
{
    const char *named = getenv(LIBRARY_VARIABLE);
    if (named == NULL || named[0] == '\0')
        return record_find_library(LIBRARY, path, size, err);
    if ((size_t)snprintf(path, size, "%s", named) < size && access(path, R_OK) == 0)
        return 0;
    return err_sys(err, -errno, "%s names %.200s", LIBRARY_VARIABLE, named);
}

int record_open(struct recording *recording, uint64_t store_bytes, uint64_t start_ns, struct err *err)
{
    int code = shared_memory_open(&recording->shared, store_bytes, err);
    if (code < 0)
        return code;
    recording->store = recording->shared.memory;
    code = store_init(recording->store, store_bytes, start_ns);
    return code < 0
               ? err_set(err, code, "a store of %zu bytes has no room for its parts", (size_t)store_bytes)
               : 0;
}

struct watched {
    const struct recording *recording;
    const struct record_options *options;
};

static void look(void *data)
{
    const struct watched *watched = data;
    const struct recording *recording = watched->recording;
    record_dead_end(recording->store);
    if ((__atomic_load_n(&recording->store->is_stopped, __ATOMIC_RELAXED) & STORE_OVER) != 0)
        hardware_counters_take(recording->hardware);
    if (watched->options->look != NULL)
        watched->options->look(watched->options->look_data, recording->store, 0);
}

/* As the wrappers do it: two looks at the clock, and places for the beginning, the end and the request. */
static void take_one(struct store *store, uint64_t i)
{
    uint64_t block = i * 2654435761U % 65536;
    struct profile_request request = {.start_ns = clock_quick_ns(),
                                      .file = 1,
                                      .handle = 1,
                                      .thread = 1,
                                      .offset_bytes = block << BLOCKS_LOG2_BYTES,
                                      .n_bytes = 1U << BLOCKS_LOG2_BYTES};
    store_expect(store, request.file, request.offset_bytes);
    store_begin(store, request.start_ns, 1);
    uint64_t end_ns = clock_quick_ns();
    store_end(store, end_ns, 1);
    store_take(store, &request);
    store_took(store, PROFILE_READ, end_ns - request.start_ns);
}

/* Of one request, in ns. */
static double measure_cost(void)
{
    struct store *store = calloc(1, STORE_DEFAULT_BYTES);
    clock_quick_start();
    uint64_t start_ns = clock_quick_ns();
    if (store == NULL || store_init(store, STORE_DEFAULT_BYTES, start_ns) < 0) {
        free(store);
        return NAN;
    }
    for (uint64_t i = 0; i < N_COST_REQUESTS; i++)
        take_one(store, i);
    uint64_t spent_ns = clock_quick_ns() - start_ns;
    free(store);
    return (double)spent_ns / N_COST_REQUESTS;
}

/* Share of the recorded time that its requests' places in the store took, from what such a request takes here
 * and now; the threads of a program share it. NaN: unknown. */
static double cost_share(const struct store *store)
{
    double n = (double)bins_n(&store->sizes[PROFILE_READ]) + (double)bins_n(&store->sizes[PROFILE_WRITE]);
    double seconds = ((double)store_spent_ns(store) - (double)store_paused_ns(store)) / 1e9;
    return seconds > 0 ? fmin(1, n * measure_cost() / 1e9 / seconds) : NAN;
}

int record_program(struct recording *recording, const char *const *command,
                   const struct record_options *options, struct err *err)
{
    char library[PATH_MAX], path[PATH_MAX];
    int code = program_find(command[0], path, sizeof path, err);
    if (code == 0)
        code = record_find_wrappers(library, sizeof library, err);
    if (code == 0)
        code = record_open(recording, options->store_bytes, clock_now_ns(&clock_monotonic), err);
    if (code < 0)
        return code;
    struct watched watched = {recording, options};
    const struct launch launch = {.path = path,
                                  .argv = command,
                                  .library = library,
                                  .variable = RECORD_STORE_VARIABLE,
                                  .value = recording->shared.path,
                                  .output_to_stderr = options->output_to_stderr,
                                  .look = look,
                                  .data = &watched,
                                  .duration_ns = options->duration_ns,
                                  .is_over = &recording->store->is_stopped,
                                  .interrupted = &interrupt_signal};
    recording->source = "preload";
    recording->knows_calls = recording->knows_flushes = true;
    recording->command = command;
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    hardware_counters_start(recording->hardware);
    code = launch_run(&launch, &recording->end, err);
    hardware_counters_take(recording->hardware);
    recording->is_part =
        options->duration_ns > 0 && clock_now_ns(&clock_monotonic) - start_ns > options->duration_ns;
    recording->overhead_share = cost_share(recording->store);
    return code;
}

int record_settle(struct recording *recording, struct err *err)
{
    size_t n_bytes = recording->shared.size;
    struct store *copy = malloc(n_bytes);
    if (copy == NULL)
        return err_set(err, -ENOMEM, "no memory");
    memcpy(copy, recording->shared.memory, n_bytes);
    recording->store = copy;
    return store_is_sound(copy, n_bytes) ? 0
                                         : err_set(err, -EBADMSG,
                                                   "the program has written into the memory of its "
                                                   "recording, which tells nothing any more; "
                                                   "--source trace shares none with it");
}

void record_close(struct recording *recording)
{
    if (recording->store != recording->shared.memory)
        free(recording->store);
    hardware_counters_close(recording->hardware);
    shared_memory_close(&recording->shared);
}
