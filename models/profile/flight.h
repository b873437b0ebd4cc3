/* models/profile/flight: how many requests are in flight, and for how much of the time so many were.
 *
 * The depth and the time of its last change stand in one word, so that both change in one step, whoever else
 * changes them. */
#pragma once

#include <stdint.h>

#define FLIGHT_DEPTHS 257   /* the last is for all deeper ones */
#define FLIGHT_MOST   65535 /* more are not counted */

struct flight {
    uint64_t word;
    uint64_t deep_area; /* depth x ns of what the last of depth_ns holds */
    uint64_t depth_ns[FLIGHT_DEPTHS];
};

/* Nothing is in flight. */
void flight_start(struct flight *flight, uint64_t now_ns);

void flight_begin(struct flight *flight, uint64_t now_ns, uint32_t n);
/* More ends than beginnings leave nothing in flight: some began before the recording. */
void flight_end(struct flight *flight, uint64_t now_ns, uint32_t n);

/* The time since the last change is not counted at any depth. */
void flight_skip(struct flight *flight, uint64_t now_ns);

uint64_t flight_depth(const struct flight *flight);

/* Until now: the time in which anything was in flight, and the sum of depth x time. */
void flight_sum(const struct flight *flight, uint64_t now_ns, double *ret_busy_ns, double *ret_area_ns);
