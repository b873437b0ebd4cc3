/* tuner/store/libpq: the library's functions, found by their names. */
#include "tuner/store/libpq.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#define NAME "libpq.so.5"

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define LIBPQ_ROW(name) {#name, offsetof(struct libpq, name)},
    LIBPQ_FUNCTIONS(LIBPQ_ROW)
#undef LIBPQ_ROW
};

int libpq_load(const struct libpq **ret_libpq, struct err *err)
{
    static struct libpq libpq;
    static void *handle;
    /* A program without an interpreter is static: it could load only libraries of the libc that it was built
     * with. */
    if (getauxval(AT_BASE) == 0)
        return err_set(
            err, -ENOSYS,
            "the static fstune has no PostgreSQL; save to a file, and push it with fstune's package");
    if (handle == NULL)
        handle = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return err_set(err, -ENOSYS, "PostgreSQL's library " NAME " is missing; install it (Debian: libpq5)");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(handle, functions[i].name);
        if (function == NULL)
            return err_set(err, -ENOSYS, NAME " has no %s; install a newer one (Debian: libpq5)",
                           functions[i].name);
        memcpy((char *)&libpq + functions[i].at, &function, sizeof function);
    }
    *ret_libpq = &libpq;
    return 0;
}
