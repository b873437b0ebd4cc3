/* bench/base/private_file: a file in a directory such as /run/fstune that nobody but root and we can have
 * made, lock or replace. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Opens the file for reading and writing, the mode of a new one is 0600. `forbidden` are the rights that it
 * may not grant. create: the directory and the file are made where they are missing. The directory and the
 * file must belong to root or to us, the directory may be writable by its owner alone, and the file is a
 * regular one with one name: a second one might be a link that somebody made to a file of root's. Returns a
 * descriptor or -errno; -EPERM: not to be trusted. */
int private_file_open(const char *directory, const char *name, bool create, mode_t forbidden);
