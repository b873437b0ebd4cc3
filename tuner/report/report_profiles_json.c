/* Profiles and front as JSON. */
#include "tuner/base/json.h"
#include "tuner/options/settings.h"
#include "tuner/report/report_objective.h"
#include "tuner/report/report_profiles.h"
#include "tuner/search/profiles.h"
#include "tuner/search/tune.h"
#include "tuner/session/json_row.h"
#include "tuner/session/samples.h"

#include <jansson.h>
#include <stddef.h>

static json_t *json_profile(const struct tune *tune, enum profile profile)
{
    size_t point = tune->profiles.point[profile];
    const struct profiles_verdict *verdict = &tune->profiles.verdict[profile];
    struct row row;
    if (point == TUNE_NONE || tune_row(tune, point, verdict->confirming, &row) < 0)
        return json_null();
    json_t *object = json_row(&row);
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "recommended", json_boolean(point == tune->chosen));
    json_object_set_new(object, "after_the_choice", json_boolean(verdict->confirming));
    json_object_set_new(object, "probability_fits_best", json_number(verdict->on_top));
    json_object_set_new(object, "probability_on_front", json_number(verdict->on_front));
    json_object_set_new(object, "throughput_ratio", report_objective_json_ratio(verdict->throughput));
    json_object_set_new(object, "latency_ratio", report_objective_json_ratio(verdict->latency));
    json_object_set_new(object, "explored", json_boolean(verdict->explored));
    json_object_set_new(object, "points_near", json_integer((json_int_t)verdict->n_near));
    json_object_set_new(object, "neighbours", json_integer((json_int_t)verdict->n_neighbours));
    json_object_set_new(object, "neighbours_measured",
                        json_integer((json_int_t)verdict->n_neighbours_measured));
    return object;
}

static json_t *json_profiles(const struct tune *tune)
{
    json_t *object = json_object();
    for (size_t p = 0; p < PROFILE_N && object != NULL; p++)
        json_object_set_new(object, profiles_names[p], json_profile(tune, (enum profile)p));
    return object;
}

static json_t *json_names(const struct tune *tune, size_t point)
{
    json_t *list = json_array();
    for (size_t p = 0; p < PROFILE_N && list != NULL; p++) {
        if (tune->profiles.point[p] == point)
            json_array_append_new(list, json_string(profiles_names[p]));
    }
    return list;
}

static json_t *json_front(const struct tune *tune)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tune->profiles.n_front && list != NULL; i++) {
        const struct profiles_rank *rank = &tune->profiles.front[i];
        struct row row;
        if (tune_row(tune, rank->point, false, &row) < 0)
            continue;
        json_t *object = json_row(&row);
        json_object_set_new(object, "probability_on_front", json_number(rank->on_front));
        json_object_set_new(object, "profiles", json_names(tune, rank->point));
        json_array_append_new(list, object);
    }
    return list;
}

void report_profiles_json(json_t *object, const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    bool named = settings->search.objective == OBJECTIVE_THROUGHPUT;
    json_object_set_new(object, "profile",
                        named ? json_string(profiles_names[settings->search.profile]) : json_null());
    if (!profiles_wanted(settings))
        return;
    bool judged = tune->profiles.judged;
    json_object_set_new(object, "profiles", judged ? json_profiles(tune) : json_null());
    json_object_set_new(object, "pareto", judged ? json_front(tune) : json_array());
}
