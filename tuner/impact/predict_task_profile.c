/* The task vector from a profile of a program's I/O. */
#include "tuner/impact/predict_task.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "fstune/profile/1"
#define MOSTLY 0.5 /* share of the requests, from which on those that are direct decide */

struct io_profile {
    struct predict_task *task;
    const json_t *document, *pattern;
    bool is_durable; /* each write is */
};

/* Shares of the requests in order and at random become operations of each size that the profile names. */
static int add_direction(const struct io_profile *profile, const char *direction, const char *state,
                         struct err *err)
{
    const json_t *sizes = json_object_get(json_object_get(profile->document, "request_size"), direction);
    const json_t *modes = json_object_get(sizes, "modes");
    const double n = json_read_number(json_object_get(profile->document, "requests"), direction);
    char key[32], name[ATOMS_NAME_SIZE], size[UNITS_TEXT_SIZE];
    double shares[2], known = 0;
    for (int random = 0; random < 2; random++) {
        snprintf(key, sizeof key, "%s_%s", random ? "rand" : "seq", direction);
        shares[random] = json_read_number(profile->pattern, key);
    }
    if (!(n > 0))
        return 0;
    if (!(shares[0] + shares[1] > 0) || json_array_size(modes) == 0)
        return err_set(err, -EINVAL, "the profile has %.0f %ss and no pattern or no sizes of them", n,
                       direction);
    for (size_t i = 0; i < json_array_size(modes); i++)
        known += json_read_number(json_array_get(modes, i), "share");
    for (size_t i = 0; i < json_array_size(modes); i++) {
        const json_t *mode = json_array_get(modes, i);
        const double bytes = json_read_number(mode, "bytes"), share = json_read_number(mode, "share") / known;
        if (!(bytes >= 1) || !(share > 0))
            return err_set(err, -EINVAL, "a size of the profile's %ss is no size", direction);
        units_format_size((uint64_t)bytes, size);
        for (int random = 0; random < 2; random++) {
            const double count = n * share * shares[random] / (shares[0] + shares[1]);
            snprintf(name, sizeof name, "%s%s_%.12s_%s", random ? "rand" : "", direction, size, state);
            int result = count > 0 ? predict_task_add(profile->task, name, count, err) : 0;
            if (result < 0)
                return result;
        }
    }
    return 0;
}

static int take_profile(struct predict_task *task, const json_t *document, struct err *err)
{
    const json_t *requests = json_object_get(document, "requests");
    const double n_flushes = json_read_number(requests, "flush");
    struct io_profile profile = {
        .task = task, .document = document, .pattern = json_object_get(document, "pattern")};
    if (strcmp(json_read_text(document, "schema", ""), SCHEMA) != 0)
        return err_set(err, -EINVAL, "its schema is not " SCHEMA "; give what fstune profile --output wrote");
    profile.is_durable =
        strcmp(json_read_text(json_object_get(document, "sync"), "kind", "none"), "each") == 0;
    const double direct = json_read_number(document, "direct_share");
    task->depth = json_read_number(json_object_get(document, "queue_depth"), "mean");
    if (!profile.is_durable && direct > MOSTLY && json_read_number(requests, "write") > 0)
        return err_set(
            err, -EINVAL,
            "%.0f %% of its requests are direct, and atoms --io times direct writes only where each "
            "is durable; give counts of write_SIZE_durable as a CSV",
            100 * direct);
    int result = add_direction(&profile, "read", "cold", err);
    if (result == 0)
        result = add_direction(&profile, "write", profile.is_durable ? "durable" : "warm", err);
    return result == 0 && !profile.is_durable && n_flushes > 0
               ? predict_task_add(task, "fsync", n_flushes, err)
               : result;
}

int predict_task_read_profile(struct predict_task *task, const char *path, struct err *err)
{
    json_t *document = json_read_file(path, err);
    if (document == NULL)
        return err->code;
    int result = take_profile(task, document, err);
    json_decref(document);
    return result < 0 ? err_prefix(err, "%.200s", path) : 0;
}
