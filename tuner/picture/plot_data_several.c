/* Several results as one: a setting of each, so that a picture shows them side by side. */
#include "tuner/picture/plot_slice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_PATH 200

/* "before" of "results/before.json". */
static void name_result(const char *path, char name[PLOT_LEVEL_SIZE])
{
    const char *slash = strrchr(path, '/');
    snprintf(name, PLOT_LEVEL_SIZE, "%s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
}

static int copy_level(struct plot_data *data, const struct plot_data *part, const struct plot_point *point,
                      size_t factor, uint16_t *ret_level)
{
    *ret_level = PLOT_NO_LEVEL;
    if (point->level[factor] == PLOT_NO_LEVEL)
        return 0;
    const struct plot_level *level = &part->levels[factor].level[point->level[factor]];
    /* Its text is for people. */
    const char *text = factor != PLOT_FACTOR_DIRECT ? level->text : level->number > 0 ? "1" : "0";
    return plot_data_level(data, factor, text, ret_level);
}

/* Results of one name get texts of their own in the end. */
static int add_result(struct plot_data *data, const char *path, const struct plot_data *part,
                      const struct plot_point *point, struct err *err)
{
    char name[PLOT_LEVEL_SIZE], numbered[PLOT_LEVEL_SIZE];
    uint16_t level[PLOT_FACTOR_N];
    size_t added;
    int result = 0;
    name_result(path, name);
    snprintf(numbered, sizeof numbered, "%zu %.60s", data->n_points, name);
    for (size_t factor = 0; factor < PLOT_FACTOR_N && result == 0; factor++)
        result = factor == PLOT_FACTOR_RESULT ? plot_data_level(data, factor, numbered, &level[factor])
                                              : copy_level(data, part, point, factor, &level[factor]);
    if (result == 0)
        result = plot_data_point(data, level, &added);
    if (result < 0)
        return err_set(err, result, "no memory");
    data->points[added] = *point;
    memcpy(data->points[added].level, level, sizeof level);
    data->points[added].marks &= PLOT_DISTRUSTED;
    return 0;
}

/* What a picture of several can show of one file. */
static int take_result(struct plot_data *data, const char *path, const char *where, struct err *err)
{
    struct plot_data part = {0};
    struct plot_where chosen;
    const struct plot_point *point = NULL;
    int result = plot_data_load(&part, path, err);
    if (result == 0 && (part.source == PLOT_JOURNAL || part.source == PLOT_PREDICTION))
        result = err_set(err, -EINVAL, "a %s is drawn alone; give results of --json",
                         part.source == PLOT_JOURNAL ? "journal" : "prediction");
    if (result == 0 && (part.source == PLOT_ATOMS || part.source == PLOT_COST))
        result = err_set(err, -EINVAL, "no setting was measured in it; use plot atoms or plot cost");
    if (result == 0)
        result = plot_where_read(&chosen, where, &part, err);
    if (result == 0 && data->n_points > 0 && part.confidence_share != data->confidence_share)
        result = err_set(err, -EINVAL, "its intervals are at %g %%, those of the first result at %g %%",
                         100 * part.confidence_share, 100 * data->confidence_share);
    if (result == 0 && (point = plot_slice_anchor(&part, &chosen)) == NULL)
        result = err_set(err, -ENODATA, "no trustworthy point is in it; see --where");
    if (result == 0) {
        data->confidence_share = part.confidence_share;
        result = add_result(data, path, &part, point, err);
    }
    plot_data_done(&part);
    return result;
}

static bool varies(const struct plot_data *data, size_t factor)
{
    for (size_t i = 1; i < data->n_points; i++) {
        if (data->points[i].level[factor] != data->points[0].level[factor])
            return true;
    }
    return false;
}

/* Gives each result its name and what its setting has of its own; the picture's head says the rest. */
static void title_results(struct plot_data *data, const struct settings_files *files)
{
    bool shown[PLOT_FACTOR_N];
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        shown[factor] = factor != PLOT_FACTOR_RESULT && varies(data, factor);
    for (size_t i = 0; i < data->n_points; i++) {
        char name[PLOT_LEVEL_SIZE], words[PLOT_TEXT_SIZE];
        struct plot_level *level = &data->levels[PLOT_FACTOR_RESULT].level[i];
        name_result(files->path[i], name);
        plot_slice_join(data, &data->points[i], shown, words);
        snprintf(level->text, sizeof level->text, "%.30s%s%.46s", name, words[0] != '\0' ? ": " : "", words);
    }
    for (size_t i = 0; i < data->n_points; i++) {
        for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
            data->points[i].level[factor] = shown[factor] ? PLOT_NO_LEVEL : data->points[i].level[factor];
    }
}

/* Two of the same text would be one bar. */
static int refuse_twins(const struct plot_data *data, const struct settings_files *files, struct err *err)
{
    const struct plot_level *level = data->levels[PLOT_FACTOR_RESULT].level;
    for (size_t i = 1; i < data->n_points; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(level[i].text, level[k].text) == 0)
                return err_set(err, -EINVAL,
                               "--from %.*s: another result has that name; name the files apart", SHOWN_PATH,
                               files->path[i]);
        }
    }
    return 0;
}

int plot_data_several(struct plot_data *data, const struct settings_files *files, const char *where,
                      struct err *err)
{
    int result = 0;
    *data = (struct plot_data){.burst_seconds = NAN, .pattern = PLOT_NO_LEVEL};
    for (size_t i = 0; i < files->n && result == 0; i++) {
        result = take_result(data, files->path[i], where, err);
        if (result < 0)
            err_prefix(err, "--from %.*s", SHOWN_PATH, files->path[i]);
    }
    if (result < 0)
        return result;
    title_results(data, files);
    return refuse_twins(data, files, err);
}
