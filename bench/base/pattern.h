/* bench/base/pattern: the workload's mix of the four kinds of access (interfaces, section 2; Erofeev 2021,
 * "pattern").
 *
 * A pattern belongs to the user's program: it is never searched over. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum pattern_kind {
    PATTERN_SEQ_READ,
    PATTERN_SEQ_WRITE,
    PATTERN_RAND_READ,
    PATTERN_RAND_WRITE,
    PATTERN_N_KINDS
};

#define PATTERN_NAME_SIZE 96

struct pattern {
    uint32_t percent[PATTERN_N_KINDS]; /* shares in percent; they sum to 100 */
    char name[PATTERN_NAME_SIZE];      /* normalised: "read", "randrw:70", "seq-read=40,rand-write=60" */
};

/* Reads "randwrite", "rw", "randrw:70", "seqread" or "seq-read=40,...". A mix with one kind only gets that
 * kind's plain name ("rw:100" -> "read"), two kinds of one access get rw:N or randrw:N, the rest the explicit
 * form in the order of the enum. Returns 0 or -EINVAL with a text that names the wrong part and the known
 * names. */
int pattern_parse(const char *text, struct pattern *ret_pattern, struct err *err);

bool pattern_reads(const struct pattern *pattern);
bool pattern_writes(const struct pattern *pattern);
bool pattern_is_random(const struct pattern *pattern); /* has any random kind */
