/* bench/base/access: what a dry run asks instead of making a file. */
#include "bench/base/access.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>

int access_writable_file(const char *path)
{
    char copy[PATH_MAX];
    if (access(path, W_OK) == 0)
        return 0;
    if (errno != ENOENT)
        return -errno;
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return -ENAMETOOLONG;
    return access_directory(AT_FDCWD, dirname(copy));
}
