/* tuner/writes/validate: a predicted load of writes, made for real and compared (`fstune predict write
 * --validate`).
 */
#ifndef FSTUNE_TUNER_WRITES_VALIDATE_H
#define FSTUNE_TUNER_WRITES_VALIDATE_H

#include "models/cawl/cawl.h"
#include "tuner/options/settings.h"
#include "tuner/writes/host_file.h"
#include "tuner/writes/write_load.h"

#include <stdint.h>

/* What the options say beside the settings that all commands share. */
struct validate_plan {
    enum cawl_mode mode; /* one that can be made: not CAWL_NAIVE, which is always compared with */
    struct cawl_options options;
    uint32_t n_repetitions; /* 1..SETTINGS_REPETITIONS_MAX */
    const char *csv;        /* a file to write one line per chunk to; "-": stdout instead of the text; NULL or
                               "": none */
    const char *picture;    /* NAME.png, .svg or .pdf; NULL or "": none */
};

/* Makes the load in a nameless file below settings->path (--path, --max-write, --seed, --no-lock, --quiet,
 * --dry-run and --json are obeyed), compares it with the model and prints. Returns the exit code of the
 * command; 5: it was refused by what the machine cannot do. */
int validate_write(const struct settings *settings, const struct host_file *host,
                   const struct write_load *load, const struct validate_plan *plan);

#endif
