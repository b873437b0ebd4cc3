/* bench/profile/trace_library: loaded when it is needed, so that fstune runs without it. */
#include "bench/profile/trace_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBRARY "libbpf.so.1"

/* False: it has no such function. */
static bool find(const struct trace_library *library, const char *name, void *place)
{
    void *address = dlsym(library->handle, name);
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

int trace_library_open(struct trace_library *library, struct err *err)
{
    library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = library->handle != NULL;
#define FIND(NAME) is_whole = is_whole && find(library, #NAME, &library->NAME);
    TRACE_LIBRARY_FUNCTIONS(FIND)
#undef FIND
    if (is_whole)
        return 0;
    trace_library_close(library);
    return err_set(err, -ENOSYS, "recording by the kernel needs " LIBRARY "; install libbpf1");
}

void trace_library_close(struct trace_library *library)
{
    if (library->handle != NULL)
        dlclose(library->handle);
    library->handle = NULL;
}
