/* tuner/options/options_set: setters of what belongs to a calibration. */
#include "tuner/options/options_set.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <string.h>

int options_set_dirty_limits(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err)
{
    char part[2 * OPTIONS_VALUE_SIZE];
    uint64_t bytes[2] = {0, 0};
    size_t n = 0;
    for (const char *cursor = text; cursor != NULL; n++) {
        int result = options_value_part(&cursor, part, err);
        if (result == 0 && n < 2)
            result = options_value_size(part, row->range, &bytes[n], err);
        if (result < 0)
            return result;
    }
    if (n != 2 || bytes[0] >= bytes[1])
        return err_set(err, -EINVAL, "'%.60s' is no pair of limits; write the lower one first, as 256m,512m",
                       text);
    memcpy((char *)settings + row->place, bytes, sizeof bytes);
    return 0;
}
