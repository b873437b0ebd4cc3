/* Asking and telling. Each call leaves its line in the text of the search. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LINE_WORDS (13 + FST_MAX_LIMITS)

/* How many measurements of this kind are outstanding of the run's setting. */
static unsigned *outstanding_of(const struct fst_search *search, size_t setting, bool confirming)
{
    return &search->outstanding[2 * setting + confirming];
}

/* The run is no longer outstanding. One that was not is one that nobody asked for. */
static bool settle(struct fst_search *search, const struct engine_run *run)
{
    unsigned *outstanding = outstanding_of(search, run->point, run->confirming);
    if (*outstanding == 0)
        return false;
    *outstanding -= 1;
    search->n_outstanding--;
    return true;
}

static int begin_line(struct fst_search *search)
{
    return library_text_reserve(&search->text, LINE_WORDS * LIBRARY_WORD_BYTES);
}

static void add_run(struct fst_search *search, const char *word, const struct engine_run *run)
{
    library_text_word(&search->text, word);
    library_text_count(&search->text, run->point);
    library_text_count(&search->text, run->confirming);
}

/* --- asking --- */

/* The next run of what is decided already. A block that grows may be most of the budget: what is outstanding
 * of it is used up, too, or nothing would be left after the choice. */
static bool next_decided(struct fst_search *search, double used, struct engine_run *ret_run)
{
    struct engine *engine = &search->engine;
    bool grows = engine->growth > 0;
    double outstanding = grows ? (double)search->n_outstanding * engine->run_seconds : 0;
    return (search->n_outstanding > 0 || grows) && engine->stop == ENGINE_STOP_NOT_YET &&
           engine_next(engine, used + outstanding, ret_run);
}

/* What is decided next needs all that is outstanding, unless it is no longer waited for. */
static int ask_engine(struct fst_search *search, double used, struct engine_run *ret_run)
{
    struct engine *engine = &search->engine;
    if (next_decided(search, used, ret_run))
        return ENGINE_RUN;
    if (search->n_outstanding > 0 && engine->stop == ENGINE_STOP_NOT_YET)
        return -EAGAIN;
    int asked = effects_update(&search->limits.effects);
    asked = asked < 0 ? asked : ENGINE_TURN;
    while (asked == ENGINE_TURN)
        asked = engine_ask(engine, used, ret_run);
    return asked;
}

static void note_asked(struct fst_search *search, int asked, const struct engine_run *run)
{
    struct library_text *text = &search->text;
    library_text_word(text, "ask");
    library_text_number(text, search->used);
    if (asked == ENGINE_RUN) {
        library_text_count(text, run->point);
        library_text_count(text, run->confirming);
    } else {
        library_text_word(text, asked == ENGINE_DONE ? "over" : "wait");
    }
    library_text_end_line(text);
}

static void hand_out(struct fst_search *search, const struct engine_run *run, struct fst_run *ret_run)
{
    *outstanding_of(search, run->point, run->confirming) += 1;
    search->n_outstanding++;
    *ret_run = (struct fst_run){.setting = run->point, .confirming = run->confirming};
    memcpy(ret_run->values, library_values(search, run->point), search->n_factors * sizeof(double));
}

int fst_ask(struct fst_search *search, double used, struct fst_run *ret_run)
{
    struct engine_run run;
    used = used < 0 ? search->costs : used;
    if (!isfinite(used) || used < search->used)
        return -EINVAL;
    if (search->is_over)
        return 0;
    if (begin_line(search) < 0)
        return -ENOMEM;
    library_guard_enter();
    int asked = ask_engine(search, used, &run);
    library_guard_leave();
    search->was_asked = true;
    search->used = used;
    search->text.broken |= asked < 0 && asked != -EAGAIN;
    if (search->text.broken && asked < 0)
        return asked;
    note_asked(search, asked, &run);
    search->is_over = asked == ENGINE_DONE;
    if (asked == ENGINE_RUN)
        hand_out(search, &run, ret_run);
    return asked == ENGINE_RUN ? 1 : asked == ENGINE_DONE ? 0 : asked;
}

/* --- telling --- */

/* NULL: nothing is known of it. False: it makes no sense. A mean has no run that could be cut. */
static bool take_timing(const struct fst_timing *given, const struct fst_result *result,
                        struct fst_timing *ret_timing)
{
    if (given != NULL && (given->size == 0 || given->size > sizeof *given))
        return false;
    if (given != NULL)
        memcpy(ret_timing, given, given->size);
    return isfinite(ret_timing->used) && isfinite(ret_timing->span) && ret_timing->warmup >= 0 &&
           isfinite(ret_timing->warmup) && ret_timing->latency >= 0 && isfinite(ret_timing->latency) &&
           !(ret_timing->span > result->cost) && !(ret_timing->warmup > result->cost) &&
           (!ret_timing->cut || !(result->std_error > 0));
}

static bool is_sound(const struct fst_search *search, const struct fst_run *run,
                     const struct fst_result *result)
{
    return run->setting < search->n && isfinite(library_response(search->options.scale, result->value)) &&
           result->cost >= 0 && isfinite(result->cost) && result->std_error >= 0 &&
           isfinite(result->std_error) && library_limits_accept(&search->limits, result->effects);
}

/* What counted of a cost. Where no length was given, there is nothing around a measurement. */
static double span_of(const struct fst_search *search, const struct fst_timing *timing, double cost)
{
    double length = search->options.length;
    if (timing->span >= 0)
        return timing->span;
    return length > 0 ? fmin(length, cost) : cost;
}

