/* bench/profile/trace: the program of trace.bpf.c into the kernel, and its records out of it. */
#include "bench/profile/trace.h"

#include "bench/profile/family.h"
#include "bench/profile/trace_library.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* /proc/self/ns/pid where processes have the numbers that the kernel knows them by. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU
#define KERNEL_MINOR_BITS   20 /* MINORBITS of linux/kdev_t.h */
#define MOST_PROGRAMS       8
#define MOST_IN_FAMILY      4096 /* processes that are there when one is attached to */
#define RING_PREFIX         "on_ring"

/* The Makefile compiles it for the kernel. */
extern const char trace_object[];
extern const uint64_t trace_object_bytes;
__asm__(".pushsection .rodata\n.balign 16\n.global trace_object\ntrace_object:\n"
        ".incbin \"build/trace.bpf.o\"\n1:\n.balign 8\n.global trace_object_bytes\n"
        "trace_object_bytes:\n.quad 1b - trace_object\n.popsection\n");

struct trace {
    struct trace_library library;
    struct bpf_object *object;
    struct bpf_link *links[MOST_PROGRAMS];
    size_t n_links;
    struct ring_buffer *ring;
    int counts, scope; /* descriptors of the maps */
    uint8_t *watched;  /* its bytes */
    bool sees_rings;
    trace_taker *take;
    void *data;
};

static const struct {
    long number;
    __u32 kind;
} calls[] = {
    {SYS_read, TRACE_CALL_MOVES},
    {SYS_readv, TRACE_CALL_MOVES},
    {SYS_write, TRACE_CALL_MOVES | TRACE_CALL_WRITES},
    {SYS_writev, TRACE_CALL_MOVES | TRACE_CALL_WRITES},
    {SYS_pread64, TRACE_CALL_MOVES | TRACE_CALL_PLACED},
    {SYS_preadv, TRACE_CALL_MOVES | TRACE_CALL_PLACED},
    {SYS_pwrite64, TRACE_CALL_MOVES | TRACE_CALL_PLACED | TRACE_CALL_WRITES},
    {SYS_pwritev, TRACE_CALL_MOVES | TRACE_CALL_PLACED | TRACE_CALL_WRITES},
    {SYS_preadv2, TRACE_CALL_MOVES | TRACE_CALL_PLACED | TRACE_CALL_FLAGGED},
    {SYS_pwritev2, TRACE_CALL_MOVES | TRACE_CALL_PLACED | TRACE_CALL_FLAGGED | TRACE_CALL_WRITES},
    {SYS_copy_file_range, TRACE_CALL_COPIES},
    {SYS_sendfile, TRACE_CALL_SENDS},
    {SYS_fsync, TRACE_CALL_FLUSHES},
    {SYS_fdatasync, TRACE_CALL_FLUSHES},
    {SYS_sync, TRACE_CALL_FLUSHES_ALL},
    {SYS_syncfs, TRACE_CALL_FLUSHES_ALL},
    {SYS_sync_file_range, TRACE_CALL_FLUSHES_RANGE},
    {SYS_openat, TRACE_CALL_OPENS_AT},
    {SYS_close, TRACE_CALL_CLOSES},
    {SYS_io_submit, TRACE_CALL_SUBMITS},
    {SYS_io_getevents, TRACE_CALL_REAPS},
    {SYS_io_pgetevents, TRACE_CALL_REAPS},
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, TRACE_CALL_ENTERS_RING},
#endif
#ifdef SYS_openat2
    {SYS_openat2, TRACE_CALL_OPENS_AT},
#endif
#ifdef SYS_open
    {SYS_open, TRACE_CALL_OPENS},
    {SYS_creat, TRACE_CALL_OPENS},
#endif
#ifdef SYS_mmap
    {SYS_mmap, TRACE_CALL_MAPS},
#endif
};

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

static int check_here(struct err *err)
{
    struct stat status;
    if (trace_object_bytes == 0)
        return err_set(err, -ENOSYS, "this fstune was built without what records by the kernel");
    if (stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != FIRST_PID_NAMESPACE)
        return err_set(
            err, -ENOSYS,
            "in a container processes have other numbers than in the kernel; record from the host");
    return 0;
}

static int explain(int code, struct err *err)
{
    if (code == -EPERM || code == -EACCES)
        return err_set(err, -EPERM,
                       "recording by the kernel needs root, or the capabilities CAP_BPF, CAP_PERFMON and "
                       "CAP_SYS_PTRACE");
    return err_sys(err, code, "this kernel does not take the program that records");
}

/* Without the events of io_uring the rest is recorded all the same. */
static int attach_programs(struct trace *trace, struct err *err)
{
    const struct trace_library *library = &trace->library;
    struct bpf_program *program = NULL;
    trace->sees_rings = true;
    while ((program = library->bpf_object__next_program(trace->object, program)) != NULL) {
        struct bpf_link *link = library->bpf_program__attach(program);
        bool is_ring = strncmp(library->bpf_program__name(program), RING_PREFIX, strlen(RING_PREFIX)) == 0;
        if (link == NULL && !is_ring)
            return explain(-errno, err);
        trace->sees_rings = trace->sees_rings && (link != NULL || !is_ring);
        if (link != NULL)
            trace->links[trace->n_links++] = link;
    }
    return 0;
}

