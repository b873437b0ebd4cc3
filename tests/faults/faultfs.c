/* tests/faults/faultfs: a file system in memory (FUSE) that fails on request.
 *
 * usage: faultfs [-o direct_io] [-o writeback] [FUSE options] MOUNTPOINT
 *
 * One directory of regular files. It has no O_TMPFILE, so that fstune makes its file under a name. It is told
 * what to do through extended attributes of its root: set user.fault to "OP KIND N once|ever SECONDS": the
 * N-th call of OP from now on (and all later ones with `ever`) meets KIND; "none" clears it and wakes what is
 * stalled. Setting it restarts the counts. get user.calls: calls of the faulty OP so far, and how many of
 * them were struck. OP: read write fsync open create unlink statfs fallocate getattr. KIND: eio enospc erofs
 * eintr short stall lose (a write is acknowledged but not stored) flip (a write is stored with another bit in
 * it). */
#define FUSE_USE_VERSION 312
#include "tests/faults/fault.h"

#include <fuse3/fuse_lowlevel.h>

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define N_NODES       64
#define NODE_BYTES    (1ULL << 29)
#define SPACE_BYTES   (1ULL << 33)
#define BLOCK_BYTES   4096ULL
#define NAME_BYTES    256
#define N_THREADS     80 /* stalled calls hold one each; one must stay free for the cure */
#define STALL_POLL_NS 20000000L

/* The root is node 0 with inode 1. A node lives until the kernel forgets it, whether it has a name or not. */
struct node {
    bool used;
    char name[NAME_BYTES]; /* empty once it is unlinked */
    mode_t mode;
    uint64_t n_lookups, size;
    char *data;
};

struct options {
    int direct_io, writeback;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault fault;
static struct node nodes[N_NODES];
static struct options options;

/* Counts a call. A stall is spent here; what else the call must meet is returned. */
static enum kind strike(enum op op)
{
    pthread_mutex_lock(&lock);
    bool struck = fault.kind != KIND_NONE && fault.op == op &&
                  (++fault.n_calls == fault.n || (fault.ever && fault.n_calls > fault.n));
    enum kind kind = struck ? fault.kind : KIND_NONE;
    uint64_t generation = fault.generation;
    double left = fault.seconds > 0 ? fault.seconds : 1e9;
    fault.n_struck += struck;
    while (kind == KIND_STALL && generation == fault.generation && left > 0) {
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = STALL_POLL_NS}, NULL);
        left -= (double)STALL_POLL_NS / 1e9;
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return kind == KIND_STALL ? KIND_NONE : kind;
}

/* True when the call failed and was answered. */
static bool fails(fuse_req_t request, enum kind kind)
{
    if (kind_errors[kind] == 0)
        return false;
    fuse_reply_err(request, kind_errors[kind]);
    return true;
}

static struct node *node_of(fuse_ino_t ino)
{
    return &nodes[ino - 1];
}

static struct node *find(const char *name)
{
    for (size_t i = 1; i < N_NODES; i++)
        if (nodes[i].used && strcmp(nodes[i].name, name) == 0)
            return &nodes[i];
    return NULL;
}

static struct stat status_of(const struct node *node)
{
    return (struct stat){
        .st_ino = (ino_t)(node - nodes) + 1,
        .st_mode = node->mode,
        .st_nlink = node->name[0] != '\0' || node == nodes ? 1 : 0,
        .st_uid = getuid(),
        .st_gid = getgid(),
        .st_size = (off_t)node->size,
        .st_blksize = BLOCK_BYTES,
        .st_blocks = (blkcnt_t)((node->size + 511) / 512),
    };
}

static struct fuse_entry_param entry_of(struct node *node)
{
    node->n_lookups++;
    return (struct fuse_entry_param){.ino = (fuse_ino_t)(node - nodes) + 1,
                                     .attr = status_of(node),
                                     .attr_timeout = 1,
                                     .entry_timeout = 0};
}

static void on_init(void *context, struct fuse_conn_info *connection)
{
    (void)context;
    if (options.writeback != 0)
        connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    (void)parent;
    pthread_mutex_lock(&lock);
    struct node *node = find(name);
    struct fuse_entry_param entry = {0};
    if (node != NULL)
        entry = entry_of(node);
    pthread_mutex_unlock(&lock);
    if (node == NULL)
        fuse_reply_err(request, ENOENT);
    else
        fuse_reply_entry(request, &entry);
}

static void on_forget(fuse_req_t request, fuse_ino_t ino, uint64_t n_lookups)
{
    struct node *node = node_of(ino);
    pthread_mutex_lock(&lock);
    node->n_lookups -= n_lookups < node->n_lookups ? n_lookups : node->n_lookups;
    if (node != nodes && node->n_lookups == 0 && node->name[0] == '\0') {
        munmap(node->data, NODE_BYTES);
        *node = (struct node){0};
    }
    pthread_mutex_unlock(&lock);
    fuse_reply_none(request);
}

