/* tuner/options/options_set_members: the setters of what is given once for each member. */
#include "tuner/options/options_set.h"

#include "tuner/options/options_value.h"

#include <errno.h>

static int set_member(struct settings *settings, const struct option_row *row, struct settings_more *more,
                      const char *text, struct err *err)
{
    struct option_row next = *row;
    size_t n = settings->file.one_more ? more->n + 1 : 0;
    if (n == MEMBERS_MOST)
        return err_set(err, -EINVAL, "'%.60s' is one member too many; give at most %d", text, MEMBERS_MOST);
    if (n > 0)
        next.place = (size_t)(more->place[n - 1] - (char *)settings);
    int result = options_set_text(settings, &next, text, err);
    if (result == 0)
        more->n = n;
    return result;
}

int options_set_path(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    return set_member(settings, row, &settings->file.more_paths, text, err);
}

int options_set_existing(struct settings *settings, const struct option_row *row, const char *text,
                         struct err *err)
{
    return set_member(settings, row, &settings->file.more_existing, text, err);
}

int options_set_destroy_device(struct settings *settings, const struct option_row *row, const char *text,
                               struct err *err)
{
    size_t n = settings->file.one_more ? settings->file.n_destroy_device : 0;
    if (n == MEMBERS_MOST)
        return err_set(err, -EINVAL, "'%.60s' is one device too many; give at most %d", text, MEMBERS_MOST);
    int result = options_value_size(text, row->range, &settings->file.destroy_device_bytes[n], err);
    if (result == 0)
        settings->file.n_destroy_device = n + 1;
    return result;
}
