/* tuner/profile/load_list: which kind of file it is. */
#include "tuner/profile/load_list.h"

#include "tuner/base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A profile is JSON, an iolog is not. */
static int look(const char *path, bool *ret_is_profile, struct err *err)
{
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return err_sys(err, -errno, "%.200s", path);
    int c;
    do {
        c = getc(in);
    } while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    int code = ferror(in) ? err_sys(err, -errno, "%.200s", path) : 0;
    fclose(in);
    *ret_is_profile = c == '{';
    return code;
}

int load_list_read(struct load_list *list, const char *path, uint64_t most_bytes, uint64_t seed,
                   struct err *err)
{
    bool is_profile = false;
    int code = look(path, &is_profile, err);
    if (code < 0)
        return code;
    if (!is_profile)
        return load_list_from_iolog(list, path, most_bytes, err);
    list->profile = json_read_file(path, err);
    if (list->profile == NULL)
        return -EINVAL;
    if (strcmp(json_read_text(list->profile, "schema", ""), "fstune/profile/1") != 0)
        return err_set(err, -EINVAL, "%.200s is no profile; fstune profile --output FILE makes one", path);
    code = load_list_from_profile(list, most_bytes, seed, err);
    return code < 0 ? err_prefix(err, "%.200s", path) : 0;
}

void load_list_free(struct load_list *list)
{
    free(list->items);
    json_decref(list->profile);
    *list = (struct load_list){0};
}
