/* models/impact/guest_rate: what a setting that was measured on the host gives inside a virtual machine.
 *
 * In the guest each request takes longer by what the atomic tests say of a direct request there and on the
 * host (Klemenkov 2011, as in models/impact/atomic). Requests of a queue share some of that, as one interrupt
 * ends several; the rest is the work of one processor, for which they wait one by one. The storage works on
 * all of them at once, as it did on the host. So a queue of requests goes round between a delay and a
 * processor, which is the machine repairman's model; its rate is exact by mean value analysis (Reiser and
 * Lavenberg 1980). */
#pragma once

#include "models/impact/atomic.h"

/* What a request of `bytes` adds, on the line through those of two sizes, which may be left or right of it;
 * the intervals of both are taken as independent. Where the larger one is not told to add more, all add the
 * mean of both, because noise would grow with the size. 0 <= small_bytes < large_bytes. */
struct atomic_cost guest_rate_added(struct atomic_cost small, double small_bytes, struct atomic_cost large,
                                    double large_bytes, double bytes);

/* Requests a second in the guest, of a setting with `in_flight` >= 1 at a time that gave requests_per_s > 0
 * on the host. Of added_s, which all requests take more one at a time, shared_s is what requests of a queue
 * do at the same time. What is below 0 counts as 0: the guest has no more to do than the host. */
double guest_rate(double requests_per_s, unsigned in_flight, double added_s, double shared_s);
