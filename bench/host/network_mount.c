/* bench/host/network_mount: the words of a mount whose data are on a server. */
#include "bench/host/network_mount.h"

#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUNRPC "/proc/sys/sunrpc/"
/* What the NFS client leaves out of mountinfo because it is the default (nfs_show_mount_options). */
#define NFS_ATTRIBUTES_S 60

/* The text behind "NAME=" in a list of words; false where it does not stand there. */
static bool find_text(const char *list, const char *name, char *text, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t word = strcspn(at, ",");
        if (word > length + 1 && memcmp(at, name, length) == 0 && at[length] == '=') {
            snprintf(text, size, "%.*s", (int)(word - length - 1), at + length + 1);
            return true;
        }
        at += word;
        at += *at == ',';
    }
    return false;
}

static void find_number(const char *list, const char *name, double *number)
{
    char text[32], *end;
    if (!find_text(list, name, text, sizeof(text)))
        return;
    double value = strtod(text, &end);
    if (end != text && isfinite(value) && value >= 0)
        *number = value;
}

static bool is_nfs(const struct hostinfo_mount *mount)
{
    return strcmp(mount->file_system, "nfs") == 0 || strcmp(mount->file_system, "nfs4") == 0;
}

void network_mount_parse(const struct hostinfo_mount *mount, struct network_mount *ret_mount)
{
    const char *words = mount->super_options;
    struct network_mount read = {0};
    find_text(words, "addr", read.server, sizeof(read.server));
    find_text(words, "vers", read.version, sizeof(read.version));
    find_text(words, "proto", read.transport, sizeof(read.transport));
    find_text(words, "trans", read.transport, sizeof(read.transport));
    find_text(words, "cache", read.cache, sizeof(read.cache));
    find_number(words, "msize", &read.read_bytes);
    read.write_bytes = read.read_bytes;
    find_number(words, "rsize", &read.read_bytes);
    find_number(words, "wsize", &read.write_bytes);
    if (is_nfs(mount)) {
        read.connections = 1;
        read.attributes_s = procfs_list_has(words, "noac") ? 0 : NFS_ATTRIBUTES_S;
    }
    find_number(words, "nconnect", &read.connections);
    find_number(words, "max_channels", &read.connections);
    find_number(words, "acregmax", &read.attributes_s);
    find_number(words, "actimeo", &read.attributes_s);
    read.soft = procfs_list_has(words, "soft") || procfs_list_has(words, "softerr");
    read.sync = procfs_list_has(words, "sync") || procfs_list_has(mount->mount_options, "sync");
    read.disk_cache = procfs_list_has(words, "fsc");
    *ret_mount = read;
}

/* "device SERVER:/ mounted on /mnt with fstype nfs4 statvers=1.1"; blanks of names are escaped. */
static bool begins_mount(const char *line, const char *mount_point, bool *ret_ours)
{
    char place[512];
    if (sscanf(line, "device %*s mounted on %511s with fstype", place) != 1)
        return false;
    procfs_unescape(place);
    *ret_ours = strcmp(place, mount_point) == 0;
    return true;
}

/* A mount at the same place is hidden by a later one, so the last one counts. */
void network_mount_add_stats(const char *path, const char *mount_point, struct network_mount *mount)
{
    FILE *stats = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool ours = false;
    while (stats != NULL && getline(&line, &size, stats) > 0) {
        const char *word = line + strspn(line, " \t");
        char *layout = strstr(line, "pnfs=");
        if (begins_mount(line, mount_point, &ours)) {
            if (ours)
                mount->connections = 0;
        } else if (ours && strncmp(word, "xprt:", 5) == 0) {
            mount->connections++;
        } else if (ours && strncmp(word, "nfsv4:", 6) == 0 && layout != NULL) {
            snprintf(mount->layout, sizeof(mount->layout), "%.*s", (int)strcspn(layout + 5, ",\n"),
                     layout + 5);
        }
    }
    free(line);
    if (stats != NULL)
        fclose(stats);
    if (strcmp(mount->layout, "not configured") == 0)
        mount->layout[0] = '\0';
}

/* All connections of an NFS 4.1 mount share one session; without sessions each connection has slots of its
 * own. */
static void read_slots(struct network_mount *mount)
{
    char path[96];
    double number;
    bool has_session = strncmp(mount->version, "4.", 2) == 0 && strcmp(mount->version, "4.0") != 0;
    if (has_session) {
        snprintf(path, sizeof(path), "/sys/module/nfs/parameters/max_session_slots");
    } else {
        bool grows = strncmp(mount->transport, "tcp", 3) == 0;
        snprintf(path, sizeof(path),
                 grows ? SUNRPC "%.4s_max_slot_table_entries" : SUNRPC "%.4s_slot_table_entries",
                 grows ? "tcp" : mount->transport);
    }
    if (procfs_read_number(path, &number) == 0 && number > 0)
        mount->slots = number * (has_session ? 1 : mount->connections);
}

void network_mount_read(const struct hostinfo_mount *mount, struct network_mount *ret_mount)
{
    network_mount_parse(mount, ret_mount);
    if (!is_nfs(mount))
        return;
    double asked = ret_mount->connections;
    network_mount_add_stats("/proc/self/mountstats", mount->mount_point, ret_mount);
    if (ret_mount->connections == 0)
        ret_mount->connections = asked;
    read_slots(ret_mount);
}

void network_mount_add(struct hostinfo *info, const struct network_mount *mount)
{
    const struct {
        const char *key, *text;
    } texts[] = {{"network_server", mount->server},
                 {"network_version", mount->version},
                 {"network_transport", mount->transport},
                 {"network_cache", mount->cache},
                 {"network_layout", mount->layout}};
    const struct {
        const char *key;
        double number;
    } numbers[] = {{"network_read_bytes", mount->read_bytes},
                   {"network_write_bytes", mount->write_bytes},
                   {"network_connections", mount->connections},
                   {"network_attributes_s", mount->attributes_s},
                   {"network_slots", mount->slots}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].text[0] != '\0')
            hostinfo_add_text(info, texts[i].key, texts[i].text);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].number > 0)
            hostinfo_add_number(info, numbers[i].key, numbers[i].number);
    if (mount->version[0] == '\0')
        return;
    hostinfo_add_flag(info, "network_soft", mount->soft);
    hostinfo_add_flag(info, "network_sync", mount->sync);
    hostinfo_add_flag(info, "network_disk_cache", mount->disk_cache);
}

double network_mount_pieces(double request_bytes, double most_bytes)
{
    return most_bytes > 0 ? fmax(ceil(request_bytes / most_bytes), 1) : 1;
}
