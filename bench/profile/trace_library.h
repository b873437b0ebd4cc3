/* bench/profile/trace_library: libbpf, where it is installed. */
#pragma once

#include "bench/base/err.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* A member for each function of it that is used, with the function's name and type. */
#define TRACE_LIBRARY_FUNCTIONS(EACH)                                                                        \
    EACH(libbpf_set_print)                                                                                   \
    EACH(bpf_object__open_mem)                                                                               \
    EACH(bpf_object__load)                                                                                   \
    EACH(bpf_object__close)                                                                                  \
    EACH(bpf_object__next_program)                                                                           \
    EACH(bpf_object__find_map_by_name)                                                                       \
    EACH(bpf_program__attach)                                                                                \
    EACH(bpf_program__name)                                                                                  \
    EACH(bpf_link__destroy)                                                                                  \
    EACH(bpf_map__fd)                                                                                        \
    EACH(bpf_map_delete_elem)                                                                                \
    EACH(bpf_map_update_elem)                                                                                \
    EACH(bpf_map_lookup_elem)                                                                                \
    EACH(ring_buffer__new)                                                                                   \
    EACH(ring_buffer__consume)                                                                               \
    EACH(ring_buffer__free)

struct trace_library {
    void *handle;
#define TRACE_LIBRARY_MEMBER(NAME) __typeof__(&NAME) NAME;
    TRACE_LIBRARY_FUNCTIONS(TRACE_LIBRARY_MEMBER)
#undef TRACE_LIBRARY_MEMBER
};

/* 0, or -ENOSYS where it is not installed. */
int trace_library_open(struct trace_library *library, struct err *err);
void trace_library_close(struct trace_library *library);
