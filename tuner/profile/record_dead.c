/* tuner/profile/record_dead: a process that is killed inside a request cannot say that it ended. */
#include "tuner/profile/record.h"

#include "bench/base/clock.h"
#include "models/profile/store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Ended, but its parent has not asked how. */
static bool is_zombie(uint32_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)pid);
    FILE *in = fopen(path, "re");
    size_t n = in != NULL ? fread(line, 1, sizeof line - 1, in) : 0;
    if (in != NULL)
        fclose(in);
    line[n] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end != NULL && (strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0);
}

void record_dead_end(struct store *store)
{
    for (size_t i = 0; i < STORE_PROCESSES_MOST; i++) {
        struct store_process *process = &store->processes[i];
        uint32_t pid = __atomic_load_n(&process->pid, __ATOMIC_ACQUIRE);
        bool is_busy = __atomic_load_n(&process->n_in_flight, __ATOMIC_RELAXED) > 0;
        if (pid == 0 || ((kill((pid_t)pid, 0) == 0 || errno != ESRCH) && !(is_busy && is_zombie(pid))))
            continue;
        store_leave(store, process, clock_now_ns(&clock_monotonic));
    }
}
