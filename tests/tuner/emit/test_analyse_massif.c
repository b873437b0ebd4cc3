/* Tests of tuner/emit/analyse_massif: bytes over sockets by thread and direction. Memory is compared with
 * what ms_print reads in tests/tuner/commands/test_analyse_memory_fs.c. */
#include "tests/tuner/emit/events_rig.h"

#include <errno.h>

static void moved(uint64_t time_ns, uint32_t thread, uint32_t direction, uint64_t n_bytes)
{
    events_add(events, &(struct events_row){.kind = EVENTS_NETWORK,
                                            .time_ns = time_ns,
                                            .process = 7,
                                            .thread = thread,
                                            .flags = direction,
                                            .n_bytes = n_bytes,
                                            .n = 1});
}

static int print(char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    assert_int_equal(events_find(events, 0, &run, &err), 0);
    int code = analyse_print_massif(out, events, &run, EVENTS_NETWORK, &err);
    fclose(out);
    return code;
}

TEST_WITH(threads_and_directions_are_told_apart, begin, end)
{
    static char text[65536];
    moved(1000000, 8, EVENTS_IN, 100);
    moved(1000000, 8, EVENTS_OUT, 10);
    moved(2000000, 8, EVENTS_IN, 150);
    moved(3000000, 9, EVENTS_OUT, 40);
    assert_int_equal(print(text, sizeof text), 0);
    const char *peak = strstr(text, "heap_tree=peak");
    assert_non_null(peak);
    assert_non_null(strstr(peak, "n3: 300 (sockets) bytes sent and received\n"
                                 " n0: 250 0x21: thread 8 of process 7 receives (in sockets)\n"
                                 " n0: 40 0x26: thread 9 of process 7 sends (in sockets)\n"
                                 " n0: 10 0x22: thread 8 of process 7 sends (in sockets)\n"));
}

TEST_WITH(without_any_it_is_told, begin, end)
{
    char text[256] = "";
    events_add(events, &(struct events_row){.kind = EVENTS_FLUSH, .n = 1});
    assert_int_equal(print(text, sizeof text), -ENODATA);
    assert_non_null(strstr(err.text, "fstune-agent"));
}
