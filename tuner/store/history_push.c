/* tuner/store/history: runs and changes of a file on their way to a fleet's server. */
#include "tuner/store/history.h"

#include "tuner/store/history_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An unfinished run that is older died, as in history_keep. */
#define UNDER_WAY_S 86400.0

/* What a run is, beside its replays. */
struct parcel {
    char version[64], identity[2048], uuid[HISTORY_UUID_SIZE];
    int64_t seed;
    json_t *settings, *system, *document;
};

static void parcel_done(struct parcel *parcel)
{
    json_decref(parcel->settings);
    json_decref(parcel->system);
    json_decref(parcel->document);
}

static int load_parcel(struct history *file, const struct history_info *info, struct parcel *parcel,
                       struct err *err)
{
    struct sql_rows *rows;
    *parcel = (struct parcel){0};
    int result =
        sql_query(&file->db, &rows, err,
                  "SELECT u.version, u.seed, t.identity FROM runs u JOIN targets t ON t.id = u.target_id "
                  "WHERE u.id = ?",
                  "i", info->id);
    if (result == 0 && (result = sql_step(rows, err)) == 1) {
        sql_text(rows, 0, parcel->version, sizeof parcel->version);
        parcel->seed = sql_int64(rows, 1);
        sql_text(rows, 2, parcel->identity, sizeof parcel->identity);
    }
    sql_done(rows);
    if (result >= 0)
        result = history_circumstances(file, info->id, &parcel->settings, &parcel->system, err);
    if (result == 0 && (result = history_document(file, info->id, &parcel->document, err)) == -ENODATA)
        result = 0;
    return result;
}

/* 1: sent; 0: it was there. */
static int push_run(struct history *server, struct history *file, const struct history_info *info,
                    struct err *err)
{
    struct parcel parcel;
    struct history_replay *replays = NULL;
    size_t n = 0;
    int result = load_parcel(file, info, &parcel, err);
    if (result == 0)
        result = history_replays(file, info->id, &replays, &n, err);
    const struct history_header header = {.command = info->command,
                                          .target = info->target,
                                          .pattern = info->pattern,
                                          .hostname = info->host,
                                          .identity = parcel.identity,
                                          .settings = parcel.settings,
                                          .system = parcel.system,
                                          .seed = (uint64_t)parcel.seed};
    struct history_origin origin = {.version = parcel.version,
                                    .started_s = info->started_s,
                                    .finished_s = info->finished_s,
                                    .status = info->status,
                                    .exit_code = info->exit_code};
    memcpy(origin.uuid, info->uuid, sizeof origin.uuid);
    if (result == 0)
        result = history_take_run(server, &header, &origin, replays, n, parcel.document, err);
    free(replays);
    parcel_done(&parcel);
    return result;
}

/* The server's number of a run of the file; 0 where it does not have it. */
static int run_there(struct history *server, struct history *file, int64_t run_id, int64_t *ret_id,
                     struct err *err)
{
    struct history_info info;
    *ret_id = 0;
    if (run_id == 0)
        return 0;
    int result = history_find_run(file, run_id, &info, err);
    if (result == 0)
        result = sql_number(&server->db, ret_id, err, "SELECT id FROM runs WHERE uuid = ?", "t", info.uuid);
    return result == -ENOENT ? 0 : result;
}

static int push_change(struct history *server, struct history *file, const struct history_change *change,
                       struct err *err)
{
    struct history_change there = *change;
    struct sql_rows *rows;
    char uuid[HISTORY_UUID_SIZE] = "";
    int result = sql_query(&file->db, &rows, err, "SELECT uuid FROM changes WHERE id = ?", "i", change->id);
    if (result == 0 && (result = sql_step(rows, err)) == 1)
        sql_text(rows, 0, uuid, sizeof uuid);
    sql_done(rows);
    for (size_t i = 0; i < 2 && result >= 0; i++)
        result = run_there(server, file, change->run_ids[i], &there.run_ids[i], err);
    return result < 0 ? result : history_take_change(server, &there, uuid, err);
}

static int push_changes(struct history *server, struct history *file, size_t *ret_n, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    int result = history_list_changes(file, NULL, NULL, 0, 0, &changes, &n, err);
    for (size_t i = n; i-- > 0 && result >= 0;) {
        result = push_change(server, file, &changes[i], err);
        *ret_n += result > 0;
    }
    free(changes);
    return result < 0 ? result : 0;
}

int history_push(struct history *server, struct history *file, size_t *ret_n_runs, size_t *ret_n_changes,
                 struct err *err)
{
    const struct history_filter all = {0};
    struct history_info *runs = NULL;
    size_t n = 0;
    *ret_n_runs = *ret_n_changes = 0;
    int result = history_list_runs(file, &all, &runs, &n, err);
    for (size_t i = n; i-- > 0 && result >= 0;) {
        const bool is_old = runs[i].started_s < file->now_s(file->now_context) - UNDER_WAY_S;
        if (runs[i].status == HISTORY_UNFINISHED && !is_old)
            continue;
        result = push_run(server, file, &runs[i], err);
        *ret_n_runs += result > 0;
    }
    free(runs);
    return result < 0 ? result : push_changes(server, file, ret_n_changes, err);
}
