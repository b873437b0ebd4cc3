/* bench/profile/papi_library: PAPI and the libpfm4 that it uses, where they are installed. Headers of both
 * are needed to build it (libpapi-dev, libpfm4-dev). */
#pragma once

#include "bench/base/err.h"

#if __has_include(<papi.h>) && __has_include(<perfmon/pfmlib_perf_event.h>)
#define PAPI_LIBRARY_IS_BUILT 1
/* First: libpfm4's header has structures of the same names, and leaves them out then. */
#include <linux/perf_event.h>

#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#else
#define PAPI_LIBRARY_IS_BUILT 0
#endif

/* A member for each function of them that is used, with the function's name and type. */
#define PAPI_LIBRARY_FUNCTIONS(EACH)                                                                         \
    EACH(PAPI_library_init)                                                                                  \
    EACH(PAPI_event_name_to_code)                                                                            \
    EACH(PAPI_get_event_info)                                                                                \
    EACH(pfm_get_os_event_encoding)

struct papi_library {
    void *handle;
#if PAPI_LIBRARY_IS_BUILT
#define PAPI_LIBRARY_MEMBER(NAME) __typeof__(&NAME) NAME;
    PAPI_LIBRARY_FUNCTIONS(PAPI_LIBRARY_MEMBER)
#undef PAPI_LIBRARY_MEMBER
#endif
};

/* Loads it and starts it. 0; -ENOSYS where it is not installed, or was not when fstune was built. */
int papi_library_open(struct papi_library *library, struct err *err);
void papi_library_close(struct papi_library *library);
