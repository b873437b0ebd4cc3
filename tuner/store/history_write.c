/* tuner/store/history: writing runs, replays and changes, and what tells storage apart. */
#include "tuner/store/history.h"

#include "tuner/base/json.h"
#include "tuner/session/session.h"
#include "tuner/store/history_row.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* FNV-1a with 64 bits (Fowler, Noll, Vo 1991). */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME  0x100000001b3ULL

void history_fingerprint(const char *identity, char ret_fingerprint[HISTORY_FINGERPRINT_SIZE])
{
    uint64_t hash = FNV_OFFSET;
    for (const unsigned char *c = (const unsigned char *)identity; *c != '\0'; c++)
        hash = (hash ^ *c) * FNV_PRIME;
    snprintf(ret_fingerprint, HISTORY_FINGERPRINT_SIZE, "%016" PRIx64, hash);
}

static void copy_fact(json_t *identity, const struct hostinfo *host, const char *key)
{
    const struct hostinfo_fact *fact = hostinfo_find(host, key);
    if (fact != NULL)
        json_object_set_new(identity, key,
                            fact->kind == HOSTINFO_TEXT ? json_text(fact->text) : json_number(fact->number));
}

/* Names like sda follow the order in which disks were found at this boot: a model and a size say more. */
static void copy_device(json_t *identity, const struct hostinfo *host)
{
    if (hostinfo_find(host, "loop_backing_file") != NULL) {
        copy_fact(identity, host, "loop_backing_file");
    } else if (hostinfo_find(host, "device_model") != NULL) {
        copy_fact(identity, host, "device_model");
        copy_fact(identity, host, "fs_size_bytes");
    } else {
        copy_fact(identity, host, "mount_source");
    }
}

