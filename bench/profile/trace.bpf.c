/* bench/profile/trace.bpf: runs in the kernel, at the beginning and the end of system calls. It tells of each
 * read, write and flush of the processes in `watched` which file it meant, where, and how long it took. */
#include "bench/profile/trace_file.h"
#include "bench/profile/trace_flight.h"

char LICENSE[] SEC("license") = "GPL";

/* NULL for a number that no process has. */
static __always_inline __u8 *mark_of(__u32 process)
{
    __u32 at = process / sizeof(__u64);
    __u8 *marks = bpf_map_lookup_elem(&watched, &at);
    return marks != NULL ? marks + process % sizeof(__u64) : NULL;
}

static __always_inline bool is_recorded(__u32 process)
{
    const __u8 *mark = mark_of(process);
    if (mark != NULL && *mark != 0)
        return *mark == TRACE_RECORD;
    const struct trace_scope *limits = find_scope();
    return limits != NULL && limits->of_everybody != 0 && limits->but != process;
}

static __always_inline void fill(struct trace_event *event, __u32 kind, const struct call *call,
                                 const struct seen_file *file, __u64 end_ns)
{
    event->kind = kind;
    event->flags = file->flags | call->flags;
    event->start_ns = call->start_ns;
    event->end_ns = end_ns;
    event->file = file->file;
    event->inode = file->inode;
    event->opened = (__u64)file->opened;
    event->offset_bytes = event->n_bytes = 0;
    event->thread = call->thread;
    event->process = call->process;
    event->fd = call->fd;
    event->unused = 0;
}

/* False: there is no room. */
static __always_inline bool tell(__u32 kind, const struct call *call, const struct seen_file *file,
                                 __u64 end_ns, __u64 offset, __u64 n_bytes, __u32 flags)
{
    struct trace_event *event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
    if (event == NULL) {
        COUNT(lost, 1);
        return false;
    }
    fill(event, kind, call, file, end_ns);
    event->flags |= flags;
    event->offset_bytes = offset;
    event->n_bytes = n_bytes;
    bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
    return true;
}

/* Where n bytes without an offset of their own began, after the call. */
static __always_inline __u64 began_at(const struct seen_file *file, __u32 flags, __u64 n)
{
    struct file *opened = file->opened;
    bool is_appended = file->appends && (flags & TRACE_WRITES) != 0;
    struct inode *inode = READ(opened, f_inode);
    __s64 end = is_appended ? READ(inode, i_size) : READ(opened, f_pos);
    return end >= (__s64)n ? (__u64)end - n : 0;
}

/* False: nobody wants to know of its end. */
static __always_inline bool begin_transfer(struct call *call, __u32 kind, struct task_struct *task,
                                           struct pt_regs *regs)
{
    call->is_other = !look_at(file_of(task, call->fd), &call->of);
    call->flags = (kind & TRACE_CALL_WRITES) != 0 ? TRACE_WRITES : 0;
    call->address = ARGUMENT_1(regs);
    call->is_placed = (kind & TRACE_CALL_PLACED) != 0;
    if (call->is_placed) {
        call->offset = ARGUMENT_3(regs);
        call->is_placed = (kind & TRACE_CALL_FLAGGED) == 0 || (__s64)call->offset != -1;
    }
    if ((kind & TRACE_CALL_FLAGGED) != 0 && (ARGUMENT_5(regs) & WRITE_DURABLE) != 0)
        call->flags |= TRACE_DURABLE;
    if (!call->is_other) {
        tell_mark(TRACE_BEGIN, 1, call->start_ns);
        return true;
    }
    return !is_of_everybody();
}

static __always_inline void end_transfer(const struct call *call, __s64 result, __u64 now_ns)
{
    if (call->is_other) {
        COUNT(other_calls, 1);
        COUNT(other_bytes, result > 0 ? result : 0);
        return;
    }
    if (result > 0) {
        bool is_appended = call->of.appends && (call->flags & TRACE_WRITES) != 0;
        bool is_placed = call->is_placed && !is_appended;
        __u64 offset = is_placed ? call->offset : began_at(&call->of, call->flags, result);
        __u32 head = 0;
        if (result == LOADER_READ && offset == 0)
            bpf_probe_read_user(&head, sizeof head, (const void *)call->address);
        if (tell(TRACE_REQUEST, call, &call->of, now_ns, offset, result,
                 TRACE_ENDS | (head == LIBRARY_HEAD ? TRACE_LIBRARY : 0)))
            return;
    } else if (result < 0)
        COUNT(failed, 1);
    else
        COUNT(empty_reads, 1);
    tell_mark(TRACE_END, 1, now_ns);
}

