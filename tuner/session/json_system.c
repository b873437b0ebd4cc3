/* The recorded system as JSON. */
#include "tuner/session/json_system.h"

#include "tuner/base/json.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>

static json_t *json_fact(const struct hostinfo_fact *fact)
{
    switch (fact->kind) {
    case HOSTINFO_TEXT:
        return json_text(fact->text);
    case HOSTINFO_FLAG:
        return json_boolean(fact->number != 0);
    default:
        return json_number(fact->number);
    }
}

/* Where and when: what an answer that is read later can be told apart by. */
static void set_origin(json_t *object, const struct session *session)
{
    char path[PATH_MAX], text[40];
    struct tm parts;
    time_t now = time(NULL);
    const char *given = session->settings->file.path;
    json_object_set_new(object, "path", json_text(realpath(given, path) != NULL ? path : given));
    if (gmtime_r(&now, &parts) != NULL && strftime(text, sizeof text, "%FT%TZ", &parts) > 0)
        json_object_set_new(object, "measured_at", json_string(text));
}

json_t *json_system(const struct session *session)
{
    if (session->simulated)
        return json_pack("{s:b, s:o}", "simulated", 1, "surface", json_text(session->simulator.name));
    json_t *object = json_pack("{s:b}", "simulated", 0);
    for (size_t i = 0; i < session->host.n && object != NULL; i++)
        json_object_set_new(object, session->host.facts[i].key, json_fact(&session->host.facts[i]));
    if (object == NULL)
        return NULL;
    set_origin(object, session);
    if (session->target.fd < 0)
        return object;
    json_object_set_new(object, "test_file_bytes", json_integer((json_int_t)session->target.size_bytes));
    json_object_set_new(object, "test_file_fill_bps", json_number(session->target.fill_bps));
    json_object_set_new(object, "direct_read_proved",
                        json_boolean(session->target.direct_read == TARGET_DIRECT_PROVED));
    json_object_set_new(object, "direct_write_proved",
                        json_boolean(session->target.direct_write == TARGET_DIRECT_PROVED));
    json_object_set_new(object, "direct_alignment_bytes",
                        json_integer(session->target.direct_offset_align_bytes));
    json_object_set_new(object, "cache",
                        json_string(session->env.cache == MEASURE_CACHE_COLD ? "cold" : "warm"));
    return object;
}
