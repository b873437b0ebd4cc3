/* Which points of a search are not to be trusted, and why. */
#include "tuner/search/tune.h"

/* A permanent verdict wants more than one replay. */
#define EXCLUDE_REPLAYS 2

uint64_t tune_distrust(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    return session_disqualifying(tune->session, record_doubts(record, false), &record->point);
}

void tune_exclude_distrusted(struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune_distrust(tune, i) != 0)
            belief_exclude(&tune->belief, i);
    }
}

void tune_weigh_trust(struct tune *tune, size_t point)
{
    if (point < tune->space.n_points && tune->records[point].n >= EXCLUDE_REPLAYS &&
        tune_distrust(tune, point) != 0)
        belief_exclude(&tune->belief, point);
}

int tune_row(const struct tune *tune, size_t point, bool fresh, struct row *ret_row)
{
    struct row row;
    int result = row_of(&tune->records[point], fresh, tune->settings->confidence_share, &row);
    if (result < 0)
        return result;
    row.disqualifying = tune_distrust(tune, point);
    row.doubts |= row.disqualifying;
    *ret_row = row;
    return 0;
}

void tune_note_distrust(struct tune *tune)
{
    size_t n_points[DOUBT_N] = {0};
    for (size_t i = 0; i < tune->space.n_points; i++) {
        uint64_t against = tune_distrust(tune, i);
        for (unsigned doubt = 0; doubt < DOUBT_N; doubt++)
            n_points[doubt] += against >> doubt & 1;
    }
    for (unsigned doubt = 0; doubt < DOUBT_N; doubt++) {
        if (n_points[doubt] == 0)
            continue;
        const struct doubts_row *row = &doubts_table[doubt];
        notes_disqualify(&tune->session->warnings, row->code,
                         "%s (%zu of %zu points cannot be recommended; --accept %s lets them)", row->text,
                         n_points[doubt], tune->space.n_points, row->code);
    }
}
