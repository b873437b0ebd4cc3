/* bench/profile/trace_kernel: the kernel's structures and constants that trace.bpf.c needs, and its maps.
 *
 * Fields of the structures are found by name when the program is loaded (CO-RE): those declared here are the
 * few that are read. */
#pragma once

#include "bench/profile/trace_event.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>

#define MOST_IN_FLIGHT 16384
#define MOST_SUBMITTED 64 /* of one io_submit */
#define MOST_RINGS     4096
#define RING_BYTES     (8 << 20)
#define TYPE_MASK      0170000U
#define TYPE_REGULAR   0100000U
#define TYPE_BLOCK     0060000U
#define OPEN_APPENDS   02000U
#define OPEN_DIRECT    IS_O_DIRECT
#define OPEN_DURABLE   010000U /* O_DSYNC, a part of O_SYNC */
#define WRITE_DURABLE  6U      /* RWF_DSYNC, RWF_SYNC */
#define MAP_SHARES     1U
#define LOADER_READ    832
#define LIBRARY_HEAD   0x464c457fU
#define FIXED_FILE     1U
#define RING_WAITS     1U  /* IORING_ENTER_GETEVENTS */
#define RING_NUMBERED  16U /* IORING_ENTER_REGISTERED_RING: the descriptor is none */
#define COMPAT_CALL    2U
/* File systems of the kernel's own: /proc, /sys, /sys/fs/cgroup, debugfs, tracefs, devpts. */
#define IS_KERNELS_OWN(MAGIC)                                                                                \
    ((MAGIC) == 0x9fa0 || (MAGIC) == 0x62656572 || (MAGIC) == 0x63677270 || (MAGIC) == 0x27e0eb ||           \
     (MAGIC) == 0x64626720 || (MAGIC) == 0x74726163 || (MAGIC) == 0x1cd1)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block {
    __u32 s_dev;
    __u64 s_magic;
};
struct inode {
    unsigned short i_mode;
    struct super_block *i_sb;
    __u64 i_ino;
    __s64 i_size;
    __u32 i_rdev;
};
struct file {
    unsigned int f_flags;
    struct inode *f_inode;
    void *private_data; /* of a ring: its io_ring_ctx */
    __s64 f_pos;
};
struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};
struct files_struct {
    struct fdtable *fdt;
};
struct counter {
    int counter;
};
struct signal_struct {
    struct counter live;
};
struct thread_info {
    __u32 status;
};
struct task_struct {
    struct thread_info thread_info;
    int pid, tgid;
    struct files_struct *files;
    struct signal_struct *signal;
};
struct kiocb {
    __s64 ki_pos;
};
struct io_rw {
    struct kiocb kiocb;
};
struct io_cqe {
    int res;
    int fd;
};
struct io_uring {
    __u32 head;
};
struct io_rings {
    struct io_uring cq;
};
struct io_ring_ctx {
    struct io_rings *rings;
    unsigned int cached_cq_tail;
};
struct io_kiocb {
    struct file *file;
    struct io_ring_ctx *ctx;
    __u8 opcode;
    __u64 flags;
    struct io_cqe cqe;
};
#if defined(TARGET_x86_64)
#define IS_O_DIRECT 040000U
struct pt_regs {
    __u64 di, si, dx, r10, r8, r9;
};
#define ARGUMENT_0(REGS) ((REGS)->di)
#define ARGUMENT_1(REGS) ((REGS)->si)
#define ARGUMENT_2(REGS) ((REGS)->dx)
#define ARGUMENT_3(REGS) ((REGS)->r10)
#define ARGUMENT_4(REGS) ((REGS)->r8)
#define ARGUMENT_5(REGS) ((REGS)->r9)
#elif defined(TARGET_aarch64)
#define IS_O_DIRECT      0200000U
struct pt_regs {
    __u64 regs[31];
};
#define ARGUMENT_0(REGS) ((REGS)->regs[0])
#define ARGUMENT_1(REGS) ((REGS)->regs[1])
#define ARGUMENT_2(REGS) ((REGS)->regs[2])
#define ARGUMENT_3(REGS) ((REGS)->regs[3])
#define ARGUMENT_4(REGS) ((REGS)->regs[4])
#define ARGUMENT_5(REGS) ((REGS)->regs[5])
#endif
#pragma clang attribute pop

/* A member of a structure whose address is only a number to the verifier. Since 6.2 it may be called what it
 * is, and is read in place; a copy of each member would be a third of what a request costs. */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;
extern int LINUX_KERNEL_VERSION __kconfig;
#define CASTS_SINCE 0x060200
#define READ(POINTER, MEMBER)                                                                                \
    (LINUX_KERNEL_VERSION >= CASTS_SINCE                                                                     \
         ? ((typeof(POINTER))bpf_rdonly_cast(POINTER, bpf_core_type_id_kernel(typeof(*(POINTER)))))->MEMBER  \
         : BPF_CORE_READ(POINTER, MEMBER))

/* One request of io_submit, as programs give it. */
struct user_iocb {
    __u64 data;
    __u32 key;
    __s32 rw_flags;
    __u16 opcode;
    __s16 priority;
    __s32 fd;
    __u64 buffer, n_bytes;
    __s64 offset;
};
enum { AIO_READ = 0, AIO_WRITE = 1, AIO_READ_PARTS = 7, AIO_WRITE_PARTS = 8 };

/* A file, as far as a request needs it. */
struct seen_file {
    struct file *opened;
    __u64 file, inode;
    __u32 flags;
    __u32 appends;
};

/* A call, or a request of io_uring, that is under way. */
struct call {
    __u64 start_ns;
    struct seen_file of, to; /* `to`: the other side of a copy */
    __u64 offset, address, n;
    __u32 kind, is_placed, is_other, flags;
    __s32 fd, fd_to;
    __u32 thread, process;
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING_BYTES);
} events SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TRACE_CALLS);
    __type(key, __u32);
    __type(value, __u32);
} kinds SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct trace_counts);
} counts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct trace_scope);
} scope SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, TRACE_PROCESSES / sizeof(__u64));
    __type(key, __u32);
    __type(value, __u64);
} watched SEC(".maps");

/* The call of each thread that is recorded; kind 0: it is in none. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct call);
} calls SEC(".maps");

bool some_fly; /* `flights` has had an entry */

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MOST_IN_FLIGHT);
    __type(key, __u64); /* the request's address */
    __type(value, struct call);
} requests SEC(".maps");

/* What a process has handed over asynchronously and not got back: it ends with the process. */
struct flight {
    __s64 n;
    __u64 ring; /* the one used last, by its address; 0: none */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MOST_IN_FLIGHT);
    __type(key, __u32); /* the process */
    __type(value, struct flight);
} flights SEC(".maps");

/* Transfers that the kernel has done with and the program has not looked at yet. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MOST_RINGS);
    __type(key, __u64); /* the ring's address */
    __type(value, __s64);
} posted SEC(".maps");
