/* tuner/nightly/retune_keep: made once, recognised later. */
#include "tuner/nightly/retune_steps.h"

#include "bench/base/rng.h"
#include "bench/host/device_lock.h"
#include "bench/target/target_keep.h"
#include "tuner/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOWN 200

struct keep {
    char record[PATH_MAX]; /* DB.NAME.kept */
    char name[RETUNE_CONFIG_NAME_SIZE + 16];
};

/* The file is not known where there is no record, or where the record does not say it. */
static int read_record(const struct keep *keep, bool *ret_known, struct target_keep_id *ret_id,
                       struct err *err)
{
    json_int_t inode, size, modified;
    struct replace_text text = {0};
    int result = replace_load(keep->record, REPLACE_OWN, &text, err);
    if (result < 0)
        return result;
    json_t *record = text.bytes != NULL ? json_loads(text.bytes, JSON_REJECT_DUPLICATES, NULL) : NULL;
    *ret_known = json_unpack(record, "{s:I, s:I, s:I}", "inode", &inode, "size_bytes", &size, "modified_ns",
                             &modified) == 0;
    json_decref(record);
    free(text.bytes);
    if (*ret_known)
        *ret_id = (struct target_keep_id){
            .inode = (uint64_t)inode, .size_bytes = (uint64_t)size, .modified_ns = (uint64_t)modified};
    return 0;
}

static int write_record(const struct keep *keep, const struct target_keep_id *id, struct err *err)
{
    char text[256];
    int n = snprintf(text, sizeof text, "{\"inode\": %lld, \"size_bytes\": %lld, \"modified_ns\": %lld}\n",
                     (long long)id->inode, (long long)id->size_bytes, (long long)id->modified_ns);
    return replace_file(keep->record, REPLACE_OWN, text, (size_t)n, err);
}

static int lock_kept_device(const struct settings *settings, int *ret_lock_fd, struct err *err)
{
    *ret_lock_fd = -1;
    if (settings->file.no_lock)
        return 0;
    int fd = open(settings->file.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd >= 0 ? device_lock_take(fd, ret_lock_fd, NULL) : 0;
    if (fd >= 0)
        close(fd);
    return result == -EWOULDBLOCK ? err_set(err, result, "another fstune is measuring this device") : 0;
}

static void show_life(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)done_bytes;
    (void)total_bytes;
    retune_expect(context, 0, false);
}

/* The record comes before the name: what is cut short in between leaves no file that nobody knows. */
static int fill_kept_target(const struct retune_world *world, const struct retune_target *target,
                            const struct keep *keep, uint64_t *ret_filled_bytes, struct err *err)
{
    const struct settings *settings = &target->settings;
    const struct target_plan plan = {.directory = settings->file.path,
                                     .size_bytes = settings->file.size_bytes,
                                     .size_is_default = !settings->file.size_given,
                                     .budget_ns = target->first_budget_ns,
                                     .max_write_bytes = settings->limits.max_write_bytes,
                                     .seed = rng_seed_from_system(),
                                     .clock = &clock_monotonic,
                                     .interrupted = world->interrupted,
                                     .progress = show_life,
                                     .progress_context = (void *)(uintptr_t)world};
    struct target made = {0};
    struct target_keep_id id;
    int result = target_create(&made, &plan, err);
    if (result < 0)
        return result;
    *ret_filled_bytes = made.filled_bytes;
    result = target_keep_identify(&made, &id, err);
    if (result == 0)
        result = write_record(keep, &id, err);
    if (result == 0)
        result = target_keep_link(&made, settings->file.path, keep->name, err);
    target_close(&made);
    return result;
}

static int point_to(const struct keep *keep, struct settings *settings, struct err *err)
{
    size_t size = sizeof settings->file.existing;
    if ((size_t)snprintf(settings->file.existing, size, "%s/%s", settings->file.path, keep->name) >= size)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, settings->file.path);
    /* Only fstune uses the file, so its pages may be dropped like those of a new one. */
    if (!settings->workload.cache_given)
        settings->workload.cache = MEASURE_CACHE_COLD;
    settings->workload.cache_given = true;
    return 0;
}

int retune_keep(const struct retune_world *world, const struct retune_target *target,
                struct settings *settings, uint64_t *ret_filled_bytes, struct err *err)
{
    struct keep keep;
    struct target_keep_id id;
    bool known = false;
    int lock_fd;
    *ret_filled_bytes = 0;
    snprintf(keep.name, sizeof keep.name, ".fstune-%s", target->name);
    if ((size_t)snprintf(keep.record, sizeof keep.record, "%s.%s.kept", world->db, target->name) >=
        sizeof keep.record)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, world->db);
    int result = read_record(&keep, &known, &id, err);
    if (result < 0)
        return result;
    result = target_keep_check(settings->file.path, keep.name, known ? &id : NULL, err);
    if (result == -ENOENT) {
        result = lock_kept_device(&target->settings, &lock_fd, err);
        if (result == 0)
            result = fill_kept_target(world, target, &keep, ret_filled_bytes, err);
        if (lock_fd >= 0)
            close(lock_fd);
    }
    return result < 0 ? result : point_to(&keep, settings, err);
}
