/* tuner/store/history: writing runs, replays and changes, and what tells storage apart. */
#include "tuner/store/history.h"

#include "tuner/base/json.h"
#include "tuner/session/session.h"
#include "tuner/store/history_row.h"
#include "tuner/store/privacy.h"
#include "tuner/store/recommendation.h"

#include <errno.h>
#include <inttypes.h>
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

/* A document on its way into a row; without names where it leaves the machine. flags: of json_dumps. */
static int dump(struct history *history, const json_t *document, size_t flags, char **ret_text,
                struct err *err)
{
    json_t *veiled = NULL;
    *ret_text = NULL;
    if (document == NULL)
        return 0;
    if (history->privacy != NULL && (veiled = privacy_document(history->privacy, document)) == NULL)
        return err_set(err, -ENOMEM, "names cannot be hashed");
    *ret_text = json_dumps(veiled != NULL ? veiled : document, JSON_COMPACT | flags);
    json_decref(veiled);
    return *ret_text != NULL ? 0 : err_set(err, -ENOMEM, "no memory");
}

/* What a run's row says of its circumstances. */
struct texts {
    char *settings, *system, *identity;
    char host[HISTORY_TEXT_SIZE];
};

static void texts_done(struct texts *texts)
{
    free(texts->settings);
    free(texts->system);
    free(texts->identity);
}

/* The system first: it tells the names. */
static int texts_make(struct texts *texts, struct history *history, const struct history_header *header,
                      struct err *err)
{
    *texts = (struct texts){0};
    json_t *identity = json_loads(header->identity, 0, NULL);
    int result = dump(history, header->system, 0, &texts->system, err);
    if (result == 0)
        result = dump(history, header->settings, 0, &texts->settings, err);
    if (result == 0 && identity != NULL)
        result = dump(history, identity, JSON_SORT_KEYS, &texts->identity, err);
    json_decref(identity);
    if (result == 0 && texts->identity == NULL && (texts->identity = strdup(header->identity)) == NULL)
        result = err_set(err, -ENOMEM, "no memory");
    if (result == 0 && history->privacy != NULL)
        return privacy_name(history->privacy, header->hostname, texts->host, err);
    snprintf(texts->host, sizeof texts->host, "%s", header->hostname);
    return result;
}

static int insert_run(struct history *history, const struct history_header *header,
                      const struct history_origin *origin, int64_t *ret_run_id, struct err *err)
{
    struct sql *db = &history->db;
    struct texts texts;
    int64_t host, target;
    int result = texts_make(&texts, history, header, err);
    if (result == 0)
        result = host_id(db, texts.host, &host, err);
    if (result == 0)
        result = target_id(db, texts.identity, &target, err);
    if (result == 0)
        result = sql_do(
            db, err,
            "INSERT INTO runs(uuid, host_id, target_id, name, command, pattern, version, seed, settings, "
            "system, started_s) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            "tiittttittd", origin->uuid, host, target, header->target, header->command, header->pattern,
            origin->version, (int64_t)header->seed, texts.settings, texts.system, origin->started_s);
    if (result == 0)
        result = sql_number(db, ret_run_id, err, "SELECT id FROM runs WHERE uuid = ?", "t", origin->uuid);
    texts_done(&texts);
    return result;
}

int history_begin_run(struct history *history, const struct history_header *header, int64_t *ret_run_id,
                      struct err *err)
{
    struct history_origin origin = {.version = FSTUNE_VERSION,
                                    .started_s = history->now_s(history->now_context)};
    int result = make_uuid(origin.uuid, err);
    if (result == 0)
        result = sql_begin(&history->db, true, err);
    return result < 0 ? result
                      : sql_end(&history->db, insert_run(history, header, &origin, ret_run_id, err), err);
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
                   double finished_s, const char *document, struct err *err)
{
    struct sql *db = &history->db;
    int result = sql_do(
        db, err,
        "UPDATE runs SET finished_s = ?, status = ?, exit_code = ?, "
        "n_replays = (SELECT coalesce(sum(r.n_replays), 0) FROM replays r WHERE r.run_id = runs.id) WHERE id "
        "= ? AND finished_s IS NULL",
        "dtii", finished_s, history_status_names[status], (int64_t)exit_code, run_id);
    if (result == 0 && sql_n_changed(db) != 1)
        return err_set(err, -ENOENT, "there is no such run under way");
    if (result == 0 && document != NULL)
        result = sql_do(db, err, "INSERT INTO documents VALUES(?, ?)", "it", run_id, document);
    return result;
}

