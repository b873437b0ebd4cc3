/* tuner/options/skew_text: reads and writes skews, and is the setter of --skew. */
#include "tuner/options/skew_text.h"

#include "bench/base/units.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZIPF        "zipf:"
#define HOT         "hot:"
#define THETA_LEAST 0.01
#define THETA_MOST  10.0
#define SHARE_LEAST 0.001

static int read_theta(const char *text, double *ret_theta)
{
    char *end = NULL;
    double theta = strtod(text, &end);
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' || theta < THETA_LEAST ||
        theta > THETA_MOST)
        return -EINVAL;
    *ret_theta = theta;
    return 0;
}

static int read_shares(const char *text, double *ret_places, double *ret_requests)
{
    char places[SKEW_TEXT_SIZE];
    const char *colon = strchr(text, ':');
    double of_places, of_requests;
    if (colon == NULL || (size_t)(colon - text) >= sizeof places)
        return -EINVAL;
    snprintf(places, sizeof places, "%.*s", (int)(colon - text), text);
    if (units_parse_share(places, &of_places) < 0 || units_parse_share(colon + 1, &of_requests) < 0 ||
        of_places < SHARE_LEAST || of_places > 1 - SHARE_LEAST || of_requests < SHARE_LEAST ||
        of_requests > 1 - SHARE_LEAST)
        return -EINVAL;
    *ret_places = of_places;
    *ret_requests = of_requests;
    return 0;
}

int skew_text_parse(const char *text, struct skew *ret_skew, struct err *err)
{
    struct skew skew = {0};
    int result = -EINVAL;
    if (strncmp(text, ZIPF, strlen(ZIPF)) == 0) {
        skew.kind = SKEW_ZIPF;
        result = read_theta(text + strlen(ZIPF), &skew.theta);
    } else if (strncmp(text, HOT, strlen(HOT)) == 0) {
        skew.kind = SKEW_HOT;
        result = read_shares(text + strlen(HOT), &skew.hot_share, &skew.hot_access_share);
    }
    if (result < 0)
        return err_set(err, -EINVAL,
                       "'%.60s' is no skew; write zipf:0.99 (0.01 to 10), or hot:10%%:90%%, a share of the "
                       "places and a share of the requests (0.1%% to 99.9%%)",
                       text);
    *ret_skew = skew;
    return 0;
}

const char *skew_text_format(const struct skew *skew, char buffer[SKEW_TEXT_SIZE])
{
    buffer[0] = '\0';
    if (skew->kind == SKEW_ZIPF)
        snprintf(buffer, SKEW_TEXT_SIZE, ZIPF "%.10g", skew->theta);
    else if (skew->kind == SKEW_HOT)
        snprintf(buffer, SKEW_TEXT_SIZE, HOT "%.10g%%:%.10g%%", 100 * skew->hot_share,
                 100 * skew->hot_access_share);
    return buffer;
}

int options_set_skew(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err)
{
    (void)row;
    return skew_text_parse(text, &settings->workload.skew, err);
}