static void tell_cost(struct fst_search *search, size_t setting, double cost, double rate,
                      const struct fst_timing *timing)
{
    search->costs += cost;
    engine_tell_cost(&search->engine, setting, cost, timing->warmup, span_of(search, timing, cost), rate);
    if (!(search->options.length > 0))
        search->engine.duration_seconds = fmax(0, search->engine.run_seconds - search->engine.around_seconds);
}

static double rate_of(const struct fst_search *search, double value)
{
    return search->options.rates ? value : INFINITY;
}

static int tell_engine(struct fst_search *search, const struct engine_run *run,
                       const struct fst_result *result, const struct fst_timing *timing)
{
    double responses[LIBRARY_MOST_REPLAYS];
    size_t n = library_spread(search->options.scale, result, responses);
    int told = 0;
    for (size_t i = 0; i < n && told == 0; i++) {
        struct engine_result replay = {.response = responses[i],
                                       .bps = rate_of(search, result->value),
                                       .latency_ns = timing->latency > 0 ? timing->latency : NAN,
                                       .p99_ns = NAN,
                                       .seconds = span_of(search, timing, result->cost),
                                       .at_seconds = timing->used < 0 ? search->used : timing->used,
                                       .cut = timing->cut != 0};
        told = engine_tell(&search->engine, run, &replay);
    }
    if (told == 0)
        told = library_limits_tell(&search->limits, run->point, result->effects);
    return told;
}

static void note_timing(struct library_text *text, const struct fst_timing *timing)
{
    library_text_word(text, "timed");
    library_text_number(text, timing->used);
    library_text_number(text, timing->span);
    library_text_number(text, timing->warmup);
    library_text_number(text, timing->latency);
    library_text_count(text, timing->cut != 0);
}

static void note_told(struct fst_search *search, const struct engine_run *run,
                      const struct fst_result *result, const struct fst_timing *timing)
{
    struct library_text *text = &search->text;
    if (timing != NULL)
        note_timing(text, timing);
    add_run(search, "tell", run);
    library_text_number(text, result->value);
    library_text_number(text, result->cost);
    library_text_number(text, result->std_error);
    library_text_count(text, result->n);
    for (size_t i = 0; result->effects != NULL && i < search->limits.effects.n; i++)
        library_text_number(text, result->effects[i]);
    library_text_end_line(text);
}

int fst_tell_timed(struct fst_search *search, const struct fst_run *run, const struct fst_result *result,
                   const struct fst_timing *given)
{
    struct fst_timing timing = FST_TIMING;
    if (!take_timing(given, result, &timing) || !is_sound(search, run, result) ||
        (timing.cut && run->confirming))
        return -EINVAL;
    if (begin_line(search) < 0)
        return -ENOMEM;
    struct engine_run told = {.point = run->setting, .confirming = run->confirming != 0};
    if (!settle(search, &told))
        told.confirming = false;
    library_guard_enter();
    int code = tell_engine(search, &told, result, &timing);
    library_guard_leave();
    tell_cost(search, told.point, result->cost, rate_of(search, result->value), &timing);
    note_told(search, &told, result, given != NULL ? &timing : NULL);
    search->text.broken |= code < 0;
    return code;
}

int fst_tell_result(struct fst_search *search, const struct fst_run *run, const struct fst_result *result)
{
    return fst_tell_timed(search, run, result, NULL);
}

int fst_tell(struct fst_search *search, const struct fst_run *run, double value, double cost)
{
    struct fst_result result = {.value = value, .cost = cost};
    return fst_tell_result(search, run, &result);
}

double fst_hopeless(const struct fst_search *search, const struct fst_run *run)
{
    struct engine_run asked = {.point = run->setting, .confirming = run->confirming != 0};
    enum fst_scale scale = search->options.scale;
    return library_value(scale,
                         library_is_linear(scale) ? -INFINITY : engine_hopeless(&search->engine, &asked));
}

int fst_fail(struct fst_search *search, const struct fst_run *run, double cost)
{
    if (run->setting >= search->n || !(cost >= 0) || !isfinite(cost))
        return -EINVAL;
    if (begin_line(search) < 0)
        return -ENOMEM;
    struct engine_run failed = {.point = run->setting, .confirming = run->confirming != 0};
    settle(search, &failed);
    engine_fail(&search->engine, failed.point);
    tell_cost(search, failed.point, cost, INFINITY, &(struct fst_timing)FST_TIMING);
    add_run(search, "fail", &failed);
    library_text_number(&search->text, cost);
    library_text_end_line(&search->text);
    return 0;
}

int fst_withdraw(struct fst_search *search, const struct fst_run *run)
{
    struct engine_run withdrawn = {.point = run->setting, .confirming = run->confirming != 0};
    if (run->setting >= search->n || *outstanding_of(search, run->setting, withdrawn.confirming) == 0)
        return -ENOENT;
    if (begin_line(search) < 0)
        return -ENOMEM;
    settle(search, &withdrawn);
    add_run(search, "withdraw", &withdrawn);
    library_text_end_line(&search->text);
    return 0;
}

size_t fst_outstanding(const struct fst_search *search)
{
    return search->n_outstanding;
}

int fst_stop(struct fst_search *search)
{
    if (search->engine.stop != ENGINE_STOP_NOT_YET)
        return 0;
    if (begin_line(search) < 0)
        return -ENOMEM;
    search->engine.stop = ENGINE_STOP_INTERRUPTED;
    library_text_word(&search->text, "stop");
    library_text_end_line(&search->text);
    return 0;
}
