/* Ways, settings and words. */
#include "tuner/nightly/disk_ways.h"

#include "bench/base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DIRECT, PIECES, AHEAD, OUT, N_FACTORS };

_Static_assert(N_FACTORS == DISK_WAYS_N, "each factor is one of the spaces");

static const double piece_levels[] = {0, 64 << 10, 128 << 10};
static const double ahead_levels[] = {0, IMAGE_AHEAD_KERNEL, 1 << 20, 4 << 20};
static const double out_levels[] = {0, 64 << 10, 1 << 20};
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

struct image_way disk_ways_of_setting(const struct online_setting *setting)
{
    return (struct image_way){.direct = setting->values[DIRECT] > 0,
                              .piece_bytes = (uint32_t)setting->values[PIECES],
                              .ahead_bytes = (uint32_t)setting->values[AHEAD],
                              .out_bytes = (uint32_t)setting->values[OUT]};
}

struct online_setting disk_ways_to_setting(struct image_way way)
{
    return (struct online_setting){{way.direct, way.piece_bytes, way.ahead_bytes, way.out_bytes}};
}

/* In the page cache, for those that come later. */
static bool leaves_less(const double *values)
{
    return values[DIRECT] > 0 || values[AHEAD] < IMAGE_AHEAD_KERNEL;
}

bool disk_ways_may_use(const struct disk_ways *ways, const struct online_setting *setting)
{
    return (!(setting->values[DIRECT] > 0) || ways->can_direct) &&
           (!(setting->values[PIECES] > 0) || ways->can_split) &&
           !(ways->is_kept && leaves_less(setting->values));
}

/* Of settings that do the same for this kind of load, one is enough. */
static int is_forbidden(const double *values, void *context)
{
    const struct disk_ways *ways = context;
    unsigned kind = ways->kind;
    bool is_plain_ahead = disk_ways_to_setting(DISK_WAYS_PLAIN).values[AHEAD] - values[AHEAD] == 0;
    if (values[DIRECT] > 0 && (!ways->can_direct || !is_plain_ahead))
        return 1;
    if (ways->is_kept && leaves_less(values))
        return 1;
    if (values[OUT] > 0 && (values[DIRECT] > 0 || !is_plain_ahead || kind_only_reads(kind)))
        return 1;
    /* A write into the page cache waits for no device, so that nothing is gained by pieces at once. */
    bool waits = values[DIRECT] > 0 || !kind_only_writes(kind);
    if (values[PIECES] > 0 && (!ways->can_split || !kind_is_large(kind) || !waits))
        return 1;
    if (kind_only_writes(kind))
        return !is_plain_ahead;
    return values[AHEAD] > IMAGE_AHEAD_KERNEL && !kind_is_sequential(kind);
}

static size_t count(struct disk_ways *ways)
{
    size_t n = 0;
    for (size_t i = 0; i < 2 * N_OF(piece_levels) * N_OF(ahead_levels) * N_OF(out_levels); i++) {
        double values[] = {(double)(i % 2), piece_levels[i / 2 % N_OF(piece_levels)],
                           ahead_levels[i / 2 / N_OF(piece_levels) % N_OF(ahead_levels)],
                           out_levels[i / 2 / N_OF(piece_levels) / N_OF(ahead_levels)]};
        n += is_forbidden(values, ways) == 0;
    }
    return n;
}

struct fst_space *disk_ways_space(struct disk_ways *ways, unsigned kind)
{
    ways->kind = kind;
    struct fst_space *space = count(ways) >= 2 ? fst_space_new() : NULL;
    if (space == NULL)
        return NULL;
    if (fst_space_add_choices(space, "direct", 2) < 0 ||
        fst_space_add_levels(space, "pieces", piece_levels, N_OF(piece_levels)) < 0 ||
        fst_space_add_levels(space, "ahead", ahead_levels, N_OF(ahead_levels)) < 0 ||
        fst_space_add_levels(space, "out", out_levels, N_OF(out_levels)) < 0) {
        fst_space_free(space);
        return NULL;
    }
    fst_space_forbid(space, is_forbidden, ways);
    return space;
}

const char *disk_ways_format(struct image_way way, char buffer[static DISK_WAYS_TEXT_SIZE])
{
    char size[UNITS_TEXT_SIZE];
    int n = snprintf(buffer, DISK_WAYS_TEXT_SIZE, "%s", way.direct ? "direct" : "cached");
    if (way.piece_bytes > 0)
        n += snprintf(buffer + n, DISK_WAYS_TEXT_SIZE - (size_t)n, ",pieces=%s",
                      units_format_size(way.piece_bytes, size));
    if (way.ahead_bytes != IMAGE_AHEAD_KERNEL)
        n += snprintf(buffer + n, DISK_WAYS_TEXT_SIZE - (size_t)n, ",ahead=%s",
                      way.ahead_bytes == 0 ? "none" : units_format_size(way.ahead_bytes, size));
    if (way.out_bytes > 0)
        snprintf(buffer + n, DISK_WAYS_TEXT_SIZE - (size_t)n, ",out=%s",
                 units_format_size(way.out_bytes, size));
    return buffer;
}

static bool is_level(const double *levels, size_t n, uint64_t value)
{
    size_t i = 0;
    while (i < n && (uint64_t)levels[i] != value)
        i++;
    return i < n;
}

static int parse_part(const char *part, struct image_way *way)
{
    uint64_t bytes = 0;
    if (strcmp(part, "ahead=none") == 0 && !way->direct) {
        way->ahead_bytes = 0;
        return 0;
    }
    const char *value = strchr(part, '=');
    if (value == NULL || units_parse_size(value + 1, &bytes) < 0 || bytes <= IMAGE_AHEAD_KERNEL)
        return -EINVAL;
    if (strncmp(part, "pieces=", 7) == 0 && is_level(piece_levels, N_OF(piece_levels), bytes))
        way->piece_bytes = (uint32_t)bytes;
    else if (strncmp(part, "ahead=", 6) == 0 && is_level(ahead_levels, N_OF(ahead_levels), bytes) &&
             !way->direct)
        way->ahead_bytes = (uint32_t)bytes;
    else if (strncmp(part, "out=", 4) == 0 && is_level(out_levels, N_OF(out_levels), bytes) && !way->direct)
        way->out_bytes = (uint32_t)bytes;
    else
        return -EINVAL;
    return 0;
}

int disk_ways_parse(const char *text, struct image_way *ret_way)
{
    char copy[DISK_WAYS_TEXT_SIZE], *rest = copy;
    if (strlen(text) >= sizeof(copy))
        return -EINVAL;
    snprintf(copy, sizeof(copy), "%s", text);
    const char *part = strsep(&rest, ",");
    struct image_way way = DISK_WAYS_PLAIN;
    way.direct = strcmp(part, "direct") == 0;
    if (!way.direct && strcmp(part, "cached") != 0)
        return -EINVAL;
    while ((part = strsep(&rest, ",")) != NULL) {
        if (parse_part(part, &way) < 0)
            return -EINVAL;
    }
    *ret_way = way;
    return 0;
}
