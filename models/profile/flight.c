/* models/profile/flight: the lower bits of the word are the depth, the others the time of the last change. */
#include "models/profile/flight.h"

#include "models/profile/cells.h"

#include <stdbool.h>

#define DEPTH_BITS 16
#define TIME_BITS  (64 - DEPTH_BITS)
#define TIME_MASK  ((1ULL << TIME_BITS) - 1)

void flight_start(struct flight *flight, uint64_t now_ns)
{
    flight->word = now_ns << DEPTH_BITS;
}

uint64_t flight_depth(const struct flight *flight)
{
    return cells_read(&flight->word) & FLIGHT_MOST;
}

/* Since the change before. Of the time its lower bits are enough, unless nothing changes for a day; a change
 * that comes late, behind a later one of another thread, takes no time. */
static uint64_t passed_since(uint64_t word, uint64_t now_ns)
{
    uint64_t passed_ns = (now_ns - (word >> DEPTH_BITS)) & TIME_MASK;
    return passed_ns <= TIME_MASK / 2 ? passed_ns : 0;
}

/* The time since the change before was spent at the depth of before. */
static void change(struct flight *flight, uint64_t now_ns, uint32_t n, bool is_begin)
{
    uint64_t word = cells_read(&flight->word), passed_ns, depth, next;
    do {
        passed_ns = passed_since(word, now_ns);
        depth = word & FLIGHT_MOST;
        if (is_begin)
            next = depth + n < FLIGHT_MOST ? depth + n : FLIGHT_MOST;
        else
            next = depth > n ? depth - n : 0;
        next |= ((word >> DEPTH_BITS) + passed_ns) << DEPTH_BITS;
    } while (
        !__atomic_compare_exchange_n(&flight->word, &word, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (passed_ns == 0)
        return;
    cells_add(&flight->depth_ns[depth < FLIGHT_DEPTHS ? depth : FLIGHT_DEPTHS - 1], passed_ns);
    if (depth >= FLIGHT_DEPTHS - 1)
        cells_add(&flight->deep_area, depth * passed_ns);
}

void flight_begin(struct flight *flight, uint64_t now_ns, uint32_t n)
{
    change(flight, now_ns, n, true);
}

void flight_end(struct flight *flight, uint64_t now_ns, uint32_t n)
{
    change(flight, now_ns, n, false);
}

void flight_skip(struct flight *flight, uint64_t now_ns)
{
    uint64_t word = cells_read(&flight->word), next;
    do
        next = word + (passed_since(word, now_ns) << DEPTH_BITS);
    while (
        !__atomic_compare_exchange_n(&flight->word, &word, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void flight_sum(const struct flight *flight, uint64_t now_ns, double *ret_busy_ns, double *ret_area_ns)
{
    uint64_t word = cells_read(&flight->word), depth = word & FLIGHT_MOST;
    /* What is in flight now has not been counted since the last change. */
    double since_ns = depth > 0 ? (double)passed_since(word, now_ns) : 0;
    double busy_ns = since_ns, area_ns = since_ns * (double)depth;
    for (uint64_t i = 1; i < FLIGHT_DEPTHS; i++)
        busy_ns += (double)cells_read(&flight->depth_ns[i]);
    for (uint64_t i = 1; i + 1 < FLIGHT_DEPTHS; i++)
        area_ns += (double)i * (double)cells_read(&flight->depth_ns[i]);
    *ret_busy_ns = busy_ns;
    *ret_area_ns = area_ns + (double)cells_read(&flight->deep_area);
}
