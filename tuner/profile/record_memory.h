/* tuner/profile/record_memory: the memory of a program by the places that allocate it, as events. */
#pragma once

#include "bench/base/err.h"

#include <stdint.h>

struct events_sink;
struct launch;
struct record_memory;

/* Memory to share with the program, and what its start needs: -EINVAL for a program that no library can be
 * loaded into, a negative errno else. times are counted from start_ns. */
int record_memory_open(struct record_memory **ret_memory, const char *program, uint64_t start_ns,
                       struct err *err);
void record_memory_prepare(const struct record_memory *memory, struct launch *launch);

/* What has changed is told, a few times a second. NULL: nothing is recorded. */
void record_memory_poll(struct record_memory *memory, const struct events_sink *sink);
/* Times count from now on, and the peak is that of what comes; what is held is told again. */
void record_memory_restart(struct record_memory *memory, uint64_t start_ns);
/* The last state, and the peak. Returns how many blocks had no place. */
uint64_t record_memory_end(struct record_memory *memory, const struct events_sink *sink);
/* How often the tables were mapped, which are no file of the program's; and how large they are. */
uint64_t record_memory_maps(const struct record_memory *memory, uint64_t *ret_bytes);
void record_memory_close(struct record_memory *memory);