/* A read of one file and a write of another, in flight as one. */
static __always_inline void begin_copy(struct call *call, __u32 kind, struct task_struct *task,
                                       struct pt_regs *regs)
{
    bool sends = kind == TRACE_CALL_SENDS;
    call->fd_to = sends ? (__s32)ARGUMENT_0(regs) : (__s32)ARGUMENT_2(regs);
    call->fd = sends ? (__s32)ARGUMENT_1(regs) : (__s32)ARGUMENT_0(regs);
    call->address = sends ? ARGUMENT_2(regs) : ARGUMENT_1(regs);
    call->n = sends ? 0 : ARGUMENT_3(regs);
    call->is_other = !look_at(file_of(task, call->fd), &call->of);
    if (!look_at(file_of(task, call->fd_to), &call->to))
        call->to.file = 0;
    if (!call->is_other || call->to.file != 0)
        tell_mark(TRACE_BEGIN, 1, call->start_ns);
}

static __always_inline __u64 copied_from(const struct seen_file *file, __u64 address, __u32 flags, __u64 n)
{
    __u64 end = 0;
    if (address == 0 || bpf_probe_read_user(&end, sizeof end, (const void *)address) != 0)
        return began_at(file, flags, n);
    return end >= n ? end - n : 0;
}

static __always_inline void end_copy(struct call *call, __s64 result, __u64 now_ns)
{
    if (call->is_other && call->to.file == 0)
        return;
    if (result > 0 && !call->is_other)
        tell(TRACE_REQUEST, call, &call->of, now_ns, copied_from(&call->of, call->address, 0, result), result,
             0);
    if (result > 0 && call->to.file != 0) {
        call->fd = call->fd_to;
        tell(TRACE_REQUEST, call, &call->to, now_ns, copied_from(&call->to, call->n, TRACE_WRITES, result),
             result, TRACE_WRITES);
    }
    tell_mark(TRACE_END, 1, now_ns);
}

static __always_inline void end_open(struct call *call, struct task_struct *task, __s64 result)
{
    if (result < 0 || !look_at(file_of(task, (__s32)result), &call->of))
        return;
    struct trace_name *name = bpf_ringbuf_reserve(&events, sizeof *name, 0);
    if (name == NULL) {
        COUNT(lost, 1);
        return;
    }
    call->fd = (__s32)result;
    fill(&name->event, TRACE_OPEN, call, &call->of, call->start_ns);
    if (bpf_probe_read_user_str(name->name, sizeof name->name, (const void *)call->address) < 0)
        name->name[0] = '\0';
    bpf_ringbuf_submit(name, BPF_RB_NO_WAKEUP);
}

/* One of those that io_submit took. The array and what it points to are the program's still. */
static __always_inline void end_submitted(struct call *call, struct task_struct *task, __u64 place)
{
    struct user_iocb iocb;
    void *at = NULL;
    struct seen_file file = {};
    if (bpf_probe_read_user(&at, sizeof at, (const void *)place) != 0 ||
        bpf_probe_read_user(&iocb, sizeof iocb, at) != 0) {
        COUNT(lost, 1);
        return;
    }
    bool writes = iocb.opcode == AIO_WRITE || iocb.opcode == AIO_WRITE_PARTS;
    bool has_parts = iocb.opcode == AIO_READ_PARTS || iocb.opcode == AIO_WRITE_PARTS;
    if ((!writes && iocb.opcode != AIO_READ && !has_parts) || !look_at(file_of(task, iocb.fd), &file))
        return;
    /* Its length stands in another array; what it moved, only where the program looks for it. */
    if (has_parts) {
        COUNT(lost, 1);
        return;
    }
    call->fd = iocb.fd;
    tell(TRACE_REQUEST, call, &file, 0, iocb.offset, iocb.n_bytes,
         TRACE_ASYNC | (writes ? TRACE_WRITES : 0) |
             (writes && (iocb.rw_flags & WRITE_DURABLE) != 0 ? TRACE_DURABLE : 0));
}

