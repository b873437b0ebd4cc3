/* tuner/options/skew_text: a skew as people write it: "zipf:0.99", "hot:10%:90%". */
#pragma once

#include "bench/base/err.h"
#include "bench/io/skew.h"

#define SKEW_TEXT_SIZE 64

/* 0, or -EINVAL with what to write. */
int skew_text_parse(const char *text, struct skew *ret_skew, struct err *err);

/* "" where there is none. Returns the buffer. */
const char *skew_text_format(const struct skew *skew, char buffer[SKEW_TEXT_SIZE]);
