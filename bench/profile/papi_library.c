/* bench/profile/papi_library: loaded when it is needed, so that fstune runs without it. */
#include "bench/profile/papi_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if PAPI_LIBRARY_IS_BUILT

/* False: it has no such function. libpfm4 is found through PAPI, which is linked to it. */
static bool find(const struct papi_library *library, const char *name, void *place)
{
    void *address = dlsym(library->handle, name);
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

int papi_library_open(struct papi_library *library, struct err *err)
{
    char name[32];
    /* Of the version whose header was used: its structures differ from version to version. */
    snprintf(name, sizeof name, "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION));
    /* What it has found out of the machine stays in it: where it does not know the processor, it does not
     * free that. */
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool is_whole = library->handle != NULL;
#define FIND(NAME) is_whole = is_whole && find(library, #NAME, &library->NAME);
    PAPI_LIBRARY_FUNCTIONS(FIND)
#undef FIND
    if (is_whole && library->PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT)
        return 0;
    if (library->handle != NULL)
        dlclose(library->handle);
    library->handle = NULL;
    return is_whole ? err_set(err, -ENOSYS, "PAPI (%s) does not start on this machine", name)
                    : err_set(err, -ENOSYS, "hardware events need %s with libpfm4; install libpapi%d.%d",
                              name, PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION));
}

void papi_library_close(struct papi_library *library)
{
    if (library->handle == NULL)
        return;
    dlclose(library->handle);
    library->handle = NULL;
}

#else

int papi_library_open(struct papi_library *library, struct err *err)
{
    library->handle = NULL;
    return err_set(
        err, -ENOSYS,
        "this fstune was built without PAPI; install libpapi-dev and libpfm4-dev, then make clean and make");
}

void papi_library_close(struct papi_library *library)
{
    library->handle = NULL;
}

#endif
