/* Tests of fstune profile on a program that writes into the memory of its own recording. It is this one
 * again, in one of the roles below. */
#include "models/profile/store.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>

static char program[4096]; /* this one */

static bool find_us(void)
{
    return readlink("/proc/self/exe", program, sizeof program - 1) > 0 && rig_find_program();
}

GROUP_NEEDS(find_us);
GROUP(rig_enter, rig_leave);

/* ---- roles ---- */

/* The memory that it shares with fstune. NULL: there is none. */
static struct store *find_store(size_t *ret_bytes)
{
    char line[512];
    unsigned long from = 0, to = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && from == 0 && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "memfd:fstune-profile") != NULL)
            (void)!sscanf(line, "%lx-%lx", &from, &to);
    }
    if (maps != NULL)
        fclose(maps);
    *ret_bytes = to - from;
    return (struct store *)(uintptr_t)from; // NOLINT(performance-no-int-to-ptr)
}

static void damage_places(struct store *store, size_t n_bytes)
{
    (void)n_bytes;
    store->n_files = store->n_streams = store->blocks.n_entries = 1ULL << 40;
    store->files_at = store->streams_at = store->blocks_at = 1ULL << 50;
}

/* All but what is known of the places. */
static void damage_counts(struct store *store, size_t n_bytes)
{
    const struct store before = *store;
    uint64_t *word = (void *)store;
    for (size_t i = 0; i < n_bytes / sizeof *word; i++)
        word[i] = i * 0x9e3779b97f4a7c15ULL;
    memcpy(store, &before, offsetof(struct store, start_ns));
    store->is_stopped = 0;
    store->timeline.n_intervals = before.timeline.n_intervals;
    store->timeline.log2_ns = before.timeline.log2_ns;
    store->blocks.n_entries = before.blocks.n_entries;
    store->blocks.shift = before.blocks.shift;
    store->marks.n_slots = before.marks.n_slots;
}

static void damage_length(struct store *store, size_t n_bytes)
{
    const char *path = getenv("FSTUNE_PROFILE_STORE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    (void)store;
    (void)n_bytes;
    if (fd >= 0)
        (void)!ftruncate(fd, 0);
}

/* Long enough for a live look or two at it. */
__attribute__((constructor)) static void act_as_program(void)
{
    static const struct {
        const char *name;
        void (*act)(struct store *store, size_t n_bytes);
    } roles[] = {{"places", damage_places}, {"counts", damage_counts}, {"length", damage_length}};
    const char *role = getenv("DAMAGE_TEST_ROLE");
    size_t n_bytes;
    struct store *store = role != NULL ? find_store(&n_bytes) : NULL;
    if (role == NULL)
        return;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0] && store != NULL; i++) {
        if (strcmp(role, roles[i].name) == 0)
            roles[i].act(store, n_bytes);
    }
    usleep(1300000);
    _exit(store == NULL);
}

/* ---- what comes of them ---- */

static void profile(struct rig_run *run, const char *role, bool is_live)
{
    setenv("DAMAGE_TEST_ROLE", role, 1);
    if (is_live)
        rig_run(run, NULL, "profile", "--source", "preload", "--live", "--json", "--", program, NULL);
    else
        rig_run(run, NULL, "profile", "--source", "preload", "--json", "--", program, NULL);
    unsetenv("DAMAGE_TEST_ROLE");
}

TEST(a_store_whose_places_are_written_over_is_refused)
{
    struct rig_run run = {0};
    profile(&run, "places", false);
    rig_check_error(&run, 1, "the program has written into the memory of its recording");
    rig_free(&run);
    profile(&run, "places", true);
    rig_check_error(&run, 1, "the program has written into the memory of its recording");
    rig_free(&run);
}

TEST(whatever_is_counted_can_be_told)
{
    struct rig_run run = {0};
    for (int is_live = 0; is_live < 2; is_live++) {
        profile(&run, "counts", is_live != 0);
        assert_true(run.code == 0 || run.code == 5);
        json_t *document = rig_json(&run);
        CHECK_JSON(document, "exit_status=0");
        json_decref(document);
        rig_free(&run);
    }
    setenv("DAMAGE_TEST_ROLE", "counts", 1);
    rig_run(&run, NULL, "profile", "--source", "preload", "--", program, NULL);
    unsetenv("DAMAGE_TEST_ROLE");
    assert_true(run.code == 0 || run.code == 5);
    rig_free(&run);
}

TEST(the_memory_cannot_be_taken_away)
{
    struct rig_run run = {0};
    profile(&run, "length", true);
    assert_int_equal(run.code, 5);
    json_decref(rig_json(&run));
    rig_free(&run);
}