static int set_calls(struct trace *trace, int map, struct err *err)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        __u32 number = (__u32)calls[i].number;
        if (trace->library.bpf_map_update_elem(map, &number, &calls[i].kind, BPF_ANY) != 0)
            return explain(-errno, err);
    }
    return 0;
}

static int take_record(void *data, void *record, size_t size)
{
    const struct trace *trace = data;
    (void)size;
    trace->take(trace->data, record);
    return 0;
}

static int find_map(const struct trace *trace, const char *name)
{
    return trace->library.bpf_map__fd(trace->library.bpf_object__find_map_by_name(trace->object, name));
}

static int load(struct trace *trace, struct err *err)
{
    const struct trace_library *library = &trace->library;
    const struct bpf_object_open_opts options = {.sz = sizeof options, .object_name = "fstune"};
    library->libbpf_set_print(print_nothing);
    trace->object = library->bpf_object__open_mem(trace_object, trace_object_bytes, &options);
    if (trace->object == NULL || library->bpf_object__load(trace->object) != 0)
        return explain(-errno, err);
    trace->counts = find_map(trace, "counts");
    trace->scope = find_map(trace, "scope");
    trace->ring = library->ring_buffer__new(find_map(trace, "events"), take_record, trace, NULL);
    if (trace->ring == NULL)
        return explain(-errno, err);
    void *watched =
        mmap(NULL, TRACE_PROCESSES, PROT_READ | PROT_WRITE, MAP_SHARED, find_map(trace, "watched"), 0);
    if (watched == MAP_FAILED)
        return explain(-errno, err);
    trace->watched = watched;
    return set_calls(trace, find_map(trace, "kinds"), err);
}

int trace_open(struct trace **ret_trace, trace_taker *take, void *data, struct err *err)
{
    int code = check_here(err);
    if (code < 0)
        return code;
    struct trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return err_set(err, -ENOMEM, "no memory");
    trace->take = take;
    trace->data = data;
    code = trace_library_open(&trace->library, err);
    if (code == 0)
        code = load(trace, err);
    if (code == 0)
        code = attach_programs(trace, err);
    if (code < 0) {
        trace_close(trace);
        return code;
    }
    *ret_trace = trace;
    return 0;
}

static void watch(struct trace *trace, pid_t pid, uint8_t how)
{
    if (pid > 0 && pid < TRACE_PROCESSES)
        trace->watched[pid] = how;
}

void trace_follow_children(struct trace *trace)
{
    watch(trace, getpid(), TRACE_FOLLOW);
}

void trace_attach(struct trace *trace, pid_t pid)
{
    pid_t family[MOST_IN_FAMILY] = {pid};
    size_t n = 1;
    for (size_t i = 0; i < n; i++) {
        watch(trace, family[i], TRACE_RECORD);
        n += family_children(family[i], &family[n], MOST_IN_FAMILY - n);
    }
}

void trace_attach_one(struct trace *trace, pid_t pid)
{
    watch(trace, pid, TRACE_RECORD);
    /* Nobody else would take away one that has ended before. */
    if (kill(pid, 0) < 0 && errno == ESRCH)
        watch(trace, pid, 0);
}

int trace_attach_files(struct trace *trace, unsigned major_number, unsigned minor_number, struct err *err)
{
    const __u32 first = 0;
    const struct trace_scope scope = {.device = (__u64)major_number << KERNEL_MINOR_BITS | minor_number,
                                      .of_everybody = 1,
                                      .but = (__u32)getpid()};
    if (trace->library.bpf_map_update_elem(trace->scope, &first, &scope, BPF_ANY) != 0)
        return err_sys(err, -errno, "cannot record files of a file system");
    return 0;
}

bool trace_sees_rings(const struct trace *trace)
{
    return trace->sees_rings;
}

void trace_poll(struct trace *trace)
{
    trace->library.ring_buffer__consume(trace->ring);
}

void trace_count(const struct trace *trace, struct trace_counts *ret_counts)
{
    __u32 first = 0;
    struct trace_counts counts = {0};
    trace->library.bpf_map_lookup_elem(trace->counts, &first, &counts);
    *ret_counts = counts;
}

void trace_close(struct trace *trace)
{
    if (trace == NULL)
        return;
    for (size_t i = 0; i < trace->n_links; i++)
        trace->library.bpf_link__destroy(trace->links[i]);
    if (trace->ring != NULL)
        trace->library.ring_buffer__free(trace->ring);
    if (trace->object != NULL)
        trace->library.bpf_object__close(trace->object);
    if (trace->watched != NULL)
        munmap(trace->watched, TRACE_PROCESSES);
    trace_library_close(&trace->library);
    free(trace);
}
