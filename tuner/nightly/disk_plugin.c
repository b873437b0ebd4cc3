/* nbdkit-fstune-plugin: a disk image for QEMU and other NBD clients that tunes itself while it is served. */
#include "bench/base/clock.h"
#include "bench/base/units.h"
#include "tuner/nightly/disk.h"
#include "tuner/nightly/disk_control.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static struct {
    char *file, *history, *control;
    double regret_share, cache_bytes, thinking_share;
    uint64_t device_bytes, stall_ns;
    bool dry_run, is_open;
    struct disk served;
    struct disk_control control_thread;
    pthread_mutex_t opening, extents;
} plugin_disk = {.regret_share = 0.03,
                 .stall_ns = 10 * CLOCK_NS_PER_S,
                 .cache_bytes = NAN,
                 .opening = PTHREAD_MUTEX_INITIALIZER,
                 .extents = PTHREAD_MUTEX_INITIALIZER};

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

static int set_cache(const char *value)
{
    uint64_t bytes;
    if (units_parse_size(value, &bytes) < 0 && strcmp(value, "0") != 0) {
        nbdkit_error("cache=%s: give a size such as 4g, or 0", value);
        return -1;
    }
    plugin_disk.cache_bytes = strcmp(value, "0") == 0 ? 0 : (double)bytes;
    return 0;
}

static int on_config(const char *key, const char *value)
{
    if (strcmp(key, "file") == 0)
        return set_path(&plugin_disk.file, value);
    if (strcmp(key, "history") == 0)
        return set_path(&plugin_disk.history, value);
    if (strcmp(key, "control") == 0)
        return set_path(&plugin_disk.control, value);
    if (strcmp(key, "regret") == 0) {
        if (units_parse_share(value, &plugin_disk.regret_share) == 0 && plugin_disk.regret_share <= 0.5)
            return 0;
        nbdkit_error("regret=%s: give a share of 50%% at most, such as 3%%", value);
        return -1;
    }
    if (strcmp(key, "cache") == 0)
        return set_cache(value);
    if (strcmp(key, "device-size") == 0) {
        if (units_parse_count(value, INT64_MAX, &plugin_disk.device_bytes) == 0 &&
            plugin_disk.device_bytes > 0)
            return 0;
        nbdkit_error(
            "device-size=%s: give the size of the block device in bytes, as blockdev --getsize64 prints it",
            value);
        return -1;
    }
    if (strcmp(key, "cpu") == 0) {
        if (units_parse_share(value, &plugin_disk.thinking_share) == 0 &&
            plugin_disk.thinking_share >= 0.0001)
            return 0;
        nbdkit_error("cpu=%s: give a share of one processor from 0.01%% to 100%%, such as 5%%", value);
        return -1;
    }
    if (strcmp(key, "stall") == 0) {
        if (units_parse_duration(value, &plugin_disk.stall_ns) == 0 && plugin_disk.stall_ns > 0)
            return 0;
        nbdkit_error("stall=%s: give a time such as 10s", value);
        return -1;
    }
    if (strcmp(key, "dry-run") == 0) {
        int yes = nbdkit_parse_bool(value);
        plugin_disk.dry_run = yes > 0;
        return yes < 0 ? -1 : 0;
    }
    nbdkit_error(
        "%s: is no parameter; file, device-size, history, control, regret, cache, cpu, stall and dry-run are",
        key);
    return -1;
}

/* The image is opened and locked when the first client comes, because only then it is known whether it is for
 * reading only. What is wrong for sure is said before. */
static int on_config_complete(void)
{
    struct stat status;
    if (plugin_disk.file == NULL)
        nbdkit_error("file=IMAGE is missing: the disk image to serve");
    else if (stat(plugin_disk.file, &status) != 0)
        nbdkit_error("%s: %s", plugin_disk.file, strerror(errno));
    else if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
        nbdkit_error("%s: is no image file and no block device", plugin_disk.file);
    else if (S_ISREG(status.st_mode) && plugin_disk.device_bytes != 0)
        nbdkit_error("%s: is a file and not a block device, which device-size is about", plugin_disk.file);
    else
        return 0;
    return -1;
}

