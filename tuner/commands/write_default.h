/* tuner/commands/write_default: how much a measurement writes at most where --max-write is not given. */
#pragma once

#include "tuner/options/settings.h"

#include <stdint.h>

#define WRITE_DEFAULT_BYTES       (64ULL << 30)
#define WRITE_DEFAULT_BUDGET_NS   (60ULL * 1000000000)
#define WRITE_DEFAULT_SSD_SHARE   16
#define WRITE_DEFAULT_LEAST_BYTES (8ULL << 30)

/* 64 GiB, and of a budget above 60 s in proportion more; but of an SSD at most a sixteenth, or 8 GiB where
 * that is less. In whole GiB. ssd_bytes: 0 where the device does not wear out, or nobody knows. */
uint64_t write_default_bytes(uint64_t budget_ns, uint64_t ssd_bytes);

/* Sets the limit, unless one is given or nothing real is measured. A disk of a guest counts as no SSD,
 * because a guest cannot know what is behind it. */
void write_default_settle(struct settings *settings);
