/* Hours of the day and of the week. */
#include "models/online/calendar.h"

#include <math.h>
#include <stddef.h>

#define LEAST_SEEN 2     /* of an hour of the day or of the week */
#define LEAST_DAYS 2     /* of all hours */
#define QUANTILE   1.645 /* of the normal distribution at 95 % */

/* The cell of a rule that this hour belongs to. */
static const uint32_t *cell_of(const struct calendar *calendar, enum calendar_rule rule, unsigned hour)
{
    if (rule == CALENDAR_ALWAYS)
        return calendar->always;
    return rule == CALENDAR_DAILY ? calendar->daily[hour % CALENDAR_DAY_HOURS]
                                  : calendar->weekly[hour % CALENDAR_WEEK_HOURS];
}

/* The kind that more than half of the cell's hours had; of all hours, the commonest. False: there is none. */
static bool say(const struct calendar *calendar, enum calendar_rule rule, unsigned hour, unsigned *ret_kind)
{
    const uint32_t *cell = cell_of(calendar, rule, hour);
    uint32_t n = 0;
    unsigned most = 0;
    for (unsigned kind = 0; kind < CALENDAR_CLASSES; kind++) {
        n += cell[kind];
        most = cell[kind] > cell[most] ? kind : most;
    }
    if (rule == CALENDAR_ALWAYS ? n < LEAST_DAYS * CALENDAR_DAY_HOURS : n < LEAST_SEEN || 2 * cell[most] <= n)
        return false;
    *ret_kind = most;
    return true;
}

/* Of a rule that has said nothing yet, one half. */
static double merit(const struct calendar_score *score)
{
    return (score->n_right + 1.0) / (score->n_said + 2.0);
}

/* Of rules with one score, the one that knows the hour best. */
bool calendar_foretell(const struct calendar *calendar, unsigned hour, unsigned *ret_kind,
                       enum calendar_rule *ret_rule)
{
    bool can_say = false;
    for (unsigned rule = 0; rule < CALENDAR_N_RULES; rule++) {
        unsigned kind;
        if (!say(calendar, rule, hour, &kind) ||
            (can_say && merit(&calendar->rules[rule]) < merit(&calendar->rules[*ret_rule])))
            continue;
        can_say = true;
        *ret_kind = kind;
        *ret_rule = rule;
    }
    return can_say;
}

static void score(struct calendar_score *score, bool is_right)
{
    score->n_said++;
    score->n_right += is_right;
}

void calendar_tell(struct calendar *calendar, unsigned hour, unsigned kind)
{
    unsigned said;
    enum calendar_rule best;
    if (calendar_foretell(calendar, hour, &said, &best)) {
        score(&calendar->foretold, said == kind);
        score(&calendar->kinds[said], said == kind);
        calendar->n_came[kind]++;
        if (say(calendar, CALENDAR_ALWAYS, hour, &said))
            score(&calendar->plain, said == kind);
    }
    for (unsigned rule = 0; rule < CALENDAR_N_RULES; rule++) {
        if (say(calendar, rule, hour, &said))
            score(&calendar->rules[rule], said == kind);
    }
    calendar->always[kind]++;
    calendar->daily[hour % CALENDAR_DAY_HOURS][kind]++;
    calendar->weekly[hour % CALENDAR_WEEK_HOURS][kind]++;
    calendar->n_hours++;
}

double calendar_share(const struct calendar_score *score, double *ret_low)
{
    double n = score->n_said, share = score->n_right / n, square = QUANTILE * QUANTILE;
    if (score->n_said == 0) {
        *ret_low = NAN;
        return NAN;
    }
    double middle = share + square / (2 * n);
    double half = QUANTILE * sqrt(share * (1 - share) / n + square / (4 * n * n));
    *ret_low = fmax(0, (middle - half) / (1 + square / n));
    return share;
}

bool calendar_is_periodic(const struct calendar *calendar, unsigned kind)
{
    double low;
    calendar_share(&calendar->kinds[kind], &low);
    return low > (double)calendar->n_came[kind] / fmax(1, calendar->foretold.n_said);
}
