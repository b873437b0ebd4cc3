/* tuner/report: results as one JSON document and as text that a person can act on. */
#ifndef FSTUNE_TUNER_REPORT_H
#define FSTUNE_TUNER_REPORT_H

#include "bench/err.h"
#include "tuner/samples.h"
#include "tuner/session.h"
#include "tuner/tune.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define REPORT_VERSION "0.1.0"

/* Pieces of JSON; every one is a new reference, NULL when memory ran out. NaN and infinite numbers become
 * null. */
json_t *json_number(double value);

/* An array of them; NULL when memory ran out. */
json_t *json_numbers(const double *values, size_t n);
json_t *json_text(const char *text); /* what is not UTF-8 becomes '?' */
json_t *json_pattern(const struct pattern *pattern);
json_t *json_point(const struct point *point);
json_t *json_latency(const struct latency_row *latency);
json_t *json_row(const struct row *row);
json_t *json_throughput(const struct row *row, double confidence);
/* The warnings: code, text and whether points are disqualified by it. */
json_t *json_warnings(const struct notes *notes);
json_t *json_notes(const struct notes *notes, const char *code_key, const char *text_key);
json_t *json_system(const struct session *session);

/* Prints the document and a newline, and releases it. 0, -ENOMEM for NULL, or the errno of a failed write. */
int json_print(FILE *out, json_t *document, struct err *err);

/* Bytes that a command with this file writes at most, and seconds that making it takes at most on a disk that
 * is not very slow. */
uint64_t report_plan_write_bytes(const struct session *session, uint64_t file_bytes);
double report_plan_fill_seconds(const struct settings *settings, uint64_t file_bytes);

/* The end of a plan line, newline included: ", file of 1g in DIR (removed afterwards), at most 64g written,
 * ends by 12:30:15 at the latest"; of a surface, its name. session->seconds_at_most is set. */
void report_plan_end(FILE *out, const struct session *session, uint64_t file_bytes);

/* The plan of --dry-run: size of the file, bytes written at most, points and what was dropped. */
int report_plan_json(FILE *out, const struct session *session, uint64_t file_bytes, size_t n_points,
                     struct err *err);

/* Turns the doubts of a row into warnings of the command. */
void report_note_doubts(struct notes *warnings, uint64_t doubts, uint64_t disqualifying);

/* The same as a document; NULL when memory ran out. */
json_t *report_plan_document(const struct session *session, uint64_t file_bytes, size_t n_points);

/* The whole answer of `recommend`. Prepared once, printed as text or JSON. */
struct answer {
    const struct tune *tune;
    bool interrupted;
    bool fresh;    /* figures come from the replays after the choice */
    bool has_rows; /* the rows below are valid */
    struct row chosen, best, baseline, standard;
    bool has_baseline, has_standard;
    bool splits; /* sizes were searched apart; rows of two sizes and of the one size they are compared with */
    bool has_split, has_unsplit;
    struct row split, unsplit;
    bool has_speedup, has_standard_speedup;
    struct interval speedup, standard_speedup; /* ratio of the chosen to the baseline */
    double speedup_mean, standard_speedup_mean;
    bool has_sustained;
    struct sustained_verdict sustained; /* of the chosen point */
    const char *reason;                 /* why there is no recommendation, or NULL */
    char reason_text[640];              /* where it has to be made up */
    const struct burst *burst;          /* borrowed; NULL without --burst */
};

void answer_prepare(struct answer *answer, struct tune *tune);
/* The document itself; NULL when memory ran out. */
json_t *report_recommendation_document(const struct answer *answer);
int report_recommendation_json(FILE *out, const struct answer *answer, struct err *err);
int report_recommendation_text(FILE *out, const struct answer *answer, struct err *err);

#endif
