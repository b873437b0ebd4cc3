/* tuner/session/drive_health: what the drive itself counts: bytes that the host wrote, life that is used up,
 * temperature, throttling, media errors.
 *
 * Sources: `smartctl --json=o -A` for NVMe and SATA (NVMe: SMART / Health Information log, a data unit is
 * 1000 blocks of 512 bytes; SATA: attributes, by the names that smartmontools gives them), sysfs for eMMC and
 * UFS (life time estimation of JEDEC: steps of 10 %, the upper end counts). */
#pragma once

#include "bench/base/clock.h"
#include "bench/host/hostinfo.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define WEAR_WHY_SIZE 200

/* Numbers that the drive does not count are NaN; none is negative. */
struct drive_health {
    bool known; /* at least one number is there */
    double host_written_bytes;
    double percentage_used; /* of the rated life; may exceed 100 */
    double temperature_c;
    double thermal_throttle_s; /* time spent throttled, over the drive's life */
    double media_errors;
    double power_on_hours;
    double critical_warning;     /* NVMe: bits; 0: none */
    char why_not[WEAR_WHY_SIZE]; /* where !known */
};

/* Reads smartctl's JSON. False with ret_drive_health->why_not when it holds no counters. */
bool drive_health_parse_smartctl(const char *text, size_t length, struct drive_health *ret_drive_health);

/* "0x01 0x03" of eMMC, "0x02" of UFS. False when it is neither. */
bool drive_health_parse_life_time(const char *text, struct drive_health *ret_drive_health);

/* Asks the disk that `host` (hostinfo_collect) names. Takes milliseconds where there is nothing to ask, and
 * three seconds at most; `interrupted` (may be NULL) ends it. Never fails: what is not known says why. */
void drive_health_read(const struct hostinfo *host, const struct clock *clock, const atomic_int *interrupted,
                       struct drive_health *ret_drive_health);

/* {"before": {...}, "after": {...}, "written_bytes": n, "year_share": n} or {"unknown": "why"}. A new
 * reference. */
json_t *drive_health_json(const struct drive_health *before, const struct drive_health *after);

/* Bytes the drive saw written between the two; NaN when it does not count them. */
double drive_health_written_bytes(const struct drive_health *before, const struct drive_health *after);

/* Those bytes as a share of what the drive may take in a year, if its rated life is meant to last five years
 * as most warranties do. The drive tells its life in whole per cents, and from what it took for them follows
 * the whole; NaN before the first of them, and where it counts no bytes. */
double drive_health_year_share(const struct drive_health *before, const struct drive_health *after);

/* "drive: 3.23 GB written meanwhile (2.5 % of a year's rated writes), 2 % of its rated life used, 38 C, 6
 * media errors"; "" when nothing is known. before may be NULL: only the state is said. */
const char *drive_health_format(const struct drive_health *before, const struct drive_health *after,
                                char *buffer, size_t size);
