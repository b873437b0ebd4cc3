/* tuner/store/events: what analysers read. */
#include "tuner/store/events_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int events_find(struct events *events, int64_t id, struct events_run *ret_run, struct err *err)
{
    struct sql_rows *rows;
    int result = sql_query(&events->db, &rows, err,
                           "SELECT id, command, source, started_s, seconds, sample_ns, lost,"
                           " (SELECT count(*) FROM events WHERE run_id = runs.id) FROM runs"
                           " WHERE id = ?1 OR ?1 = 0 ORDER BY id DESC LIMIT 1",
                           "i", id);
    if (result == 0)
        result = sql_step(rows, err);
    if (result == 1) {
        *ret_run = (struct events_run){.id = sql_int64(rows, 0),
                                       .started_s = sql_double(rows, 3),
                                       .seconds = sql_double(rows, 4),
                                       .sample_ns = (uint64_t)sql_int64(rows, 5),
                                       .n_lost = (uint64_t)sql_int64(rows, 6),
                                       .n = (uint64_t)sql_int64(rows, 7)};
        sql_text(rows, 1, ret_run->command, sizeof ret_run->command);
        sql_text(rows, 2, ret_run->source, sizeof ret_run->source);
    }
    sql_done(rows);
    if (result == 0)
        return id == 0 ? err_set(err, -ENOENT, "it holds no recording")
                       : err_set(err, -ENOENT, "it holds no recording %" PRId64, id);
    return result < 0 ? result : 0;
}

/* A row that no fstune writes is damage. */
static int read_row(struct sql_rows *rows, struct events_row *row, struct err *err)
{
    uint64_t values[11];
    for (int i = 0; i < 11; i++)
        values[i] = (uint64_t)sql_int64(rows, i);
    *row = (struct events_row){.kind = (enum events_kind)values[0],
                               .time_ns = values[1],
                               .duration_ns = values[2],
                               .process = (uint32_t)values[3],
                               .thread = (uint32_t)values[4],
                               .handle = (uint32_t)values[5],
                               .flags = (uint32_t)values[6],
                               .object = values[7],
                               .offset_bytes = values[8],
                               .n_bytes = values[9],
                               .n = values[10]};
    if (!events_row_is_sound(row))
        return err_set(err, -EBADMSG, "it holds an event that makes no sense; restore a copy");
    return 0;
}

int events_each(struct events *events, int64_t id,
                int (*take)(void *data, const struct events_row *row, struct err *err), void *data,
                struct err *err)
{
    struct sql_rows *rows;
    struct events_row row;
    int result = sql_query(
        &events->db, &rows, err,
        "SELECT kind, time_ns, duration_ns, process, thread, handle, flags, object_id, offset_bytes, bytes, n"
        " FROM events WHERE run_id = ? ORDER BY time_ns, rowid",
        "i", id);
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        result = read_row(rows, &row, err);
        if (result == 0)
            result = take(data, &row, err);
    }
    sql_done(rows);
    return result;
}

int events_name_of(struct events *events, int64_t id, uint64_t object, char *ret_name, size_t size,
                   struct err *err)
{
    struct sql_rows *rows;
    int result = sql_query(&events->db, &rows, err, "SELECT name FROM objects WHERE run_id = ? AND id = ?",
                           "ii", id, (int64_t)object);
    result = result == 0 ? sql_step(rows, err) : result;
    const char *name = result == 1 ? sql_string(rows, 0) : NULL;
    snprintf(ret_name, size, "%s", name != NULL ? name : "");
    sql_done(rows);
    return result < 0 ? result : 0;
}

int events_each_name(struct events *events, int64_t id,
                     void (*take)(void *data, uint64_t object, const char *name), void *data, struct err *err)
{
    struct sql_rows *rows;
    int result = sql_query(&events->db, &rows, err, "SELECT id, name FROM objects WHERE run_id = ?", "i", id);
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        const char *name = sql_string(rows, 1);
        if (name != NULL)
            take(data, (uint64_t)sql_int64(rows, 0), name);
        result = 0;
    }
    sql_done(rows);
    return result;
}

int events_each_file(struct events *events, int64_t id,
                     int (*take)(void *data, const struct events_file *file, struct err *err), void *data,
                     struct err *err)
{
    struct sql_rows *rows;
    int result = sql_query(&events->db, &rows, err,
                           "SELECT object_id, count(*), max(offset_bytes + bytes) FROM events"
                           " WHERE run_id = ? AND kind IN (1, 2) GROUP BY object_id"
                           " ORDER BY min(time_ns), object_id",
                           "i", id);
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        const struct events_file file = {(uint64_t)sql_int64(rows, 0), (uint64_t)sql_int64(rows, 1),
                                         (uint64_t)sql_int64(rows, 2)};
        /* No file system has larger ones, and so many of these have a sum. */
        if (file.end_bytes > EVENTS_FILE_BYTES)
            result = err_set(err, -EBADMSG, "it holds a request that makes no sense; restore a copy");
        else
            result = take(data, &file, err);
    }
    sql_done(rows);
    return result;
}