/* Its document first: a host may add nothing to a run that has its end. */
static int finish_run(struct history *history, int64_t run_id, enum history_status status, int exit_code,
                      double finished_s, const json_t *document, struct err *err)
{
    char *text;
    int result = dump(history, document, 0, &text, err);
    if (result == 0)
        result = end_run(history, run_id, status, exit_code, finished_s, text, err);
    if (result == 0 && document != NULL)
        result = insert_recommendation(&history->db, run_id, document, err);
    free(text);
    return result;
}

int history_finish_run(struct history *history, int64_t run_id, enum history_status status, int exit_code,
                       const json_t *document, struct err *err)
{
    int result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    return sql_end(
        &history->db,
        finish_run(history, run_id, status, exit_code, history->now_s(history->now_context), document, err),
        err);
}

static int insert_whole(struct history *history, const struct history_header *header,
                        const struct history_origin *origin, const struct history_replay *replays, size_t n,
                        const json_t *document, struct err *err)
{
    int64_t run_id = 0;
    int result = insert_run(history, header, origin, &run_id, err);
    for (size_t i = 0; i < n && result == 0; i++)
        result = history_row_add_replay(&history->db, run_id, &replays[i], err);
    if (result == 0 && origin->status != HISTORY_UNFINISHED)
        result =
            finish_run(history, run_id, origin->status, origin->exit_code, origin->finished_s, document, err);
    return result;
}

int history_take_run(struct history *history, const struct history_header *header,
                     const struct history_origin *origin, const struct history_replay *replays, size_t n,
                     const json_t *document, struct err *err)
{
    int64_t id;
    int result = sql_number(&history->db, &id, err, "SELECT id FROM runs WHERE uuid = ?", "t", origin->uuid);
    if (result != -ENOENT)
        return result;
    /* Points are everybody's: transactions that add the same in unlike order would wait for each other. */
    result = 0;
    for (size_t i = 0; i < n && result == 0; i++)
        result = history_row_point_id(&history->db, &replays[i].point, &id, err);
    if (result == 0)
        result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    result = sql_end(&history->db, insert_whole(history, header, origin, replays, n, document, err), err);
    /* Another push of the same run was faster. */
    return result == -EEXIST ? 0 : result < 0 ? result : 1;
}

static int insert_change(struct history *history, const struct history_change *change, const char *uuid,
                         int64_t *ret_n, struct err *err)
{
    struct sql *db = &history->db;
    int64_t host_row, from = 0, to = 0;
    int result = host_id(db, change->host, &host_row, err);
    if (result == 0 && change->has_from)
        result = history_row_point_id(db, &change->from, &from, err);
    if (result == 0 && change->has_to)
        result = history_row_point_id(db, &change->to, &to, err);
    if (result < 0)
        return result;
    result = sql_do(
        db, err,
        "INSERT INTO changes(uuid, host_id, target, kind, at_s, from_point_id, to_point_id, run_id, "
        "other_run_id, text) VALUES(?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), nullif(?, 0), "
        "?) ON CONFLICT DO NOTHING",
        "tittdiiiit", uuid, host_row, change->target, history_kind_names[change->kind], change->at_s, from,
        to, change->run_ids[0], change->run_ids[1], change->text);
    *ret_n = (int64_t)sql_n_changed(db);
    return result;
}

int history_take_change(struct history *history, const struct history_change *change, const char *uuid,
                        struct err *err)
{
    struct history_change veiled = *change;
    int64_t n = 0;
    int result = 0;
    if (history->privacy != NULL) {
        char host[PRIVACY_NAME_SIZE];
        result = privacy_name(history->privacy, change->host, host, err);
        snprintf(veiled.host, sizeof veiled.host, "%s", host);
        if (result == 0)
            result = privacy_text(history->privacy, change->text, veiled.text, sizeof veiled.text);
    }
    if (result == 0)
        result = sql_begin(&history->db, true, err);
    if (result < 0)
        return result;
    result = sql_end(&history->db, insert_change(history, &veiled, uuid, &n, err), err);
    return result < 0 ? result : (int)n;
}

int history_add_change(struct history *history, const struct history_change *change, struct err *err)
{
    char uuid[HISTORY_UUID_SIZE];
    struct history_change now = *change;
    int result = make_uuid(uuid, err);
    now.at_s = history->now_s(history->now_context);
    if (result == 0)
        result = history_take_change(history, &now, uuid, err);
    return result < 0 ? result : 0;
}
