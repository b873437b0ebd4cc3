/* tuner/base/trust: whether anybody else could have put a file where it was found, or could still exchange
 * it.
 *
 * What decides about the current setting, or is run as a command, is taken only from places that belong to
 * root, to us, or to the owner of what is found there. Every directory and every symbolic link on the way is
 * looked at on a descriptor of its own, so nothing can be exchanged between the look and the step. On the way
 * a sticky directory that everybody writes to (/tmp) is good enough, because its entries stay with their
 * owners; the last directory has to be writable for its owner alone. The group's bit counts as others': where
 * there is a POSIX access list it is the list's mask, so it covers users named there too. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <sys/stat.h>

/* 0: *ret_fd, which the caller closes, is open for reading. -EPERM: somebody else could write there;
 * -ENOTDIR; or the errno of opening. */
int trust_open_directory(const char *path, int *ret_fd, struct err *err);

/* Before a file is opened by its name. 0 also where there is none and nobody else could make it. -EPERM:
 * somebody else could have written it. by_owner: a file of an ordinary user, in a directory of that user,
 * will do for root as well. */
int trust_check_file(const char *path, bool by_owner, struct err *err);

/* A file as it was opened: 0, or -EPERM where its mode lets others than its owner write. */
int trust_check_mode(const struct stat *status, const char *name, struct err *err);
