/* tuner/writes/report_burst: what bursts said, in the answer of `recommend --burst`. */
#pragma once

#include "tuner/report/answer.h"
#include "tuner/writes/burst.h"

/* The part of an answer: its member "burst", and lines "Bursts  ...". The bursts are borrowed. */
struct answer_part report_burst(const struct burst *burst);
