/* Tables of watched places. */
#include "tuner/store/history_watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define HOUR_S     3600.0
#define MOST_HOURS 10000000 /* since 1970: the year 3110 */

/* A script that was released never changes. */
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS watched_places(id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS watched_hours(place_id INTEGER NOT NULL REFERENCES watched_places(id),"
    " hour INTEGER NOT NULL, kind TEXT NOT NULL, seconds REAL NOT NULL, requests INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, last_s REAL NOT NULL, PRIMARY KEY(place_id, hour, kind)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS watched_profiles(place_id INTEGER NOT NULL REFERENCES watched_places(id),"
    " kind TEXT NOT NULL, requests INTEGER NOT NULL, document TEXT NOT NULL,"
    " PRIMARY KEY(place_id, kind)) WITHOUT ROWID;";

static const char add_hour[] =
    "INSERT INTO watched_hours SELECT id, ?, ?, ?, ?, ?, ? FROM watched_places WHERE place = ? "
    "ON CONFLICT DO UPDATE SET seconds = seconds + excluded.seconds, requests = requests + "
    "excluded.requests, bytes = bytes + excluded.bytes, last_s = excluded.last_s";

static const char add_profile[] =
    "INSERT INTO watched_profiles SELECT id, ?, ?, ? FROM watched_places WHERE place = ? "
    "ON CONFLICT DO UPDATE SET requests = excluded.requests, document = excluded.document "
    "WHERE excluded.requests >= 2 * requests";

static int keep_profile(struct history *history, const char *place, const struct history_watch_slice *slice,
                        struct err *err)
{
    char *text = json_dumps(slice->profile, JSON_COMPACT);
    if (text == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result =
        sql_do(&history->db, err, add_profile, "titt", slice->kind, (int64_t)slice->n_requests, text, place);
    free(text);
    return result;
}

int history_watch_add(struct history *history, const char *place, const struct history_watch_slice *slice,
                      struct err *err)
{
    struct sql *db = &history->db;
    int result = sql_begin(db, false, err);
    if (result < 0)
        return result;
    result = sql_script(db, tables, err);
    if (result == 0)
        result = sql_do(db, err, "INSERT OR IGNORE INTO watched_places(place) VALUES(?)", "t", place);
    if (result == 0)
        result = sql_do(db, err, add_hour, "itdiidt", (int64_t)floor(slice->start_s / HOUR_S), slice->kind,
                        slice->seconds, (int64_t)slice->n_requests, (int64_t)slice->n_bytes,
                        slice->start_s + slice->seconds, place);
    if (result == 0 && slice->profile != NULL)
        result = keep_profile(history, place, slice, err);
    return sql_end(db, result, err);
}

/* Nothing was ever watched. */
static bool is_without(struct history *history)
{
    int64_t one;
    return sql_is_server(&history->db) ||
           sql_number(&history->db, &one, NULL, "SELECT 1 FROM sqlite_master WHERE name = 'watched_profiles'",
                      "") < 0;
}

static int read_place(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct history_watch_place *place = row;
    (void)context;
    (void)err;
    sql_text(rows, 0, place->place, sizeof place->place);
    place->first_s = HOUR_S * (double)sql_int64(rows, 1);
    place->last_s = sql_double(rows, 2);
    return 0;
}

int history_watch_places(struct history *history, struct history_watch_place **ret_places, size_t *ret_n,
                         struct err *err)
{
    struct sql_rows *rows;
    void *list = NULL;
    *ret_n = 0;
    *ret_places = NULL;
    if (is_without(history))
        return 0;
    int result = sql_query(&history->db, &rows, err,
                           "SELECT place, min(hour), max(last_s) FROM watched_places JOIN "
                           "watched_hours ON place_id = id GROUP BY id ORDER BY place",
                           "");
    result = sql_list(rows, result, sizeof **ret_places, read_place, NULL, &list, ret_n, err);
    *ret_places = list;
    return result;
}

static int read_hour(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct history_watch_hour *hour = row;
    (void)context;
    hour->hour = sql_int64(rows, 0);
    sql_text(rows, 1, hour->kind, sizeof hour->kind);
    hour->seconds = sql_double(rows, 2);
    hour->n_requests = (uint64_t)sql_int64(rows, 3);
    hour->n_bytes = (uint64_t)sql_int64(rows, 4);
    hour->last_s = sql_double(rows, 5);
    bool is_sound = hour->seconds >= 0 && hour->seconds < 1e9 && hour->hour >= 0 && hour->hour < MOST_HOURS &&
                    hour->last_s >= 0 && hour->last_s < MOST_HOURS * HOUR_S;
    return is_sound ? 0 : err_set(err, -EBADMSG, "the history is damaged: a watched hour is out of range");
}

int history_watch_hours(struct history *history, const char *place, double since_s,
                        struct history_watch_hour **ret_hours, size_t *ret_n, struct err *err)
{
    struct sql_rows *rows;
    void *list = NULL;
    *ret_n = 0;
    *ret_hours = NULL;
    if (is_without(history))
        return 0;
    int result = sql_query(&history->db, &rows, err,
                           "SELECT hour, kind, seconds, requests, bytes, last_s FROM watched_hours "
                           "JOIN watched_places ON place_id = id WHERE place = ? AND hour >= ? "
                           "ORDER BY hour, kind",
                           "ti", place, (int64_t)floor(since_s / HOUR_S));
    result = sql_list(rows, result, sizeof **ret_hours, read_hour, NULL, &list, ret_n, err);
    *ret_hours = list;
    return result;
}

int history_watch_profile(struct history *history, const char *place, const char *kind, json_t **ret_document,
                          struct err *err)
{
    struct sql_rows *rows = NULL;
    json_t *document = NULL;
    int result = is_without(history) ? -ENODATA : 0;
    if (result == 0)
        result = sql_query(&history->db, &rows, err,
                           "SELECT document FROM watched_profiles JOIN watched_places ON place_id "
                           "= id WHERE place = ? AND kind = ?",
                           "tt", place, kind);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 1)
        document = json_loads(sql_string(rows, 0), JSON_REJECT_DUPLICATES, NULL);
    sql_done(rows);
    if (result < 0 && result != -ENODATA)
        return result;
    if (document == NULL)
        return err_set(err, result == 1 ? -EBADMSG : -ENODATA, "%s has no profile of %s", place, kind);
    *ret_document = document;
    return 0;
}
