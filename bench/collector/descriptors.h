/* bench/collector/descriptors: what the program's descriptors are, and where they stand. A descriptor is
 * looked at when it is used first; wrappers of calls that change its meaning have it forgotten. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct descriptor {
    uint32_t state;
    uint32_t handle;
    uint64_t file;
    uint64_t position; /* of the next read or write without an offset, unless others move it too */
    unsigned flags;    /* of sink.h; SINK_SOCKET: one that is no file */
    bool is_shared;    /* another process or descriptor may move the position */
    bool appends;
};

/* NULL: no file, or none that can be followed. */
struct descriptor *descriptors_find(int fd);

/* After descriptors_find returned NULL: what it is instead. */
bool descriptors_is_socket(int fd);

/* It was opened just now, by this process. */
void descriptors_opened(int fd);
void descriptors_forget(int fd);
/* From first to last, as close_range has them. */
void descriptors_forget_range(unsigned first, unsigned last);
/* `to` now is what `from` is. */
void descriptors_copied(int from, int to);

/* No system call is made from now on: what is not known stays unknown, and positions are guessed. */
void descriptors_restrict(void);

/* After a fork, on both sides: positions are shared from now on. */
void descriptors_share_all(void);

/* Where the next read or write without an offset begins, before the call. */
uint64_t descriptors_position(int fd, const struct descriptor *descriptor);
/* That call moved so many bytes. Returns where it began. */
uint64_t descriptors_moved(int fd, struct descriptor *descriptor, uint64_t began, uint64_t n_bytes);
/* The same of a call that is not recorded. */
void descriptors_passed(int fd, uint64_t n_bytes);
/* lseek said so. */
void descriptors_placed(int fd, uint64_t position);