static __always_inline void end_submit(struct call *call, struct task_struct *task, __s64 result,
                                       __u64 now_ns)
{
    __u64 n = result > 0 ? result : 0;
    for (__u64 i = 0; i < MOST_SUBMITTED; i++) {
        if (i >= n)
            break;
        end_submitted(call, task, call->address + i * sizeof(__u64));
    }
    if (n > MOST_SUBMITTED)
        COUNT(lost, n - MOST_SUBMITTED);
    if (n < call->n) {
        tell_mark(TRACE_END, call->n - n, now_ns);
        fly(call->process, n - call->n, 0);
    }
}

static __always_inline void begin_ring(struct call *call, struct task_struct *task, struct pt_regs *regs,
                                       const struct flight *flight)
{
    __u64 flags = ARGUMENT_3(regs);
    call->address = flight != NULL ? flight->ring : 0;
    if ((flags & RING_NUMBERED) == 0) {
        struct file *opened = file_of(task, call->fd);
        call->address = opened != NULL ? (__u64)READ(opened, private_data) : 0;
    }
    call->n = (flags & RING_WAITS) != 0 ? ARGUMENT_2(regs) : 0;
    look_at_ring(call->process, call->address, call->start_ns);
}

/* It reads at once what it has waited for. */
static __always_inline void end_ring(const struct call *call, __s64 result, __u64 now_ns)
{
    __u64 key = call->address;
    __s64 *n = bpf_map_lookup_elem(&posted, &key);
    if (n != NULL && result >= 0)
        land(call->process, n, *n < (__s64)call->n ? *n : (__s64)call->n, now_ns);
}

