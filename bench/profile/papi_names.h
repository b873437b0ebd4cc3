/* bench/profile/papi_names: what PAPI means by the name of an event. */
#pragma once

#include "bench/base/err.h"
#include "bench/profile/hardware_counters.h"

struct papi_library;

/* A preset (PAPI_TOT_INS) may be several events of the kernel, any other name (perf::PAGE-FAULTS) is one. 0,
 * or -ENOENT where PAPI does not know it on this machine. */
int papi_names_find(const struct papi_library *library, const char *name,
                    struct hardware_formula *ret_formula, struct err *err);
