/* tuner/writes/burst: real bursts of writes, for `recommend --burst`: what a burst costs through the page
 * cache and past it, measured after the search.
 *
 * A burst begins on a clean file whose pages are not cached, after a pause; BYTES are written as fast as the
 * setting allows. Two times are taken: until the last write returned (accepted), and until all of it is
 * durable (one fdatasync). Which of them counts is what was asked for: with --sync end or each the latter.
 * Where the device cannot write a burst back within --burst-interval it is the latter too, because sooner or
 * later the writers wait for it.
 *
 * Some bursts choose one buffered and one direct setting; figures come from bursts after that choice, in
 * turn. The model of --host says which buffered settings are worth a burst, and why; it decides nothing. */
#pragma once

#include "bench/base/err.h"
#include "tuner/report/answer.h"
#include "tuner/search/tune.h"
#include "tuner/writes/host_file.h"
#include "tuner/writes/write_advice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BURST_MAX_SETTINGS 6
#define BURST_LOOKS        2  /* of each setting before the choice */
#define BURST_LEAST        3  /* after it, of both settings; fewer are no answer */
#define BURST_MOST         30 /* after it */
#define BURST_NONE         SIZE_MAX

enum burst_class { BURST_BUFFERED, BURST_DIRECT, BURST_N_CLASSES };

struct burst_setting {
    struct point point;
    bool by_model;                               /* the model, not the search, named it */
    double predicted_s;                          /* until accepted, by the model; NaN without */
    size_t n, n_looks;                           /* bursts; those before the choice come first */
    double accepted_s[BURST_LOOKS + BURST_MOST]; /* of the bytes asked for, at the burst's rate */
    double durable_s[BURST_LOOKS + BURST_MOST];
    bool failed; /* a burst failed, or was not over in time */
};

struct burst_figure {
    size_t n;
    double mean;
    struct interval ci; /* Student's; NaN for n < 3 */
};

struct burst {
    const struct settings *settings; /* borrowed */
    bool by_durable;                 /* the time that decides */
    bool wrote_out;                  /* --max-write left no room for another burst */
    bool falls_behind;               /* the interval is too short to write a buffered burst back */
    struct burst_setting setting[BURST_MAX_SETTINGS];
    size_t n;
    size_t chosen[BURST_N_CLASSES];  /* BURST_NONE: none of that class could be measured */
    size_t best;                     /* of the two; BURST_NONE: no answer */
    bool has_gain;                   /* both classes were measured often enough */
    double gain;                     /* how many times as fast the best is as the other class ... */
    struct interval gain_ci;         /* ... exp of the Welch interval on logs */
    bool conclusive;                 /* which does not hold 1 */
    const char *why;                 /* there is no answer; NULL: there is */
    char failure[2 * ERR_TEXT_SIZE]; /* of the last burst that failed, as such a reason */
    bool has_model;
    struct host_file host;
    struct write_advice_crossings crossings; /* by the model, of buffered, or flushed */
    struct cawl_advice_cost predicted;
    struct cawl_advice_burst modelled; /* request_bytes 0: of no setting yet */
};

/* What can be refused before a byte is written: a burst of a surface, of a pattern that reads, one that does
 * not fit the file, the memory or --max-write; a host file that cannot be read. Reserves time and bytes of
 * the session for the bursts. Nothing without --burst. */
int burst_check(struct session *session, uint64_t file_bytes, struct err *err);

/* Of time and bytes, what the search leaves for bursts; 0 without --burst. */
uint64_t burst_reserved_ns(const struct settings *settings);
uint64_t burst_reserved_bytes(const struct settings *settings);

/* After the search. 0, also when interrupted or when nothing could be measured; a negative errno that ends
 * the command. Nothing is done without --burst. */
int burst_run(struct burst *burst, struct tune *tune, struct err *err);

/* Figures of a setting's bursts after the choice. */
struct burst_figure burst_figure(const struct burst *burst, size_t setting, bool durable);

/* Sets best, gain and conclusive from the bursts. */
void burst_judge(struct burst *burst);

/* The model's faster class is not the one that the bursts settle on. False where they settle nothing. */
bool burst_contradicts(const struct burst *burst);

/* Chooses the settings that are worth a burst from the records of a search. */
void burst_choose_settings(struct burst *burst, const struct tune *tune);

/* The part of an answer: its member "burst", and lines "Bursts  ...". The bursts are borrowed. */
struct answer_part burst_answer_part(const struct burst *burst);
