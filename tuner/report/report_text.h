/* tuner/report/report_text: figures, and where they were measured, in words. */
#pragma once

#include "tuner/session/samples.h"
#include "tuner/session/session.h"

#include <stdio.h>

/* "1.21 GB/s (95 % interval 1.18 GB/s to 1.24 GB/s, 8 replays)", or without interval where there is none. */
void text_rate(FILE *out, const struct row *row, double confidence);

/* "mean 860 us, p50 840 us, p99 1.21 ms (1.18 ms to 1.25 ms)"; what the sample does not support is left out.
 * A bound of p99 that is only the largest of all is called so. */
void text_latency(FILE *out, const struct latency_row *latency);

/* What the latency of writes leaves out, or waits for alone: "without the flush that the throughput has in
 * it: "; "" where there is nothing to say. */
const char *text_latency_scope(const struct point *point, const struct pattern *pattern);

/* The line "Trust  not trustworthy: CODE, CODE", begun with a newline; nothing when nothing disqualifies. */
void text_trust(FILE *out, uint64_t disqualifying);

/* The codes of these warnings with blanks between. */
void text_codes(FILE *out, uint64_t warning_set);

/* "ext4 on /dev/vda (virtio), Linux 6.1, 2 cpus": where it was measured. */
void text_place(FILE *out, const struct session *session);

/* "Wrote 3.22 GB, read 1.07 GB", and what the drive itself counted where it does; without a final newline. */
void text_traffic(FILE *out, const struct session *session);

/* After the place: what was measured instead of a device, or may have been; or nothing. */
void text_subject(FILE *out, const struct session *session);

/* The line "Asked": the command as it was given; nothing where that was not kept. */
void text_asked(FILE *out, const struct settings *settings);