static int open_once(int readonly)
{
    struct disk_options options = {.path = plugin_disk.file,
                                   .writable = readonly == 0,
                                   .device_bytes = plugin_disk.device_bytes,
                                   .regret_share = plugin_disk.regret_share,
                                   .cache_bytes = plugin_disk.cache_bytes,
                                   .stall_ns = plugin_disk.stall_ns,
                                   .thinking_share = plugin_disk.thinking_share,
                                   .dry_run = plugin_disk.dry_run,
                                   .history = plugin_disk.history,
                                   .say = say};
    struct err err;
    if (disk_open(&plugin_disk.served, &options, &err) < 0) {
        nbdkit_error("%s", err.text);
        return -1;
    }
    if (plugin_disk.control != NULL &&
        disk_control_open(&plugin_disk.control_thread, &plugin_disk.served, plugin_disk.control, &err) < 0) {
        nbdkit_error("%s", err.text);
        disk_close(&plugin_disk.served);
        return -1;
    }
    plugin_disk.is_open = true;
    return 0;
}

static void on_cleanup(void)
{
    if (!plugin_disk.is_open)
        return;
    if (plugin_disk.control != NULL)
        disk_control_close(&plugin_disk.control_thread);
    disk_close(&plugin_disk.served);
    plugin_disk.is_open = false;
}

static void on_unload(void)
{
    on_cleanup();
    free(plugin_disk.file);
    free(plugin_disk.history);
    free(plugin_disk.control);
}

static int on_preconnect(int readonly)
{
    pthread_mutex_lock(&plugin_disk.opening);
    int result = plugin_disk.is_open ? 0 : open_once(readonly);
    pthread_mutex_unlock(&plugin_disk.opening);
    return result;
}

static void *on_open(int readonly)
{
    (void)readonly;
    return calloc(1, sizeof(struct disk_gate_client));
}

static int64_t on_get_size(void *handle)
{
    (void)handle;
    return (int64_t)plugin_disk.served.image.size_bytes;
}

static int on_can_write(void *handle)
{
    (void)handle;
    return plugin_disk.served.image.writable;
}

static int on_yes(void *handle)
{
    (void)handle;
    return 1;
}

static int on_can_fua(void *handle)
{
    (void)handle;
    return NBDKIT_FUA_NATIVE;
}

static int on_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
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

static int on_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)flags;
    return answer(disk_read(&plugin_disk.served, handle, buffer, count, offset));
}

static int on_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0;
    return answer(disk_write(&plugin_disk.served, handle, buffer, count, offset, durable));
}

static int on_flush(void *handle, uint32_t flags)
{
    (void)handle;
    (void)flags;
    return answer(disk_flush(&plugin_disk.served));
}

/* What cannot be given back is left as it is: a trim is advice. */
static int on_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle;
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0;
    int code = disk_zero(&plugin_disk.served, offset, count, true, durable);
    if (code == -EOPNOTSUPP)
        code = durable ? disk_flush(&plugin_disk.served) : 0;
    return answer(code);
}

static int on_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle;
    bool durable = (flags & NBDKIT_FLAG_FUA) != 0, punch = (flags & NBDKIT_FLAG_MAY_TRIM) != 0;
    int code = disk_zero(&plugin_disk.served, offset, count, punch, durable);
    return answer(code);
}

static int on_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags,
                      struct nbdkit_extents *extents)
{
    (void)handle;
    uint64_t end = offset, limit = offset + count;
    int result = 0;
    do {
        uint64_t begin = end;
        bool is_hole = false;
        pthread_mutex_lock(&plugin_disk.extents);
        int code = image_extent(&plugin_disk.served.image, begin, &end, &is_hole);
        pthread_mutex_unlock(&plugin_disk.extents);
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
    .config_help = "file=IMAGE      the disk image or block device to serve\n"
                   "device-size=N   the size in bytes of a block device that may be written\n"
                   "regret=3%%       what trials may cost at most, of the bytes served\n"
                   "cpu=100%%        the share of one processor that choosing may take, on average\n"
                   "history=FILE    where what was found is kept for the next session\n"
                   "cache=SIZE      what the page cache may have for the image (what is available)\n"
                   "stall=10s       a read or write that takes longer ends all trials\n"
                   "control=SOCKET  where `status`, `freeze`, `pin` and others are taken\n"
                   "dry-run=true    the load is recognised, and nothing is changed",
    .unload = on_unload,
    .config = on_config,
    .config_complete = on_config_complete,
    .preconnect = on_preconnect,
    .cleanup = on_cleanup,
    .open = on_open,
    .close = free,
    .get_size = on_get_size,
    .can_write = on_can_write,
    .can_flush = on_yes,
    .can_trim = on_can_write,
    .can_zero = on_can_write,
    .can_fua = on_can_fua,
    .can_multi_conn = on_yes,
    .can_extents = on_yes,
    .block_size = on_block_size,
    .pread = on_pread,
    .pwrite = on_pwrite,
    .flush = on_flush,
    .trim = on_trim,
    .zero = on_zero,
    .extents = on_extents,
    .errno_is_preserved = 0,
};

NBDKIT_REGISTER_PLUGIN(plugin)
