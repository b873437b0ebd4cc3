/* tuner/nightly/retune_turn: asked again and again, because a lock that is waited for in the server would
 * stand in a queue for one place of several. */
#include "bench/base/clock.h"
#include "bench/base/units.h"
#include "bench/host/hostinfo.h"
#include "bench/target/storage_stack.h"
#include "tuner/nightly/retune_steps.h"
#include "tuner/store/sql_server.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define ASK_AGAIN_MS 1000

/* "": nobody else is known to have this storage. */
static void find_backend(const struct retune_target *target, char backend[RETUNE_BACKEND_SIZE])
{
    static struct hostinfo info;
    struct storage_stack stack;
    snprintf(backend, RETUNE_BACKEND_SIZE, "%s", target->backend);
    if (backend[0] != '\0' || target->settings.file.simulate[0] != '\0')
        return;
    int fd = open(settings_place(&target->settings), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return; /* the night says what is wrong with it */
    storage_stack_of(fd, &stack);
    if (stack.network) {
        info = (struct hostinfo){0};
        hostinfo_collect(&info, fd);
        snprintf(backend, RETUNE_BACKEND_SIZE, "%.120s", hostinfo_text(&info, "mount_source"));
    }
    close(fd);
}

/* 1: one of the places is ours; 0: all are taken; or a negative errno. */
static int try_places(struct sql *server, const char *backend, uint32_t n, struct err *err)
{
    char name[RETUNE_BACKEND_SIZE + 40];
    int64_t is_ours = 0;
    for (uint32_t i = 0; i < n && is_ours == 0; i++) {
        snprintf(name, sizeof name, "fstune night %u on %s", i, backend);
        int result = sql_number(
            server, &is_ours, err,
            "SELECT CASE WHEN pg_try_advisory_lock(hashtextextended(?, 0)) THEN 1 ELSE 0 END", "t", name);
        if (result < 0)
            return result;
    }
    return is_ours != 0;
}

static void say_waiting(const struct retune_outcome *outcome)
{
    const struct retune_target *target = outcome->target;
    char time[UNITS_TEXT_SIZE];
    fprintf(stderr, "fstune: %s: waits for %u night%s of other hosts on %s, %s at most\n", target->name,
            target->backend_nights, target->backend_nights == 1 ? "" : "s", outcome->backend,
            units_format_duration(target->backend_wait_ns, time));
}

/* As try_places, when it was asked for the last time. */
static int wait_for_place(const struct retune_world *world, struct retune_outcome *outcome,
                          struct sql *server, struct err *err)
{
    const struct retune_target *target = outcome->target;
    uint64_t began_ns = clock_now_ns(&clock_monotonic);
    int result = try_places(server, outcome->backend, target->backend_nights, err);
    if (result == 0 && target->backend_wait_ns > 0)
        say_waiting(outcome);
    while (result == 0 && outcome->waited_ns < target->backend_wait_ns && !retune_is_interrupted(world)) {
        poll(NULL, 0, ASK_AGAIN_MS);
        result = try_places(server, outcome->backend, target->backend_nights, err);
        outcome->waited_ns = clock_now_ns(&clock_monotonic) - began_ns;
    }
    return result;
}

bool retune_turn_take(const struct retune_world *world, struct retune_outcome *outcome,
                      struct retune_turn *ret_turn)
{
    const struct retune_target *target = outcome->target;
    const char *fleet = target->settings.search.fleet;
    struct sql server = {0};
    struct err err = {0};
    char time[UNITS_TEXT_SIZE];
    *ret_turn = (struct retune_turn){0};
    if (!sql_server_is_address(fleet))
        return true;
    find_backend(target, outcome->backend);
    if (outcome->backend[0] == '\0')
        return true;
    retune_expect(world, target->backend_wait_ns, false);
    int result = sql_server_open(&server, fleet, &err);
    if (result == 0)
        result = wait_for_place(world, outcome, &server, &err);
    ret_turn->server = server;
    retune_expect(world, 0, false);
    if (result > 0 || retune_is_interrupted(world))
        return true;
    if (result < 0)
        snprintf(outcome->text, sizeof outcome->text,
                 "%s is shared, and the fleet's server does not say that it is free: %.300s",
                 outcome->backend, err.text);
    else
        snprintf(
            outcome->text, sizeof outcome->text,
            "%s was measured by other hosts for all of %s; start it at another time, or give it a longer "
            "backend_wait",
            outcome->backend, units_format_duration(target->backend_wait_ns, time));
    retune_turn_give(ret_turn);
    return false;
}

void retune_turn_give(struct retune_turn *turn)
{
    sql_close(&turn->server);
    *turn = (struct retune_turn){0};
}
