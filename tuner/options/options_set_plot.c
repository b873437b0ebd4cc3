/* tuner/options/options_set: setters of what belongs to pictures. */
#include "tuner/options/options_set.h"

#include "bench/base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAST 12
#define MOST  8000

int options_set_picture_size(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err)
{
    char width[8];
    uint64_t w = 0, h = 0;
    size_t length = strcspn(text, "x");
    snprintf(width, sizeof width, "%.*s", (int)(length < sizeof width ? length : 0), text);
    if (text[length] != 'x' || units_parse_count(width, MOST, &w) < 0 ||
        units_parse_count(text + length + 1, MOST, &h) < 0 || w < LEAST || h < LEAST)
        return err_set(err, -EINVAL, "'%.30s' is no size; write width x height as 900x560, each %d..%d", text,
                       LEAST, MOST);
    unsigned *place = (unsigned *)(void *)((char *)settings + row->place);
    place[0] = (unsigned)w;
    place[1] = (unsigned)h;
    return 0;
}
