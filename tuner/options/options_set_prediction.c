/* tuner/options/options_set: setters of the writes that are predicted. */
#include "tuner/options/options_set.h"

#include "bench/base/pattern.h"
#include "tuner/options/options_value.h"

#include <errno.h>
#include <string.h>

int options_set_write_pattern(struct settings *settings, const struct option_row *row, const char *text,
                              struct err *err)
{
    struct pattern pattern;
    (void)row;
    if (pattern_parse(text, &pattern, NULL) < 0 || pattern_reads(&pattern) ||
        (pattern.percent[PATTERN_SEQ_WRITE] > 0 && pattern.percent[PATTERN_RAND_WRITE] > 0))
        return err_set(err, -EINVAL, "'%.60s' cannot be predicted; use write or randwrite", text);
    settings->prediction.random = pattern_is_random(&pattern);
    settings->prediction.pattern_given = true;
    return 0;
}

int options_set_write_size(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err)
{
    return options_value_size(text, row->range_prediction, &settings->prediction.request_size_bytes, err);
}
