/* tuner/profile/import_strace_files: what the descriptors in a trace are, and where they stand. A descriptor
 * is its number and its path, as strace -y prints them together: threads and children share it. */
#pragma once

#include "tuner/profile/import_feed.h"

#define STRACE_FILES 8192

struct strace_file {
    uint64_t key; /* of number and path; 0: free */
    uint64_t file, position, used;
    uint32_t handle;
    unsigned flags; /* PROFILE_DIRECT, PROFILE_DURABLE */
    bool appends;
};

struct strace_files {
    struct strace_file slot[STRACE_FILES];
    uint64_t clock;
};

/* "3</path>" at *at, which moves behind it; made where it is new. NULL: no descriptor, or one of no file. */
struct strace_file *strace_files_find(struct strace_files *files, struct import_feed *feed, char **at);

/* It was opened with these flags, as strace prints them. */
void strace_files_opened(struct strace_file *file, struct import_feed *feed, const char *flags);
