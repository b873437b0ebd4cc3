/* Tests of tuner/emit/analyse_folded: stacks with the callers first, whatever the events say. */
#include "tests/tuner/emit/events_rig.h"
#include "tuner/emit/analyse_symbol.h"

#include <errno.h>
#include <inttypes.h>

static void frame(uint32_t number, uint32_t caller, uint64_t object)
{
    events_add(events,
               &(struct events_row){.kind = EVENTS_FRAME, .handle = number, .n = caller, .object = object});
}

static void samples(uint32_t caller, uint64_t object, uint64_t n)
{
    events_add(events, &(struct events_row){.kind = EVENTS_CPU, .handle = caller, .object = object, .n = n});
}

static int write_with(int (*print)(FILE *, struct events *, const struct events_run *, struct err *),
                      char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    assert_int_equal(events_find(events, 0, &run, &err), 0);
    int code = print(out, events, &run, &err);
    fclose(out);
    return code;
}

TEST_WITH(callers_stand_first_and_equal_stacks_are_one, begin, end)
{
    char text[1024] = "";
    events_name(events, 1, "/usr/bin/program");
    events_name(events, 2, "/lib/a;b.so");
    frame(1, 0, 1);
    frame(2, 1, 2);
    samples(2, 1, 3);
    samples(2, 1, 4);
    samples(0, 2, 5);
    samples(0, 0, 6);
    assert_int_equal(write_with(analyse_print_folded, text, sizeof text), 0);
    assert_string_equal(text, "[a?b.so] 5\n[elsewhere] 6\n[program];[a?b.so];[program] 7\n");
}

TEST_WITH(callers_in_a_circle_come_to_an_end, begin, end)
{
    static char text[16384];
    frame(1, 2, 1);
    frame(2, 1, 1);
    frame(UINT32_MAX, 1, 1);
    samples(1, 1, 3);
    samples(UINT32_MAX, 1, 2);
    assert_int_equal(write_with(analyse_print_folded, text, sizeof text), 0);
    assert_non_null(strstr(text, "[elsewhere] 2\n"));
    assert_non_null(strstr(text, "[elsewhere];[elsewhere] 3\n"));
}

TEST_WITH(memory_is_that_of_the_peak, begin, end)
{
    char text[1024] = "";
    events_name(events, 1, "/usr/bin/program");
    events_add(events, &(struct events_row){.kind = EVENTS_MEMORY, .object = 1, .n_bytes = 7, .n = 1});
    events_add(events,
               &(struct events_row){
                   .kind = EVENTS_MEMORY, .object = 1, .flags = EVENTS_AT_PEAK, .n_bytes = 9, .n = 1});
    assert_int_equal(write_with(analyse_print_folded_memory, text, sizeof text), 0);
    assert_string_equal(text, "[program] 9\n");
}

TEST_WITH(what_was_not_recorded_is_told, begin, end)
{
    char text[64] = "";
    events_add(events, &(struct events_row){.kind = EVENTS_FLUSH, .n = 1});
    assert_int_equal(write_with(analyse_print_folded, text, sizeof text), -ENODATA);
    assert_int_equal(analyse_print_folded_memory(stdout, events, &run, &err), -ENODATA);
}

__attribute__((noinline)) static void function_to_be_found(void)
{
    __asm__ volatile("");
}

/* Where an address of this program stands in its file. */
static uint64_t offset_of(uintptr_t address)
{
    char line[512];
    uint64_t found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        uint64_t first, last, offset;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &first, &last, &offset) == 3 &&
            first <= address && address < last)
            found = address - first + offset;
    }
    fclose(maps);
    return found;
}

TEST(a_place_in_a_file_has_its_function)
{
    char path[4096] = "", name[64] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    assert_true(analyse_symbol_at(path, offset_of((uintptr_t)function_to_be_found), name, sizeof name));
    assert_string_equal(name, "function_to_be_found");
    assert_false(analyse_symbol_at(path, UINT64_MAX, name, sizeof name));
}
