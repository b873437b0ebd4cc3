/* Tests of fstune analyse --as massif on recordings of a program whose memory is known, and on databases that
 * were made up. ms_print reads what is written, where it is installed. */
#include "tests/tuner/rig.h"
#include "tuner/store/events.h"

#include <fcntl.h>
#include <sys/wait.h>

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

#define N_HOARDED 40U
#define HOARDED   100000U
#define N_BITS    1000U
#define BIT       1000U
#define PEAK      (N_HOARDED * HOARDED + N_BITS * BIT)

__attribute__((noinline)) static void *hoard(void)
{
    void *volatile block = malloc(HOARDED);
    return block;
}

__attribute__((noinline)) static void *nibble(void)
{
    void *volatile block = calloc(N_BITS, BIT / N_BITS);
    return block;
}

static void spend(char **hoarded, void **bits)
{
    for (unsigned i = 0; i < N_BITS; i++)
        bits[i] = nibble();
    for (unsigned i = 0; i < N_HOARDED; i++)
        hoarded[i] = hoard();
    for (unsigned i = 0; i < N_HOARDED; i++)
        hoarded[i] = realloc(hoarded[i], 10);
}

/* This program again, as the one that is recorded. */
__attribute__((constructor)) static void act_as_program(void)
{
    char *hoarded[N_HOARDED];
    void *bits[N_BITS];
    const char *role = getenv("MEMORY_TEST_ROLE");
    if (role == NULL)
        return;
    spend(hoarded, bits);
    usleep(100000);
    if (strcmp(role, "dies") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(role, "forks") == 0 && fork() == 0) {
        spend(hoarded, bits);
        _exit(0);
    }
    wait(NULL);
    for (unsigned i = 0; i < N_BITS; i++)
        free(bits[i]);
    for (unsigned i = 0; i < N_HOARDED; i++)
        free(hoarded[i]);
    _exit(0);
}

static void record(const char *role)
{
    char self[4096] = "", script[4200];
    struct rig_run run = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(script, sizeof script, "MEMORY_TEST_ROLE=%s exec %s", role, self);
    unlink("m.db");
    rig_run(&run, NULL, "profile", "--memory", "--save-events", "m.db", "--json", "--", "sh", "-c", script,
            NULL);
    bool cannot = run.code == 2 && strstr(run.err, "by the kernel") != NULL;
    rig_free(&run);
    if (cannot)
        skip();
}

static void write_massif(void)
{
    struct rig_run run = {0};
    rig_run_line(&run, "analyse m.db --as massif");
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "ms_print massif.out"));
    rig_free(&run);
}

static bool has_ms_print(void)
{
    return access("/usr/bin/ms_print", X_OK) == 0;
}

static unsigned long long most_in(const char *path)
{
    char line[1024];
    unsigned long long most = 0, bytes;
    FILE *in = fopen(path, "re");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "mem_heap_B=%llu", &bytes) == 1 && bytes > most)
            most = bytes;
    }
    fclose(in);
    return most;
}

static void check_peak(void)
{
    write_massif();
    assert_close((double)most_in("massif.out"), PEAK, 0.05 * PEAK);
    assert_int_equal(
        system("grep -A9 heap_tree=peak massif.out | grep -q ': hoard (in .*test_analyse_memory'"), 0);
    assert_int_equal(system("grep -A9 heap_tree=peak massif.out | grep -q ': nibble (in '"), 0);
    if (has_ms_print())
        assert_int_equal(system("ms_print massif.out | grep -q '^->.*hoard'"), 0);
}

TEST(the_peak_is_that_of_the_program)
{
    record("ends");
    check_peak();
}

TEST(a_killed_program_leaves_what_it_held)
{
    record("dies");
    check_peak();
}

TEST(a_childs_memory_is_not_the_programs)
{
    record("forks");
    check_peak();
}

/* A database with these events of memory. */
static void make_up(const char *name, uint64_t n_bytes, uint64_t time_ns)
{
    struct events *events;
    struct err err;
    unlink("m.db");
    assert_int_equal(events_open(&events, "m.db", true, &err), 0);
    assert_int_equal(events_begin(events, "made up\n# of nothing", "trace", 0, &err), 0);
    events_name(events, 5, name);
    for (uint64_t i = 0; i < 300; i++)
        events_add(events, &(struct events_row){.kind = EVENTS_MEMORY,
                                                .time_ns = time_ns * i,
                                                .object = 5 + i % 2,
                                                .offset_bytes = i * 16,
                                                .n_bytes = n_bytes,
                                                .n = 1});
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    events_close(events);
}

TEST(names_of_any_kind_are_read_by_ms_print)
{
    make_up("/tmp/a#b\nn7: 1 c", 4096, 1000000);
    write_massif();
    assert_int_equal(most_in("massif.out"), 300 * 4096);
    assert_int_equal(system("grep -q '^cmd: made up.. of nothing$' massif.out"), 0);
    if (has_ms_print())
        assert_int_equal(system("ms_print massif.out >printed"), 0);
}

TEST(events_at_the_end_of_time_end)
{
    make_up("/bin/true", 1, INT64_MAX / 300);
    write_massif();
    assert_int_equal(system("test $(grep -c ^snapshot massif.out) -lt 100"), 0);
}

TEST(what_makes_no_sense_is_refused)
{
    unlink("massif.out");
    make_up("/bin/true", INT64_MAX, 1);
    rig_refused("analyse m.db --as massif", 1, "makes no sense");
    assert_int_not_equal(access("massif.out", F_OK), 0);
}

TEST(a_recording_without_memory_says_so)
{
    struct events *events;
    struct err err;
    unlink("m.db");
    assert_int_equal(events_open(&events, "m.db", true, &err), 0);
    assert_int_equal(events_begin(events, "nothing", "trace", 0, &err), 0);
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    events_close(events);
    rig_refused("analyse m.db --as massif", 5, "fstune profile --memory");
}

TEST(a_link_is_no_place_for_the_output)
{
    make_up("/bin/true", 1, 1);
    assert_int_equal(system("rm -f massif.out; echo kept >mine; ln -s mine massif.out"), 0);
    rig_refused("analyse m.db --as massif", 2, "symbolic link");
    assert_int_equal(system("test \"$(cat mine)\" = kept && rm massif.out"), 0);
}

TEST(what_cannot_be_recorded_is_refused)
{
    rig_refused("profile --memory -- true", 2, "--save-events");
    rig_refused("profile --memory --save-events m.db --pid 1", 2, "runs already");
}
