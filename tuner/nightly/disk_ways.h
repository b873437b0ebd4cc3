/* tuner/nightly/disk_ways: the ways of an image's requests as settings to choose from, and as words. */
#pragma once

#include "bench/disk/image_path.h"
#include "models/online/online.h"

#include <stdatomic.h>

#define DISK_WAYS_TEXT_SIZE 64
#define DISK_WAYS_N         4 /* factors */

/* What image_path does like any other server of a file: cached, whole, with the kernel's read-ahead. */
#define DISK_WAYS_PLAIN ((struct image_way){.ahead_bytes = IMAGE_AHEAD_KERNEL})

struct disk_ways {
    atomic_bool can_direct; /* may become false while others look */
    bool can_split;
    bool is_kept;  /* the page cache can hold the whole image: what leaves less there is not used by itself */
    unsigned kind; /* that disk_ways_space was called for last: its settings are listed later */
};

struct image_way disk_ways_of_setting(const struct online_setting *setting);
struct online_setting disk_ways_to_setting(struct image_way way);

/* The settings that are worth a trial for a kind of load; NULL: fewer than two, or no memory. `ways` stays
 * where it is until libfstune has listed the settings. */
struct fst_space *disk_ways_space(struct disk_ways *ways, unsigned kind);

/* Whether the setting can be taken here. */
bool disk_ways_may_use(const struct disk_ways *ways, const struct online_setting *setting);

/* "cached", "cached,pieces=64k,ahead=4m", "cached,ahead=none", "cached,out=1m", "direct,pieces=128k". */
const char *disk_ways_format(struct image_way way, char buffer[static DISK_WAYS_TEXT_SIZE]);
/* 0 or -EINVAL. */
int disk_ways_parse(const char *text, struct image_way *ret_way);