static void on_getattr(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)info;
    if (fails(request, strike(OP_GETATTR)))
        return;
    pthread_mutex_lock(&lock);
    struct stat status = status_of(node_of(ino));
    pthread_mutex_unlock(&lock);
    fuse_reply_attr(request, &status, 1);
}

static void on_setattr(fuse_req_t request, fuse_ino_t ino, struct stat *wish, int which,
                       struct fuse_file_info *info)
{
    struct node *node = node_of(ino);
    (void)info;
    pthread_mutex_lock(&lock);
    if ((which & FUSE_SET_ATTR_SIZE) != 0 && (uint64_t)wish->st_size <= NODE_BYTES)
        node->size = (uint64_t)wish->st_size;
    struct stat status = status_of(node);
    pthread_mutex_unlock(&lock);
    fuse_reply_attr(request, &status, 1);
}

static void set_flags(struct fuse_file_info *info)
{
    info->direct_io = options.direct_io != 0;
    info->keep_cache = 1;
}

static struct node *make_node(const char *name, mode_t mode)
{
    for (size_t i = 1; i < N_NODES; i++) {
        struct node *node = &nodes[i];
        if (node->used)
            continue;
        char *data = mmap(NULL, NODE_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (data == MAP_FAILED)
            return NULL;
        *node = (struct node){.used = true, .mode = S_IFREG | (mode & 07777), .data = data};
        snprintf(node->name, sizeof node->name, "%s", name);
        return node;
    }
    return NULL;
}

static void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *info)
{
    (void)parent;
    if (fails(request, strike(OP_CREATE)))
        return;
    pthread_mutex_lock(&lock);
    struct node *node = find(name) == NULL ? make_node(name, mode) : NULL;
    struct fuse_entry_param entry = {0};
    if (node != NULL)
        entry = entry_of(node);
    pthread_mutex_unlock(&lock);
    set_flags(info);
    if (node == NULL)
        fuse_reply_err(request, ENOSPC);
    else
        fuse_reply_create(request, &entry, info);
}

static void on_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    if (fails(request, strike(OP_OPEN)))
        return;
    set_flags(info);
    fuse_reply_open(request, info);
}

static void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    (void)parent;
    if (fails(request, strike(OP_UNLINK)))
        return;
    pthread_mutex_lock(&lock);
    struct node *node = find(name);
    if (node != NULL)
        node->name[0] = '\0';
    pthread_mutex_unlock(&lock);
    fuse_reply_err(request, node != NULL ? 0 : ENOENT);
}

static void on_read(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    const struct node *node = node_of(ino);
    enum kind kind = strike(OP_READ);
    (void)info;
    if (fails(request, kind))
        return;
    uint64_t at = (uint64_t)offset, left = at < node->size ? node->size - at : 0;
    size_t n = size < left ? size : (size_t)left;
    fuse_reply_buf(request, node->data + at, kind == KIND_SHORT ? n / 2 : n);
}

static void on_write(fuse_req_t request, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *info)
{
    struct node *node = node_of(ino);
    uint64_t at = (uint64_t)offset;
    enum kind kind = strike(OP_WRITE);
    (void)info;
    if (fails(request, kind))
        return;
    if (at + size > NODE_BYTES) {
        fuse_reply_err(request, EFBIG);
        return;
    }
    size_t n = kind == KIND_SHORT ? size / 2 : size;
    if (kind != KIND_LOSE)
        memcpy(node->data + at, bytes, n);
    if (kind == KIND_FLIP)
        node->data[at + n / 2] ^= 1;
    pthread_mutex_lock(&lock);
    node->size = at + n > node->size ? at + n : node->size;
    pthread_mutex_unlock(&lock);
    fuse_reply_write(request, n);
}

static void on_fsync(fuse_req_t request, fuse_ino_t ino, int data_only, struct fuse_file_info *info)
{
    (void)ino;
    (void)data_only;
    (void)info;
    if (!fails(request, strike(OP_FSYNC)))
        fuse_reply_err(request, 0);
}

static void on_fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length,
                         struct fuse_file_info *info)
{
    (void)ino;
    (void)mode;
    (void)offset;
    (void)length;
    (void)info;
    if (!fails(request, strike(OP_FALLOCATE)))
        fuse_reply_err(request, EOPNOTSUPP);
}

static void on_statfs(fuse_req_t request, fuse_ino_t ino)
{
    (void)ino;
    if (fails(request, strike(OP_STATFS)))
        return;
    uint64_t used = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 1; i < N_NODES; i++)
        used += nodes[i].size;
    pthread_mutex_unlock(&lock);
    uint64_t n_free = (SPACE_BYTES - used) / BLOCK_BYTES;
    fuse_reply_statfs(request, &(struct statvfs){.f_bsize = BLOCK_BYTES,
                                                 .f_frsize = BLOCK_BYTES,
                                                 .f_blocks = SPACE_BYTES / BLOCK_BYTES,
                                                 .f_bfree = n_free,
                                                 .f_bavail = n_free,
                                                 .f_files = N_NODES,
                                                 .f_ffree = N_NODES,
                                                 .f_namemax = NAME_BYTES - 1});
}

