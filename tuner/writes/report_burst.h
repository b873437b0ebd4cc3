/* tuner/writes/report_burst: what bursts said, in the answer of `recommend --burst`. */
#ifndef FSTUNE_TUNER_WRITES_REPORT_BURST_H
#define FSTUNE_TUNER_WRITES_REPORT_BURST_H

#include "tuner/report/answer.h"
#include "tuner/writes/burst.h"

/* The part of an answer: its member "burst", and lines "Bursts  ...". The bursts are borrowed. */
struct answer_part report_burst(const struct burst *burst);

#endif