char *history_identity(const struct session *session)
{
    static const char *const keys[] = {"file_system",         "mount_options",        "fs_block_bytes",
                                       "logical_block_bytes", "physical_block_bytes", "rotational"};
    json_t *identity = json_object();
    if (session->simulated) {
        json_object_set_new(identity, "surface", json_text(session->simulator.name));
        json_object_set_new(identity, "points", json_integer((json_int_t)session->simulator.n_cells));
    } else {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            copy_fact(identity, &session->host, keys[i]);
        copy_device(identity, &session->host);
    }
    char *text = identity == NULL ? NULL : json_dumps(identity, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(identity);
    return text;
}

/* 128 bits of chance, so that runs of all machines can lie in one file. */
static int make_uuid(char text[HISTORY_UUID_SIZE], struct err *err)
{
    unsigned char bytes[(HISTORY_UUID_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_sys(err, -EIO, "no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int host_id(struct sql *db, const char *name, int64_t *ret_id, struct err *err)
{
    return sql_find_or_add(db, ret_id, err, "SELECT id FROM hosts WHERE name = ?", 1,
                           "INSERT INTO hosts(name) VALUES(?) ON CONFLICT DO NOTHING", "t", name);
}

static int target_id(struct sql *db, const char *identity, int64_t *ret_id, struct err *err)
{
    char fingerprint[HISTORY_FINGERPRINT_SIZE];
    history_fingerprint(identity, fingerprint);
    return sql_find_or_add(db, ret_id, err, "SELECT id FROM targets WHERE fingerprint = ?", 1,
                           "INSERT INTO targets(fingerprint, identity) VALUES(?, ?) ON CONFLICT DO NOTHING",
                           "tt", fingerprint, identity);
}

static int insert_run(struct history *history, const struct history_header *header, const char *settings,
                      const char *system, int64_t *ret_run_id, struct err *err)
{
    struct sql *db = &history->db;
    char uuid[HISTORY_UUID_SIZE];
    int64_t host, target;
    int result = make_uuid(uuid, err);
    if (result == 0)
        result = host_id(db, header->hostname, &host, err);
    if (result == 0)
        result = target_id(db, header->identity, &target, err);
    if (result == 0)
        result = sql_do(
            db, err,
            "INSERT INTO runs(uuid, host_id, target_id, name, command, pattern, version, seed, settings, "
            "system, started_s) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            "tiittttittd", uuid, host, target, header->target, header->command, header->pattern,
            FSTUNE_VERSION, (int64_t)header->seed, settings, system, history->now_s(history->now_context));
    if (result == 0)
        result = sql_number(db, ret_run_id, err, "SELECT id FROM runs WHERE uuid = ?", "t", uuid);
    return result;
}

int history_begin_run(struct history *history, const struct history_header *header, int64_t *ret_run_id,
                      struct err *err)
{
    char *settings = header->settings != NULL ? json_dumps(header->settings, JSON_COMPACT) : NULL;
    char *system = header->system != NULL ? json_dumps(header->system, JSON_COMPACT) : NULL;
    int result = sql_begin(&history->db, true, err);
    if (result == 0)
        result = sql_end(&history->db, insert_run(history, header, settings, system, ret_run_id, err), err);
    free(settings);
    free(system);
    return result;
}

int history_add_replay(struct history *history, int64_t run_id, const struct history_replay *replay,
                       struct err *err)
{
    int result = sql_begin(&history->db, false, err);
    if (result < 0)
        return result;
    return sql_end(&history->db, history_row_add_replay(&history->db, run_id, replay, err), err);
}

int history_set_aside(struct history *history, int64_t run_id, struct err *err)
{
    int result = sql_begin(&history->db, false, err);
    if (result < 0)
        return result;
    return sql_end(&history->db,
                   sql_do(&history->db, err, "UPDATE replays SET aside = 1 WHERE run_id = ?", "i", run_id),
                   err);
}

static int insert_recommendation(struct sql *db, int64_t run_id, const json_t *document, struct err *err)
{
    struct recommendation recommendation;
    int64_t point;
    if (recommendation_read(&recommendation, document, NULL) < 0)
        return 0;
    int result = history_row_point_id(db, &recommendation.point, &point, err);
    if (result < 0)
        return result;
    return sql_do(db, err, "INSERT INTO recommendations VALUES(?, ?, ?, ?, ?, ?)", "iidddi", run_id, point,
                  recommendation.mean_bps, recommendation.ci_low_bps, recommendation.ci_high_bps,
                  (int64_t)recommendation.conclusive);
}

static int end_run(struct history *history, int64_t run_id, enum history_status status, int exit_code,
                   const char *document, struct err *err)
{
    struct sql *db = &history->db;
    int result = sql_do(db, err,
                        "UPDATE runs SET finished_s = ?, status = ?, exit_code = ?, "
                        "n_replays = (SELECT count(*) FROM replays WHERE run_id = runs.id) WHERE id "
                        "= ? AND finished_s IS NULL",
                        "dtii", history->now_s(history->now_context), history_status_names[status],
                        (int64_t)exit_code, run_id);
    if (result == 0 && sql_n_changed(db) != 1)
        return err_set(err, -ENOENT, "there is no such run under way");
    if (result == 0 && document != NULL)
        result = sql_do(db, err, "INSERT INTO documents VALUES(?, ?)", "it", run_id, document);
    return result;
}

int history_finish_run(struct history *history, int64_t run_id, enum history_status status, int exit_code,
                       const json_t *document, struct err *err)
{
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    int result = document != NULL && text == NULL ? err_set(err, -ENOMEM, "no memory for the answer")
                                                  : sql_begin(&history->db, true, err);
    if (result == 0) {
        result = end_run(history, run_id, status, exit_code, text, err);
        if (result == 0 && document != NULL)
            result = insert_recommendation(&history->db, run_id, document, err);
        result = sql_end(&history->db, result, err);
    }
    free(text);
    return result;
}

static int insert_change(struct history *history, const struct history_change *change, struct err *err)
{
    struct sql *db = &history->db;
    char uuid[HISTORY_UUID_SIZE];
    int64_t host, from = 0, to = 0;
    int result = make_uuid(uuid, err);
    if (result == 0)
        result = host_id(db, change->host, &host, err);
    if (result == 0 && change->has_from)
        result = history_row_point_id(db, &change->from, &from, err);
    if (result == 0 && change->has_to)
        result = history_row_point_id(db, &change->to, &to, err);
    if (result < 0)
        return result;
    return sql_do(
        db, err,
        "INSERT INTO changes(uuid, host_id, target, kind, at_s, from_point_id, to_point_id, run_id, "
        "other_run_id, text) VALUES(?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), nullif(?, 0), "
        "?)",
        "tittdiiiit", uuid, host, change->target, history_kind_names[change->kind],
        history->now_s(history->now_context), from, to, change->run_ids[0], change->run_ids[1], change->text);
}

int history_add_change(struct history *history, const struct history_change *change, struct err *err)
{
    int result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    return sql_end(&history->db, insert_change(history, change, err), err);
}