static void on_readdir(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                       struct fuse_file_info *info)
{
    char *buffer = malloc(size);
    size_t used = 0;
    (void)ino;
    (void)info;
    pthread_mutex_lock(&lock);
    for (off_t i = offset; buffer != NULL && i < N_NODES; i++) {
        const struct node *node = &nodes[i];
        if (!node->used || node->name[0] == '\0')
            continue;
        struct stat status = status_of(node);
        size_t n = fuse_add_direntry(request, buffer + used, size - used, node->name, &status, i + 1);
        if (n > size - used)
            break;
        used += n;
    }
    pthread_mutex_unlock(&lock);
    fuse_reply_buf(request, buffer, used);
    free(buffer);
}

static size_t index_of(const char *name, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(name, names[i]) != 0)
        i++;
    return i;
}

static int parse_fault(const char *text, struct fault *ret)
{
    char op[16], kind[16], how_long[8];
    struct fault wish = {0};
    if (strcmp(text, "none") == 0) {
        *ret = wish;
        return 0;
    }
    if (sscanf(text, "%15s %15s %lu %7s %lf", op, kind, &wish.n, how_long, &wish.seconds) != 5)
        return EINVAL;
    wish.op = (enum op)index_of(op, op_names, N_OPS);
    wish.kind = (enum kind)index_of(kind, kind_names, N_KINDS);
    wish.ever = strcmp(how_long, "ever") == 0;
    if (wish.op == N_OPS || wish.kind == N_KINDS || wish.n == 0)
        return EINVAL;
    *ret = wish;
    return 0;
}

static void on_setxattr(fuse_req_t request, fuse_ino_t ino, const char *name, const char *value, size_t size,
                        int flags)
{
    char text[64];
    struct fault wish;
    (void)flags;
    if (ino != FUSE_ROOT_ID || strcmp(name, "user.fault") != 0 || size >= sizeof text) {
        fuse_reply_err(request, EOPNOTSUPP);
        return;
    }
    snprintf(text, sizeof text, "%.*s", (int)size, value);
    int error = parse_fault(text, &wish);
    pthread_mutex_lock(&lock);
    if (error == 0) {
        wish.generation = fault.generation + 1;
        fault = wish;
    }
    pthread_mutex_unlock(&lock);
    fuse_reply_err(request, error);
}

static void on_getxattr(fuse_req_t request, fuse_ino_t ino, const char *name, size_t size)
{
    char text[64];
    if (ino != FUSE_ROOT_ID || strcmp(name, "user.calls") != 0) {
        fuse_reply_err(request, ENODATA);
        return;
    }
    pthread_mutex_lock(&lock);
    size_t n = (size_t)snprintf(text, sizeof text, "%lu %lu", fault.n_calls, fault.n_struck);
    pthread_mutex_unlock(&lock);
    if (size == 0)
        fuse_reply_xattr(request, n);
    else if (size < n)
        fuse_reply_err(request, ERANGE);
    else
        fuse_reply_buf(request, text, n);
}

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .lookup = on_lookup,
    .forget = on_forget,
    .getattr = on_getattr,
    .setattr = on_setattr,
    .create = on_create,
    .open = on_open,
    .unlink = on_unlink,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .fallocate = on_fallocate,
    .statfs = on_statfs,
    .readdir = on_readdir,
    .setxattr = on_setxattr,
    .getxattr = on_getxattr,
};

static const struct fuse_opt option_table[] = {{"direct_io", offsetof(struct options, direct_io), 1},
                                               {"writeback", offsetof(struct options, writeback), 1},
                                               FUSE_OPT_END};

/* The loop ends when the file system is unmounted or a signal comes. */
static int serve(struct fuse_session *session, const char *mountpoint)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (config == NULL || fuse_set_signal_handlers(session) != 0 ||
        fuse_session_mount(session, mountpoint) != 0) {
        if (config != NULL)
            fuse_loop_cfg_destroy(config);
        return 1;
    }
    fuse_loop_cfg_set_max_threads(config, N_THREADS);
    fuse_loop_cfg_set_idle_threads(config, N_THREADS);
    int result = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
    fuse_session_unmount(session);
    fuse_remove_signal_handlers(session);
    return result == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
    struct fuse_cmdline_opts line = {0};
    int result = 2;
    nodes[0] = (struct node){.used = true, .mode = S_IFDIR | 0755, .n_lookups = 1};
    if (fuse_opt_parse(&arguments, &options, option_table, NULL) != 0 ||
        fuse_parse_cmdline(&arguments, &line) != 0 || line.mountpoint == NULL) {
        fputs("usage: faultfs [-o direct_io] [-o writeback] MOUNTPOINT\n", stderr);
        goto out;
    }
    struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);
    if (session != NULL) {
        result = serve(session, line.mountpoint);
        fuse_session_destroy(session);
    }
out:
    free(line.mountpoint);
    fuse_opt_free_args(&arguments);
    return result;
}
