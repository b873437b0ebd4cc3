/* tuner/profile/record_cost: what the recording cost the program, by an estimate. */
#pragma once

struct store;

/* Share of the recorded time that its requests' places in the store took, from what such a request takes here
 * and now; the threads of a program share it. NaN: unknown. */
double record_cost_share(const struct store *store);
