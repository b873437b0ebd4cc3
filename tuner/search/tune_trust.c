/* Which points of a search are not to be trusted, and why. */
#include "tuner/search/tune.h"

/* A permanent verdict wants more than one replay. */
#define EXCLUDE_REPLAYS 2

uint64_t tune_distrust(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    return session_disqualifying(tune->session, record_warnings(record, false), &record->point);
}

void tune_tell_trust(struct tune *tune)
{
    for (size_t i = 0; i < tune->n_records; i++)
        tune->engine.points[i].distrusted = tune_distrust(tune, i) != 0;
}

void tune_exclude_distrusted(struct tune *tune)
{
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune_distrust(tune, i) != 0)
            belief_exclude(&tune->engine.belief, i);
    }
}

void tune_weigh_trust(struct tune *tune, size_t point)
{
    bool distrusted = tune_distrust(tune, point) != 0;
    tune->engine.points[point].distrusted = distrusted;
    if (point < tune->space.n_points && tune->records[point].n >= EXCLUDE_REPLAYS && distrusted)
        belief_exclude(&tune->engine.belief, point);
}

void tune_note_distrust(struct tune *tune)
{
    size_t n_points[WARNING_N] = {0};
    for (size_t i = 0; i < tune->space.n_points; i++) {
        uint64_t against = tune_distrust(tune, i);
        for (unsigned warning = 0; warning < WARNING_N; warning++)
            n_points[warning] += against >> warning & 1;
    }
    for (unsigned warning = 0; warning < WARNING_N; warning++) {
        if (n_points[warning] == 0)
            continue;
        const struct warnings_row *row = &warnings_table[warning];
        notes_disqualify(&tune->session->warnings, row->code,
                         "%s (%zu of %zu settings cannot be recommended; --accept %s lets them)", row->text,
                         n_points[warning], tune->space.n_points, row->code);
    }
}
