/* Slices of time into the history. */
#include "tuner/nightly/watch.h"

#include "models/profile/summary.h"
#include "tuner/base/fail.h"
#include "tuner/histories/watch_report.h"
#include "tuner/profile/profile_document.h"
#include "tuner/store/history_watch.h"

#include <errno.h>

static unsigned kind_in(const struct store *store, struct history_watch_slice *slice)
{
    struct kind_counts counts = {0};
    for (int direction = 0; direction < PROFILE_N_DIRECTIONS; direction++) {
        counts.n[direction] = bins_n(&store->sizes[direction]);
        counts.n_bytes += store->bytes[direction];
        counts.n_sequential += store->n[direction][STREAM_SEQUENTIAL];
        slice->n_requests += counts.n[direction];
    }
    slice->n_bytes = counts.n_bytes;
    return kind_of(&counts);
}

static void say(const struct watch *watch, double came_s)
{
    char when[WATCH_TIME_SIZE], last[WATCH_TIME_SIZE];
    const char *name = kind_name(watch->kind);
    watch_report_time(came_s, when);
    if (watch->kind == KIND_NONE)
        fprintf(watch->out, "%s  nothing, or too little to tell\n", when);
    else if (watch->before_seconds > 0)
        fprintf(watch->out, "%s  %s is back: %.1f hours of it before, until %s\n", when, name,
                watch->before_seconds / 3600, watch_report_time(watch->before_s, last));
    else
        fprintf(watch->out, "%s  %s: not seen here before\n", when, name);
    fflush(watch->out);
}

/* Before the slice is kept: with the first of a row what is known of its kind is asked for. */
static int notice(struct watch *watch, unsigned kind, double start_s, double seconds, struct err *err)
{
    static struct watch_report known;
    int code = 0;
    bool goes_on = watch->n_next > 0 && kind == watch->next;
    watch->n_next = goes_on ? watch->n_next + 1 : 1;
    watch->next = kind;
    if (!goes_on && kind != watch->kind) {
        code = watch_report_make(&known, watch->history, watch->place, start_s, err);
        watch->before_seconds = known.loads[kind].seconds;
        watch->before_s = known.loads[kind].last_s;
    }
    if (code == 0 && watch->n_next >= WATCH_LEAST_SLICES && kind != watch->kind) {
        watch->kind = kind;
        if (watch->out != NULL)
            say(watch, start_s - (WATCH_LEAST_SLICES - 1) * seconds);
    }
    return code;
}

int watch_slice(struct watch *watch, struct recording *recording, double start_s, double seconds,
                uint64_t now_ns, struct err *err)
{
    static struct summary summary;
    struct history_watch_slice slice = {.start_s = start_s, .seconds = seconds};
    unsigned kind = kind_in(recording->store, &slice);
    slice.kind = kind_name(kind);
    summary_make(&summary, recording->store);
    json_t *profile =
        kind != KIND_NONE && summary.is_enough ? profile_document_make(recording, &summary) : NULL;
    slice.profile = profile;
    int code = notice(watch, kind, start_s, seconds, err);
    if (code == 0)
        code = history_watch_add(watch->history, watch->place, &slice, err);
    json_decref(profile);
    store_renew(recording->store, now_ns);
    /* What passes does not end days of watching. */
    if (code == -EBUSY || code == -ENOSPC) {
        fail_with(code = 0, "a slice of %.0f s is not kept: %s", seconds, err->text);
        watch->n_missed++;
    }
    return code;
}
