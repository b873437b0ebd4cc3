/* bench/host/network_mount: what this machine knows of a mount whose data are on a server: NFS, SMB, 9p, Ceph
 * and others that say it in the same words.
 *
 * Nothing here is asked of the server. What it caches, and whether it has data on its disk when it says so,
 * no client can see. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct hostinfo;
struct hostinfo_mount;

/* A text that is "", a number that is 0 and a flag that is false are unknown, or do not exist here. */
struct network_mount {
    char server[96];                /* its address */
    char version[16];               /* of the protocol: "3", "4.2", "3.1.1" */
    char transport[16];             /* "tcp", "rdma", "virtio" */
    char cache[16];                 /* of SMB and 9p: "strict", "loose", "none" */
    char layout[64];                /* of pNFS, which lets clients ask several servers */
    double read_bytes, write_bytes; /* at most in one request to the server: rsize, wsize, msize */
    double connections;             /* to the server */
    double attributes_s;            /* how old cached attributes of a file may be */
    /* Requests that this machine lets be at the server at a time: slots of a session (NFS 4.1 and later) or
     * of all connections. The server may have granted fewer, which is not shown. */
    double slots;
    bool soft;       /* a request that gets no answer in time fails */
    bool sync;       /* each write waits for the server */
    bool disk_cache; /* FS-Cache may keep copies on a disk of this machine */
};

/* From the words of mountinfo, and /proc and /sys where they tell more. */
void network_mount_read(const struct hostinfo_mount *mount, struct network_mount *ret_mount);

/* Adds them as network_server, network_version, network_transport, network_cache, network_layout,
 * network_read_bytes, network_write_bytes, network_connections, network_attributes_s, network_slots, and the
 * flags network_soft, network_sync and network_disk_cache, which stand where the version is known. */
void network_mount_add(struct hostinfo *info, const struct network_mount *mount);

/* Parts, open to tests. The words alone; /proc/self/mountstats, or another file of that form, of the mount
 * with these words. */
void network_mount_parse(const struct hostinfo_mount *mount, struct network_mount *ret_mount);
void network_mount_add_stats(const char *path, const char *mount_point, struct network_mount *mount);

/* How many requests to the server one of so many bytes takes; 1 where that is not known. */
double network_mount_pieces(double request_bytes, double most_bytes);
