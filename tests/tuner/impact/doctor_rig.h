/* tests/tuner/impact/doctor_rig: a check in doctor's document, and file systems with too little in them. */
#pragma once

#include "tests/tuner/rig.h"

#include <sched.h>
#include <sys/mount.h>

static inline const json_t *check_of(const json_t *document, const char *name)
{
    return json_find(json_object_get(document, "checks"), "name", name);
}

/* A file system of its own that only the child sees, and that goes away with it. */
static inline bool mount_tiny(unsigned long flags, const char *options)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tiny", "tiny", "tmpfs", flags, options) == 0;
}

static inline bool mount_small(void)
{
    return mount_tiny(0, "size=64m");
}

static inline bool mount_read_only(void)
{
    return mount_tiny(MS_RDONLY, "size=512m");
}
