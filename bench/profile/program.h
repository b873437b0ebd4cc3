/* bench/profile/program: can a library be loaded into this program? */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds the program as a shell does. 0, -ENOENT or -EACCES. */
int program_find_path(const char *name, char *path, size_t size, struct err *err);

/* The same. 0; -ENOENT, -EACCES, or -EINVAL with the reason why wrappers cannot be
 * loaded into it: it is linked statically, it runs as another user (setuid, setgid, capabilities), or it is
 * made for another machine than fstune. A script counts as its interpreter. */
int program_find(const char *name, char *path, size_t size, struct err *err);

/* The file at path gives who runs it another user's rights, as far as this can be seen. */
bool program_runs_as_another(const char *path);
