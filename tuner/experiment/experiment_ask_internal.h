/* tuner/experiment/experiment_ask_internal: the answers, between the questions and the configuration file. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASK_MAX_LEVELS  64
#define ASK_TEXT_SIZE   4096
#define ASK_NUMBER_SIZE 32

enum ask_factor { ASK_RS, ASK_QD, ASK_DIO, ASK_N_FACTORS };

struct ask_answers {
    bool is_sequential, reads;
    size_t n_levels[ASK_N_FACTORS]; /* 0: the original's default */
    uint64_t levels[ASK_N_FACTORS][ASK_MAX_LEVELS];
    char warmup_coef[ASK_NUMBER_SIZE];
    uint64_t warmup_ms, warmup_window;
    char path[ASK_TEXT_SIZE]; /* not empty */
    uint64_t file_size_mib;
    bool is_own_file;            /* a new one takes the place of the file at path */
    char prepare[ASK_TEXT_SIZE]; /* "": none */
    uint64_t duration_ms, batch, replays;
};

/* The configuration file; the caller frees it. 0 or -ENOMEM. */
int experiment_ask_write(const struct ask_answers *answers, char **ret_text, struct err *err);
