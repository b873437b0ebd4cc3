/* bench/run/members: several targets that are loaded together. */
#include "bench/run/members.h"

#include <pthread.h>

struct flush {
    const struct target *target;
    const struct clock *clock;
    uint64_t end_ns;
    int result;
    struct err err;
    pthread_t thread;
};

static void *flush_one(void *argument)
{
    struct flush *flush = argument;
    flush->result = target_flush(flush->target, &flush->err);
    flush->end_ns = clock_now_ns(flush->clock);
    return NULL;
}

int members_flush(const struct members *members, const struct clock *clock, uint64_t ret_end_ns[MEMBERS_MOST],
                  struct err *err)
{
    struct flush flush[MEMBERS_MOST] = {0};
    uint32_t n = 0;
    int result = 0;
    for (; n < members->n && result == 0; n++) {
        flush[n].target = members->target[n];
        flush[n].clock = clock;
        result = -pthread_create(&flush[n].thread, NULL, flush_one, &flush[n]);
    }
    if (result < 0)
        err_sys(err, result, "no thread can be started to flush %s", members->target[--n]->name);
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(flush[i].thread, NULL);
        ret_end_ns[i] = flush[i].end_ns;
        if (result == 0 && flush[i].result < 0)
            result = err_set(err, flush[i].result, "%s", flush[i].err.text);
    }
    return result;
}
