/* A history that was damaged or made by somebody else: read, checked and merged without a crash; what is
 * accepted is in range. The input is laid over a sound one: three bytes of place and one of content each. */
#include "tests/fuzz/fuzz.h"

#include "tuner/store/history.h"
#include "tuner/store/history_watch.h"

#include <math.h>

#define SOUND_SIZE (1 << 18)
#define FOLDER     "/dev/shm/fuzz-history-XXXXXX"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static char sound[SOUND_SIZE], folder[] = FOLDER, path[sizeof FOLDER + 16], own_path[sizeof FOLDER + 16];
static size_t sound_size;

static double no_time(void *context)
{
    (void)context;
    return 1.8e9;
}

static int open_at(struct history *history, const char *name, bool write, struct err *err)
{
    const struct history_place place = {.path = name, .write = write, .now_s = no_time};
    return history_open(history, &place, err);
}

static void remove_parts(const char *name)
{
    static const char *const parts[] = {"", "-wal", "-shm", "-journal"};
    char part[sizeof path + 16];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(part, sizeof part, "%s%s", name, parts[i]);
        unlink(part);
    }
}

static void remove_all(void)
{
    remove_parts(path);
    remove_parts(own_path);
    rmdir(folder);
}

static void add_run(struct history *history)
{
    static const struct point point = {65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0};
    const struct history_header header = {.command = "recommend",
                                          .target = "vms",
                                          .pattern = "randwrite",
                                          .hostname = "alpha",
                                          .identity = "{\"file_system\":\"ext4\"}"};
    int64_t run_id = 0;
    FUZZ_CHECK(history_begin_run(history, &header, &run_id, NULL) == 0);
    for (uint64_t i = 0; i < 3; i++) {
        struct history_replay replay = {
            .number = i, .point = point, .sample = {.throughput_bps = 1e8, .iops = 1500, .seconds = 1}};
        FUZZ_CHECK(history_add_replay(history, run_id, &replay, NULL) == 0);
    }
    FUZZ_CHECK(history_finish_run(history, run_id, HISTORY_DONE, 0, NULL, NULL) == 0);
    struct history_change change = {.target = "vms",
                                    .host = "alpha",
                                    .kind = HISTORY_CHANGE_MADE,
                                    .has_to = true,
                                    .to = point,
                                    .run_ids = {run_id, 0},
                                    .text = "better"};
    FUZZ_CHECK(history_add_change(history, &change, NULL) == 0);
}

/* Small pages, so that a short input meets most tables. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct history history;
    (void)argc;
    (void)argv;
    FUZZ_CHECK(mkdtemp(folder) != NULL);
    atexit(remove_all);
    snprintf(path, sizeof path, "%s/h.db", folder);
    snprintf(own_path, sizeof own_path, "%s/own.db", folder);
    setenv("TMPDIR", folder, 1);
    FUZZ_CHECK(open_at(&history, path, true, NULL) == 0);
    add_run(&history);
    add_run(&history);
    const struct history_watch_slice slice = {.start_s = 1.8e9, .seconds = 60, .kind = "seq-read-large"};
    FUZZ_CHECK(history_watch_add(&history, "path /srv", &slice, NULL) == 0);
    history_close(&history);
    FILE *stream = fopen(path, "r");
    FUZZ_CHECK(stream != NULL);
    sound_size = fread(sound, 1, sizeof sound, stream);
    FUZZ_CHECK(sound_size > 0 && sound_size < sizeof sound);
    fclose(stream);
    return 0;
}

static void write_damaged(const uint8_t *data, size_t size)
{
    static char bytes[SOUND_SIZE];
    memcpy(bytes, sound, sound_size);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t place = (size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2];
        bytes[place % sound_size] = (char)data[i + 3];
    }
    FILE *stream = fopen(path, "w");
    FUZZ_CHECK(stream != NULL && fwrite(bytes, 1, sound_size, stream) == sound_size && fclose(stream) == 0);
}

static void check_replays(struct history *history, int64_t run_id)
{
    struct history_replay *replays = NULL;
    size_t n = 0;
    if (fuzz_refused(history_replays(history, run_id, &replays, &n, &fuzz_err)))
        return;
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(factors_check(&replays[i].point, NULL) == 0);
        FUZZ_CHECK(isfinite(log(replays[i].sample.throughput_bps)) && replays[i].sample.seconds > 0);
    }
    free(replays);
}

static void check_runs(struct history *history)
{
    const struct history_filter all = {0};
    struct history_info *runs = NULL;
    json_t *document = NULL;
    size_t n = 0;
    if (fuzz_refused(history_list_runs(history, &all, &runs, &n, &fuzz_err)))
        return;
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(runs[i].status < HISTORY_N_STATUSES);
        FUZZ_CHECK(!runs[i].has_point || factors_check(&runs[i].point, NULL) == 0);
        check_replays(history, runs[i].id);
    }
    free(runs);
    if (history_document(history, 0, &document, NULL) == 0)
        json_decref(document);
}

static void check_changes(struct history *history)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    if (fuzz_refused(history_list_changes(history, NULL, NULL, 0, 0, &changes, &n, &fuzz_err)))
        return;
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(changes[i].kind < HISTORY_CHANGE_N && isfinite(changes[i].at_s));
    free(changes);
}

static void check_watched(struct history *history)
{
    struct history_watch_place *places = NULL;
    struct history_watch_hour *hours = NULL;
    size_t n = 0, n_hours;
    if (fuzz_refused(history_watch_places(history, &places, &n, &fuzz_err)))
        return;
    for (size_t i = 0; i < n; i++) {
        if (fuzz_refused(history_watch_hours(history, places[i].place, 0, &hours, &n_hours, &fuzz_err)))
            continue;
        for (size_t k = 0; k < n_hours; k++)
            FUZZ_CHECK(hours[k].seconds >= 0 && hours[k].hour >= 0 && isfinite(hours[k].last_s));
        free(hours);
    }
    free(places);
}

static void count(void *context, const char *text)
{
    FUZZ_CHECK(text[0] != '\0');
    ++*(size_t *)context;
}

static void check_merge(void)
{
    struct history own;
    size_t n_runs, n_changes, n_findings = 0;
    FUZZ_CHECK(open_at(&own, own_path, true, NULL) == 0);
    (void)fuzz_refused(history_merge(&own, path, &n_runs, &n_changes, &fuzz_err));
    FUZZ_CHECK(history_verify(&own, count, &n_findings, NULL) == 0);
    history_close(&own);
    remove_parts(own_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct history history;
    size_t n_findings = 0;
    remove_parts(path);
    write_damaged(data, size);
    check_merge();
    if (fuzz_refused(open_at(&history, path, false, &fuzz_err)))
        return 0;
    check_runs(&history);
    check_changes(&history);
    check_watched(&history);
    (void)history_verify(&history, count, &n_findings, NULL);
    history_close(&history);
    return 0;
}
