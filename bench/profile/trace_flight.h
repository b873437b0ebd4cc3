/* bench/profile/trace_flight: what is in flight, as far as one call does not tell: asynchronous requests of a
 * process, and how far it has looked at what came back. A part of trace.bpf.c. */
#pragma once

#include "bench/profile/trace_kernel.h"

#define COUNT(MEMBER, N)                                                                                     \
    do {                                                                                                     \
        __u32 zero_ = 0;                                                                                     \
        struct trace_counts *counts_ = bpf_map_lookup_elem(&counts, &zero_);                                 \
        if (counts_ != NULL)                                                                                 \
            __sync_fetch_and_add(&counts_->MEMBER, (N));                                                     \
    } while (0)

static __always_inline void tell_mark(__u32 kind, __u32 n, __u64 time_ns)
{
    struct trace_mark *mark = bpf_ringbuf_reserve(&events, sizeof *mark, 0);
    if (mark == NULL) {
        COUNT(lost, 1);
        return;
    }
    mark->kind = kind;
    mark->n = n;
    mark->time_ns = time_ns;
    mark->process = bpf_get_current_pid_tgid() >> 32;
    mark->reserved = 0;
    bpf_ringbuf_submit(mark, BPF_RB_NO_WAKEUP);
}

/* n more of the process are under way; less, when it is negative. */
static __always_inline void fly(__u32 process, __s64 n, __u64 ring)
{
    struct flight *flight = bpf_map_lookup_elem(&flights, &process);
    if (flight != NULL) {
        __sync_fetch_and_add(&flight->n, n);
        if (ring != 0)
            flight->ring = ring;
    } else if (n > 0) {
        struct flight first = {.n = n, .ring = ring};
        some_fly = true;
        if (bpf_map_update_elem(&flights, &process, &first, BPF_ANY) != 0)
            COUNT(lost, 1);
    }
}

/* What the program has looked at is in flight no more. */
static __always_inline void land(__u32 process, __s64 *posted_n, __s64 n, __u64 now_ns)
{
    if (n <= 0)
        return;
    __sync_fetch_and_add(posted_n, -n);
    fly(process, -n, 0);
    tell_mark(TRACE_REAP, n, now_ns);
}

/* How far the program has read a ring's completions stands in memory that it shares with the kernel. */
static __always_inline void look_at_ring(__u32 process, __u64 key, __u64 now_ns)
{
    __s64 *n = bpf_map_lookup_elem(&posted, &key);
    if (n == NULL || *n <= 0)
        return;
    struct io_ring_ctx *ring = (struct io_ring_ctx *)key;
    struct io_rings *rings = READ(ring, rings);
    __u32 n_unread = READ(ring, cached_cq_tail) - READ(rings, cq.head);
    land(process, n, *n - n_unread, now_ns);
}
