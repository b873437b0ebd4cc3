/* tests/tuner/histories/fleet_rig: a history of many hosts, and what is printed of it. */
#pragma once

#include "tests/tuner/store/history_rig.h"
#include "tuner/histories/fleet_data.h"

static const struct point settings_of_all[] = {{4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0},
                                               {65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                                               {262144, 4, 1, API_LIBAIO, 1, SYNC_END, 0, 0},
                                               {1048576, 2, 1, API_POOL, 1, SYNC_END, 0, 0},
                                               {1048576, 4, 1, API_POOL, 1, SYNC_END, 0, 0}};
#define N_SETTINGS N_OF(settings_of_all)

struct fleet_host {
    const char *name, *file_system, *kernel;
    const char *device;
};

/* A finished run of these rates, one for each setting (0: not measured). */
static inline void add_host_run(const struct fleet_host *host, const double bps[N_SETTINGS])
{
    int64_t run_id = 0;
    uint64_t n = 0;
    json_auto_t *system =
        json_pack("{s:s, s:s, s:s, s:b}", "file_system", host->file_system, "kernel", host->kernel, "device",
                  host->device != NULL ? host->device : "vda", "rotational", 0);
    const struct history_header header = {.command = "recommend",
                                          .target = "",
                                          .pattern = "randread",
                                          .hostname = host->name,
                                          .identity = "{}",
                                          .system = system};
    if (history_begin_run(&history, &header, &run_id, &err) != 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (bps[i] > 0)
            add_replays(run_id, &settings_of_all[i], (const double[]){bps[i] * 0.99, bps[i] * 1.01}, 2,
                        2 * n++);
    }
    finish_run(run_id, 1e8);
    now_s += 3600;
}

static struct fleet_data data;

static inline void load(enum fleet_which which)
{
    fleet_data_done(&data);
    if (fleet_data_load(&data, &history, which, "", 0, &err) != 0)
        fail_msg("%s", err.text);
}

/* What a function prints of the data; the caller frees it. */
static inline char *printed(int (*print)(FILE *out))
{
    char *output = NULL;
    FILE *out = memory_stream(&output);
    assert_int_equal(print(out), 0);
    fclose(out);
    return output;
}
