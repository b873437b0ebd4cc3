/* Tests of tuner/profile/record_dead: what those that are gone had in flight has ended. */
#include "models/profile/store.h"
#include "tests/child.h"
#include "tuner/profile/record.h"

static struct store *store;

FIXTURE(open_store)
{
    store = calloc(1, STORE_MIN_BYTES);
    assert_non_null(store);
    assert_int_equal(store_init(store, STORE_MIN_BYTES, 0), 0);
    return 0;
}

FIXTURE(free_store)
{
    free(store);
    return 0;
}

EACH_TEST(open_store, free_store);

static void begin_one(pid_t pid)
{
    struct store_process *process = store_join(store, (uint32_t)pid);
    assert_non_null(process);
    process->n_in_flight = 1;
    store_begin(store, 0, 1);
}

static bool nothing(void)
{
    return true;
}

TEST(a_killed_process_has_nothing_in_flight_even_before_its_parent_asks)
{
    siginfo_t info;
    pid_t child = child_hold(nothing);
    begin_one(child);
    record_dead_end(store);
    assert_int_equal(flight_depth(&store->flight), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    record_dead_end(store);
    assert_int_equal(flight_depth(&store->flight), 0);
    waitpid(child, NULL, 0);
}

TEST(the_place_of_one_that_is_gone_is_free_again)
{
    pid_t child = child_hold(nothing);
    struct store_process *process = store_join(store, (uint32_t)child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    record_dead_end(store);
    assert_int_equal(process->pid, 0);
}
