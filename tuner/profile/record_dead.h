/* tuner/profile/record_dead: processes of a recording that were killed. */
#pragma once

struct store;

/* What processes that are gone had in flight has ended. */
void record_dead_end(struct store *store);
