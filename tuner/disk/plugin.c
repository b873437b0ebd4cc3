/* nbdkit-fstune-plugin: a disk image for QEMU and other clients of NBD that tunes itself while it is served.
 */
#include "bench/base/units.h"
#include "tuner/disk/control.h"
#include "tuner/disk/served.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static struct {
    char *file, *history, *control;
    double regret_share;
    bool dry_run, is_open;
    struct served served;
    struct control control_thread;
    pthread_mutex_t opening, extents;
} disk = {.regret_share = 0.03, .opening = PTHREAD_MUTEX_INITIALIZER, .extents = PTHREAD_MUTEX_INITIALIZER};

/* News are for who runs nbdkit with -v. */
static void say(bool is_wrong, const char *format, va_list arguments)
{
    if (is_wrong)
        nbdkit_verror(format, arguments);
    else
        nbdkit_vdebug(format, arguments);
}

static int set_path(char **path, const char *value)
{
    free(*path);
    *path = nbdkit_absolute_path(value);
    return *path != NULL ? 0 : -1;
}

static int disk_config(const char *key, const char *value)
{
    if (strcmp(key, "file") == 0)
        return set_path(&disk.file, value);
    if (strcmp(key, "history") == 0)
        return set_path(&disk.history, value);
    if (strcmp(key, "control") == 0)
        return set_path(&disk.control, value);
    if (strcmp(key, "regret") == 0) {
        if (units_parse_share(value, &disk.regret_share) == 0 && disk.regret_share <= 0.5)
            return 0;
        nbdkit_error("regret=%s: give a share of 50%% at most, such as 3%%", value);
        return -1;
    }
    if (strcmp(key, "dry-run") == 0) {
        int yes = nbdkit_parse_bool(value);
        disk.dry_run = yes > 0;
        return yes < 0 ? -1 : 0;
    }
    nbdkit_error("%s: is no parameter; file, history, control, regret and dry-run are", key);
    return -1;
}

/* The image is opened and locked when the first client comes, because only then it is known whether it is for
 * reading only. What is wrong for sure is said before. */
static int disk_config_complete(void)
{
    struct stat status;
    if (disk.file == NULL)
        nbdkit_error("file=IMAGE is missing: the disk image to serve");
    else if (stat(disk.file, &status) != 0)
        nbdkit_error("%s: %s", disk.file, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        nbdkit_error("%s: is no image file; devices are not served so far", disk.file);
    else
        return 0;
    return -1;
}

static int open_once(int readonly)
{
    struct served_options options = {.path = disk.file,
                                     .writable = readonly == 0,
                                     .regret_share = disk.regret_share,
                                     .dry_run = disk.dry_run,
                                     .history = disk.history,
                                     .say = say};
    struct err err;
    if (served_open(&disk.served, &options, &err) < 0) {
        nbdkit_error("%s", err.text);
        return -1;
    }
    if (disk.control != NULL && control_open(&disk.control_thread, &disk.served, disk.control, &err) < 0) {
        nbdkit_error("%s", err.text);
        served_close(&disk.served);
        return -1;
    }
    disk.is_open = true;
    return 0;
}

static void disk_cleanup(void)
{
    if (!disk.is_open)
        return;
    if (disk.control != NULL)
        control_close(&disk.control_thread);
    served_close(&disk.served);
    disk.is_open = false;
}

static void disk_unload(void)
{
    disk_cleanup();
    free(disk.file);
    free(disk.history);
    free(disk.control);
}

static int disk_preconnect(int readonly)
{
    pthread_mutex_lock(&disk.opening);
    int result = disk.is_open ? 0 : open_once(readonly);
    pthread_mutex_unlock(&disk.opening);
    return result;
}

static void *disk_open(int readonly)
{
    (void)readonly;
    return calloc(1, sizeof(struct gate_client));
}

static int64_t disk_get_size(void *handle)
{
    (void)handle;
    return (int64_t)disk.served.image.size_bytes;
}

static int disk_can_write(void *handle)
{
    (void)handle;
    return disk.served.image.writable;
}

static int disk_yes(void *handle)
{
    (void)handle;
    return 1;
}

static int disk_can_fua(void *handle)
{
    (void)handle;
    return NBDKIT_FUA_NATIVE;
}

static int disk_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
    (void)handle;
    *minimum = 1;
    *preferred = 4096;
    *maximum = UINT32_MAX;
    return 0;
}

static int answer(int code)
{
    if (code == 0)
        return 0;
    nbdkit_set_error(-code);
    return -1;
}

static int disk_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)flags;
    return answer(served_read(&disk.served, handle, buffer, count, offset));
}

static int disk_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0;
    return answer(served_write(&disk.served, handle, buffer, count, offset, durable));
}

static int disk_flush(void *handle, uint32_t flags)
{
    (void)handle;
    (void)flags;
    return answer(served_flush(&disk.served));
}

/* What cannot be given back is left as it is: a trim is advice. */
static int disk_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle;
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0;
    int code = served_zero(&disk.served, offset, count, true, durable);
    if (code == -EOPNOTSUPP)
        code = durable ? served_flush(&disk.served) : 0;
    return answer(code);
}

static int disk_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle;
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0, punch = (flags & NBDKIT_FLAG_MAY_TRIM) != 0;
    int code = served_zero(&disk.served, offset, count, punch, durable);
    return answer(code);
}

static int disk_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags,
                        struct nbdkit_extents *extents)
{
    (void)handle;
    uint64_t end = offset, limit = offset + count;
    int result = 0;
    do {
        uint64_t begin = end;
        bool is_hole = false;
        pthread_mutex_lock(&disk.extents);
        int code = image_extent(&disk.served.image, begin, &end, &is_hole);
        pthread_mutex_unlock(&disk.extents);
        if (code < 0)
            return answer(code);
        result = nbdkit_add_extent(extents, begin, end - begin,
                                   is_hole ? NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO : 0);
    } while (result == 0 && end < limit && (flags & NBDKIT_FLAG_REQ_ONE) == 0);
    return result;
}

static struct nbdkit_plugin plugin = {
    .name = "fstune",
    .version = FSTUNE_VERSION,
    .longname = "a disk image that tunes itself",
    .description =
        "Serves a disk image, recognises the load, and chooses how requests are made while it serves.",
    .magic_config_key = "file",
    .config_help = "file=IMAGE      the disk image to serve\n"
                   "regret=3%%       what trials may cost at most, of the bytes served\n"
                   "history=FILE    where what was found is kept for the next session\n"
                   "control=SOCKET  where `status`, `freeze`, `pin` and others are taken\n"
                   "dry-run=true    the load is recognised, and nothing is changed",
    .unload = disk_unload,
    .config = disk_config,
    .config_complete = disk_config_complete,
    .preconnect = disk_preconnect,
    .cleanup = disk_cleanup,
    .open = disk_open,
    .close = free,
    .get_size = disk_get_size,
    .can_write = disk_can_write,
    .can_flush = disk_yes,
    .can_trim = disk_can_write,
    .can_zero = disk_can_write,
    .can_fua = disk_can_fua,
    .can_multi_conn = disk_yes,
    .can_extents = disk_yes,
    .block_size = disk_block_size,
    .pread = disk_pread,
    .pwrite = disk_pwrite,
    .flush = disk_flush,
    .trim = disk_trim,
    .zero = disk_zero,
    .extents = disk_extents,
    .errno_is_preserved = 0,
};

NBDKIT_REGISTER_PLUGIN(plugin)
