/* tests/bench/target/target_rig: a private directory and small plans for the tests of the target file. */
#pragma once

#include "bench/target/target.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ULL << 20)

static inline int rig_remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void rig_remove_tree(const char *path)
{
    nftw(path, rig_remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* A new directory below $TMPDIR; exits the test program when there can be none. */
static inline void rig_make_directory(char path[static 256])
{
    const char *base = getenv("TMPDIR");
    snprintf(path, 256, "%s/fstune-test-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(1);
    }
}

/* The directory of a test program, gone when it ends. */
static char directory[256];
static pid_t directory_owner; /* a child that ends must not take it along */

__attribute__((constructor)) static void directory_make(void)
{
    rig_make_directory(directory);
    directory_owner = getpid();
}

__attribute__((destructor)) static void directory_remove(void)
{
    if (directory_owner == getpid())
        rig_remove_tree(directory);
}

/* With no more said than whether it may be written to and overwritten. */
static inline int rig_open_existing(struct target *target, const char *path, bool for_writing, bool overwrite,
                                    struct err *err)
{
    const struct target_existing existing = {
        .path = path, .for_writing = for_writing, .overwrite = overwrite};
    return target_open_existing(target, &existing, err);
}

/* The path of a name in it, in one of a few buffers. */
static inline const char *rig_in(const char *name)
{
    static char paths[8][400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, 400, "%s/%s", directory, name);
    return path;
}

static inline int rig_count_entries(const char *path)
{
    DIR *stream = opendir(path);
    int n = -2; /* "." and ".." */
    while (stream != NULL && readdir(stream) != NULL)
        n++;
    if (stream != NULL)
        closedir(stream);
    return n;
}

static inline struct target_plan rig_plan(const char *below, uint64_t size_bytes)
{
    return (struct target_plan){.directory = below,
                                .size_bytes = size_bytes,
                                .max_write_bytes = UINT64_MAX,
                                .seed = 1,
                                .clock = &clock_monotonic};
}