/* The place of the thread's call, which lasts as long as the thread. */
static __always_inline struct call *place_of(struct task_struct *task, __u32 kind, struct pt_regs *regs)
{
    struct seen_file file;
    struct call *call = bpf_task_storage_get(&calls, task, NULL, 0);
    if (call != NULL)
        return call;
    /* A place takes memory, and of all the threads that a machine has, few read and write such files. */
    if (kind < TRACE_CALL_COPIES && is_of_everybody() &&
        !look_at(file_of(task, (__s32)ARGUMENT_0(regs)), &file))
        return NULL;
    call = bpf_task_storage_get(&calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (call == NULL)
        COUNT(lost, 1);
    return call;
}

/* False: nobody wants to know of its end. */
static __always_inline bool begin(struct call *call, __u32 kind, struct task_struct *task,
                                  struct pt_regs *regs)
{
    /* Few programs hand over requests. */
    struct flight *flight = some_fly ? bpf_map_lookup_elem(&flights, &call->process) : NULL;
    if (flight != NULL && flight->ring != 0)
        look_at_ring(call->process, flight->ring, call->start_ns);
    if (kind < TRACE_CALL_COPIES)
        return begin_transfer(call, kind, task, regs);
    call->flags = 0;
    if (kind == TRACE_CALL_COPIES || kind == TRACE_CALL_SENDS) {
        begin_copy(call, kind, task, regs);
    } else if (kind == TRACE_CALL_OPENS) {
        call->address = ARGUMENT_0(regs);
    } else if (kind == TRACE_CALL_OPENS_AT) {
        call->address = ARGUMENT_1(regs);
    } else if (kind == TRACE_CALL_SUBMITS) {
        call->n = ARGUMENT_1(regs);
        call->address = ARGUMENT_2(regs);
        tell_mark(TRACE_BEGIN, call->n, call->start_ns);
        fly(call->process, call->n, 0);
    } else if (kind == TRACE_CALL_ENTERS_RING) {
        begin_ring(call, task, regs, flight);
    } else if (kind == TRACE_CALL_MAPS) {
        call->fd = (__s32)ARGUMENT_4(regs);
        call->n = ARGUMENT_1(regs);
        return (ARGUMENT_3(regs) & MAP_SHARES) != 0 && look_at(file_of(task, call->fd), &call->of);
    } else if (kind == TRACE_CALL_CLOSES) {
        if (look_at(file_of(task, call->fd), &call->of))
            tell(TRACE_CLOSE, call, &call->of, call->start_ns, 0, 0, 0);
        return false;
    } else if (kind == TRACE_CALL_FLUSHES) {
        return look_at(file_of(task, call->fd), &call->of);
    } else if (kind == TRACE_CALL_FLUSHES_ALL) {
        call->of = (struct seen_file){};
    }
    return true;
}

SEC("tp_btf/sys_enter")
int on_enter(__u64 *arguments)
{
    __u32 number = (__u32)arguments[1], *kind = bpf_map_lookup_elem(&kinds, &number);
    if (kind == NULL || *kind == 0)
        return 0;
    __u64 who = bpf_get_current_pid_tgid();
    if (!is_recorded(who >> 32))
        return 0;
    struct pt_regs *regs = (struct pt_regs *)arguments[0];
    struct task_struct *task = bpf_get_current_task_btf();
#if defined(TARGET_x86_64)
    if ((task->thread_info.status & COMPAT_CALL) != 0) {
        COUNT(foreign, 1);
        return 0;
    }
#endif
    struct call *call = place_of(task, *kind, regs);
    if (call == NULL)
        return 0;
    call->start_ns = bpf_ktime_get_ns();
    call->fd = (__s32)ARGUMENT_0(regs);
    call->thread = (__u32)who;
    call->process = who >> 32;
    call->kind = begin(call, *kind, task, regs) ? *kind : 0;
    return 0;
}

SEC("raw_tp/sys_exit")
int on_exit(struct bpf_raw_tracepoint_args *context)
{
    if (!is_recorded(bpf_get_current_pid_tgid() >> 32))
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    struct call *call = bpf_task_storage_get(&calls, task, NULL, 0);
    if (call == NULL || call->kind == 0)
        return 0;
    __s64 result = (__s64)context->args[1];
    __u64 now_ns = bpf_ktime_get_ns();
    __u32 kind = call->kind;
    if (kind < TRACE_CALL_COPIES)
        end_transfer(call, result, now_ns);
    else if (kind == TRACE_CALL_COPIES || kind == TRACE_CALL_SENDS)
        end_copy(call, result, now_ns);
    else if (kind == TRACE_CALL_OPENS || kind == TRACE_CALL_OPENS_AT)
        end_open(call, task, result);
    else if (kind == TRACE_CALL_SUBMITS)
        end_submit(call, task, result, now_ns);
    else if (kind == TRACE_CALL_REAPS && result > 0) {
        tell_mark(TRACE_REAP, result, now_ns);
        fly(call->process, -result, 0);
    } else if (kind == TRACE_CALL_ENTERS_RING)
        end_ring(call, result, now_ns);
    else if ((kind == TRACE_CALL_FLUSHES || kind == TRACE_CALL_FLUSHES_ALL) && result == 0)
        tell(TRACE_FLUSH, call, &call->of, now_ns, 0, 0, 0);
    else if (kind == TRACE_CALL_FLUSHES_RANGE && result == 0)
        COUNT(range_flushes, 1);
    else if (kind == TRACE_CALL_MAPS && result > 0) {
        COUNT(maps, 1);
        COUNT(mapped_bytes, call->n);
    }
    call->kind = 0;
    return 0;
}

static __always_inline bool ring_moves(__u8 opcode)
{
    return opcode == IORING_OP_READ || opcode == IORING_OP_WRITE || opcode == IORING_OP_READV ||
           opcode == IORING_OP_WRITEV || opcode == IORING_OP_READ_FIXED || opcode == IORING_OP_WRITE_FIXED;
}

static __always_inline bool ring_writes(__u8 opcode)
{
    return opcode == IORING_OP_WRITE || opcode == IORING_OP_WRITEV || opcode == IORING_OP_WRITE_FIXED;
}

static __always_inline void begin_on_ring(const struct call *call, __u64 ring)
{
    look_at_ring(call->process, ring, call->start_ns);
    tell_mark(TRACE_BEGIN, 1, call->start_ns);
    fly(call->process, 1, ring);
}

/* In flight until the program looks. */
static __always_inline void post_on_ring(__u64 ring)
{
    __s64 *n = bpf_map_lookup_elem(&posted, &ring), one = 1;
    if (n != NULL)
        __sync_fetch_and_add(n, 1);
    else if (bpf_map_update_elem(&posted, &ring, &one, BPF_ANY) != 0)
        COUNT(lost, 1);
}

/* To the program, all requests that one call hands over are in flight from its beginning on; the kernel takes
 * them one after the other. */
static __always_inline __u64 handed_over_ns(void)
{
    const struct call *call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL, 0);
    return call != NULL && call->kind == TRACE_CALL_ENTERS_RING ? call->start_ns : bpf_ktime_get_ns();
}

