/* bench/profile/hardware_list: events that a user asks for by PAPI's names. */
#pragma once

#include "bench/base/err.h"
#include "bench/profile/hardware_counters.h"

/* list: names with commas between them, at most HARDWARE_EVENTS_MOST; or "auto": cycles, instructions, misses
 * of the last cache and of branches, as far as the machine has them, which may be none. pid: as
 * hardware_counters_open has it. 0; -EINVAL for a wrong list, -ENOSYS without PAPI, or what
 * hardware_counters_add says. */
int hardware_list_open(struct hardware_counters **ret_counters, const char *list, pid_t pid, struct err *err);
