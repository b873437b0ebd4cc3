/* bench/target/target_device_signature: what is on a block device, as far as libblkid knows its beginning:
 * file systems, members of arrays and volume groups, swap space, partition tables. */
#include "bench/host/block_device.h"
#include "bench/target/target_internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct listing {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct listing *listing, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(listing->text + listing->used, listing->size - listing->used, format, args);
    va_end(args);
    if (n > 0)
        listing->used +=
            (size_t)n < listing->size - listing->used ? (size_t)n : listing->size - listing->used - 1;
}

static const char *value_of(blkid_probe probe, const char *name)
{
    const char *value = NULL;
    return blkid_probe_lookup_value(probe, name, &value, NULL) == 0 && value != NULL ? value : "";
}

/* A hit of the probe; `part` names the partition that it is on, or is "". */
static void add_hit(blkid_probe probe, const char *part, struct listing *listing)
{
    const char *type = value_of(probe, "TYPE"), *table = value_of(probe, "PTTYPE"),
               *label = value_of(probe, "LABEL");
    if (type[0] == '\0' && table[0] == '\0')
        return;
    add(listing, "%s%s%s", listing->used > 0 ? ", " : "", part, part[0] != '\0' ? " " : "");
    if (type[0] != '\0')
        add(listing, "%s", type);
    else
        add(listing, "a partition table (%s)", table);
    if (label[0] != '\0')
        add(listing, " \"%.40s\"", label);
}

/* All hits, not the likeliest one: what is ambiguous is not empty. */
static int list_hits(blkid_probe probe, const char *part, struct listing *listing)
{
    blkid_probe_enable_superblocks(probe, 1);
    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_BADCSUM);
    blkid_probe_enable_partitions(probe, 1);
    int found;
    while ((found = blkid_do_probe(probe)) == 0)
        add_hit(probe, part, listing);
    return found < 0 ? -EIO : 0;
}

/* 0 for size_bytes: to the end. */
static int list_place(int fd, uint64_t start_bytes, uint64_t size_bytes, const char *part,
                      struct listing *listing)
{
    blkid_probe probe = blkid_new_probe();
    if (probe == NULL)
        return -ENOMEM;
    errno = 0;
    int code = blkid_probe_set_device(probe, fd, (blkid_loff_t)start_bytes, (blkid_loff_t)size_bytes) == 0
                   ? list_hits(probe, part, listing)
                   : -EIO;
    blkid_free_probe(probe);
    return code;
}

int target_device_signatures(int fd, char *text, size_t size)
{
    struct listing listing = {.text = text, .size = size};
    dev_t parts[BLOCK_DEVICE_MAX_PARTS];
    struct block_device device;
    uint64_t start_bytes, size_bytes;
    text[0] = '\0';
    int code = block_device_of(fd, &device);
    if (code == 0)
        code = list_place(fd, 0, 0, "", &listing);
    size_t n = code == 0 ? block_device_parts(device.number, parts, BLOCK_DEVICE_MAX_PARTS) : 0;
    /* The first is the device itself. */
    for (size_t i = 1; i < n && code == 0; i++) {
        char node[80];
        block_device_node(parts[i], node, sizeof(node));
        if (block_device_place(parts[i], &start_bytes, &size_bytes) && size_bytes > 0)
            code = list_place(fd, start_bytes, size_bytes, node, &listing);
    }
    return code;
}