SEC("raw_tp/io_uring_submit_req")
int on_ring_submit(struct bpf_raw_tracepoint_args *context)
{
    struct io_kiocb *request = (struct io_kiocb *)context->args[0];
    __u64 key = (__u64)request, who = bpf_get_current_pid_tgid();
    __u8 opcode = READ(request, opcode);
    bool is_flush = opcode == IORING_OP_FSYNC;
    if ((!is_flush && !ring_moves(opcode)) || !is_recorded(who >> 32))
        return 0;
    struct call call = {.start_ns = handed_over_ns(),
                        .kind = is_flush ? TRACE_CALL_FLUSHES : TRACE_CALL_MOVES,
                        .flags = TRACE_ASYNC | TRACE_RINGED | (ring_writes(opcode) ? TRACE_WRITES : 0),
                        .fd = -1,
                        .thread = (__u32)who,
                        .process = who >> 32};
    /* A registered file is known when the request has ended. */
    if ((READ(request, flags) & FIXED_FILE) == 0) {
        call.fd = READ(request, cqe.fd);
        if (!look_at(file_of(bpf_get_current_task_btf(), call.fd), &call.of))
            return 0;
    }
    if (!is_flush)
        call.offset = READ((struct io_rw *)request, kiocb.ki_pos);
    if (bpf_map_update_elem(&requests, &key, &call, BPF_ANY) != 0)
        COUNT(lost, 1);
    else if (!is_flush)
        begin_on_ring(&call, (__u64)READ(request, ctx));
    return 0;
}

SEC("raw_tp/io_uring_complete")
int on_ring_complete(struct bpf_raw_tracepoint_args *context)
{
    struct io_kiocb *request = (struct io_kiocb *)context->args[1];
    __u64 key = (__u64)request, now_ns = bpf_ktime_get_ns();
    struct call *call = bpf_map_lookup_elem(&requests, &key);
    if (call == NULL)
        return 0;
    __s32 result = READ(request, cqe.res);
    bool is_flush = call->kind == TRACE_CALL_FLUSHES;
    if (result >= 0 && (call->of.opened != NULL || look_at(READ(request, file), &call->of))) {
        __u64 offset = (__s64)call->offset >= 0 ? call->offset : began_at(&call->of, call->flags, result);
        if (is_flush)
            tell(TRACE_FLUSH, call, &call->of, now_ns, 0, 0, 0);
        else if (result > 0)
            tell(TRACE_REQUEST, call, &call->of, now_ns, offset, result, 0);
    } else if (result < 0) {
        COUNT(failed, 1);
    }
    if (!is_flush)
        post_on_ring((__u64)READ(request, ctx));
    bpf_map_delete_elem(&requests, &key);
    return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *arguments)
{
    __u32 parent = ((struct task_struct *)arguments[0])->tgid;
    __u32 child = ((struct task_struct *)arguments[1])->tgid;
    const __u8 *mark = mark_of(parent);
    __u8 *mark_of_child = mark_of(child);
    if (child == parent || mark == NULL || *mark == 0 || mark_of_child == NULL)
        return 0;
    *mark_of_child = TRACE_RECORD;
    tell_mark(TRACE_PROCESS, 1, bpf_ktime_get_ns());
    return 0;
}

/* One that is killed inside a call does not return from it. */
SEC("tp_btf/sched_process_exit")
int on_process_exit(__u64 *arguments)
{
    struct task_struct *task = (struct task_struct *)arguments[0];
    __u32 process = task->tgid;
    struct call *call = bpf_task_storage_get(&calls, task, NULL, 0);
    if (call != NULL && call->kind != 0 && call->kind < TRACE_CALL_COPIES && !call->is_other)
        tell_mark(TRACE_END, 1, bpf_ktime_get_ns());
    if (!is_recorded(process) || task->signal->live.counter != 0)
        return 0;
    struct flight *flight = bpf_map_lookup_elem(&flights, &process);
    if (flight != NULL && flight->n > 0)
        tell_mark(TRACE_REAP, flight->n, bpf_ktime_get_ns());
    bpf_map_delete_elem(&flights, &process);
    __u8 *mark = mark_of(process);
    if (mark != NULL)
        *mark = 0;
    return 0;
}
