/* What the runs of a journal mean. */
#include "tuner/store/resume_header.h"

#include "tuner/base/json.h"
#include "tuner/options/skew_text.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Not in every header: what has none of them differs from what has. */
#define OPTIONAL_BESIDE "beside"
#define OPTIONAL_DEVICE "device_by_id"
#define OPTIONAL_RATE   "rate"
#define OPTIONAL_SKEW   "skew"
#define OPTIONAL_DATA   "content"
#define OPTIONAL_PLACES "members"

/* What tells one file system from another, as members of the header. */
static void set_place(json_t *header, const struct session *session)
{
    static const char *const keys[] = {"hostname", "file_system", "mount_source"};
    json_object_set_new(header, "simulated", json_boolean(session->simulated));
    if (session->simulated) {
        json_object_set_new(header, "surface", json_text(session->simulator.name));
        json_object_set_new(header, "surface_points", json_integer((json_int_t)session->simulator.n_cells));
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set_new(header, keys[i], json_text(hostinfo_text(&session->host, keys[i])));
    json_object_set_new(header, "existing", json_text(session->settings->file.existing));
    json_t *members = settings_n_places(session->settings) > 1 ? json_array() : NULL;
    for (size_t i = 0; i < settings_n_places(session->settings) && members != NULL; i++)
        json_array_append_new(members, json_text(settings_nth_place(session->settings, i)));
    if (members != NULL)
        json_object_set_new(header, OPTIONAL_PLACES, members);
    /* A disk may have the name that another one had yesterday. */
    const char *link = hostinfo_text(&session->host, OPTIONAL_DEVICE);
    if (link != NULL && link[0] != '\0')
        json_object_set_new(header, OPTIONAL_DEVICE, json_text(link));
}

/* Levels as they were asked for; empty: the default. */
static void set_space(json_t *header, const struct settings *settings)
{
    for (int factor = 0; factor < FACTOR_N; factor++) {
        const struct levels *levels = &settings->workload.levels[factor];
        json_t *list = json_array();
        for (size_t i = 0; i < levels->n && list != NULL; i++)
            json_array_append_new(list, json_integer((json_int_t)levels->value[i]));
        json_object_set_new(header, factors_keys[factor], list);
    }
}

static void set_rules(json_t *header, const struct session *session)
{
    const struct settings *settings = session->settings;
    const struct {
        const char *key;
        uint64_t value;
    } rules[] = {
        {"file_size", settings->file.size_given ? settings->file.size_bytes : 0},
        {"duration_ns", settings->runs.duration_ns},
        {"warmup_limit_ns", settings->runs.warmup_limit_ns},
        {"warmup_window", settings->runs.warmup_window},
        {"batch", settings->runs.batch_requests},
        {"advise", settings->workload.advise},
        {"shared_region", settings->workload.shared_region},
        {"split_sizes", settings->workload.split_sizes},
        {"io_uring_cooperative", settings_wants_modern_ring(settings)},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        /* The unlimited warm-up is -1. */
        json_object_set_new(header, rules[i].key, json_integer((json_int_t)rules[i].value));
    json_object_set_new(header, "objective",
                        json_string(settings_objective_names[settings->search.objective]));
    json_object_set_new(header, "profile", json_integer(settings->search.profile));
    json_object_set_new(header, "rate_floor", json_number(settings->search.rate_floor_share));
    json_object_set_new(header, "tolerance", json_number(settings->search.tolerance_share));
    json_object_set_new(header, "warmup_coef", json_number(settings->runs.warmup_coef_share));
    json_object_set_new(header, "cache",
                        json_string(session->env.cache == MEASURE_CACHE_WARM ? "warm" : "cold"));
    json_t *beside = settings->beside.n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < settings->beside.n && beside != NULL; i++)
        json_array_append_new(beside, json_text(settings->beside.text[i]));
    if (beside != NULL)
        json_object_set_new(header, OPTIONAL_BESIDE, beside);
    char skew[SKEW_TEXT_SIZE];
    if (skew_text_format(&settings->workload.skew, skew)[0] != '\0')
        json_object_set_new(header, OPTIONAL_SKEW, json_string(skew));
    const struct content *content = &settings->workload.content;
    if (!content_is_plain(content))
        json_object_set_new(
            header, OPTIONAL_DATA,
            json_pack("[o, o]", json_number(content->zero_share), json_number(content->repeat_share)));
    const struct settings_rates *rates = &settings->workload.rates;
    /* `measure` offers its rates beside the replays that are kept. */
    if (rates->n > 0 && settings->search.objective != OBJECTIVE_THROUGHPUT)
        json_object_set_new(header, OPTIONAL_RATE,
                            json_pack("[o, i, i]", json_number(rates->value[0]), (int)rates->unit,
                                      (int)settings->workload.rate_process));
}

json_t *resume_header_make(const struct session *session, uint64_t run_ns)
{
    json_t *header = json_object();
    if (header == NULL)
        return NULL;
    json_object_set_new(header, "schema", json_string(JOURNAL_SCHEMA));
    json_object_set_new(header, "version", json_string(FSTUNE_VERSION));
    json_object_set_new(header, "pattern", json_text(session->settings->workload.pattern.name));
    set_space(header, session->settings);
    set_place(header, session);
    set_rules(header, session);
    json_object_set_new(header, "seed", json_integer((json_int_t)session->seed));
    json_object_set_new(header, "run_ns", json_integer((json_int_t)run_ns));
    return header;
}

static int refuse_resume_key(const char *key, const json_t *here, const json_t *there, struct err *err)
{
    char *own = here == NULL ? NULL : json_dumps(here, JSON_ENCODE_ANY | JSON_COMPACT),
         *other = there == NULL ? NULL : json_dumps(there, JSON_ENCODE_ANY | JSON_COMPACT);
    err_set(err, -EINVAL, "%s is %.150s here and %.150s in the journal; name another file", key,
            own != NULL ? own : "missing", other != NULL ? other : "missing");
    free(own);
    free(other);
    return -EINVAL;
}

static bool is_left_to_journal(const struct session *session, const char *key)
{
    if (strcmp(key, "seed") == 0)
        return !session->settings->seed_given;
    return strcmp(key, "run_ns") == 0;
}

int resume_header_check(const struct session *session, const json_t *header, struct err *err)
{
    return resume_header_compare(session, resume_header_make(session, 0), header, err);
}

int resume_header_compare(const struct session *session, json_t *own, const json_t *header, struct err *err)
{
    json_t *here = NULL;
    const char *key = NULL;
    int result = own == NULL ? err_set(err, -ENOMEM, "no memory for a header") : 0;
    json_object_foreach(own, key, here)
    {
        const json_t *there = json_object_get(header, key);
        if (result == 0 && !is_left_to_journal(session, key) && !json_equal(here, there))
            result = refuse_resume_key(key, here, there, err);
    }
    static const char *const optional[] = {OPTIONAL_BESIDE, OPTIONAL_DEVICE, OPTIONAL_RATE,
                                           OPTIONAL_SKEW,   OPTIONAL_DATA,   OPTIONAL_PLACES};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        const json_t *there = json_object_get(header, optional[i]);
        if (result == 0 && there != NULL && json_object_get(own, optional[i]) == NULL)
            result = refuse_resume_key(optional[i], NULL, there, err);
    }
    json_decref(own);
    return result;
}
