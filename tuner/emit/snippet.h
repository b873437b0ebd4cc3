/* tuner/emit/snippet: an answer as the lines to paste into what uses the storage. Adding a format: a
 * template formats/NAME.txt (snippet_template.h), its name in tuner/base/snippet_formats, and its row at the
 * same place of snippet.c's table; see docs/adding.md.
 *
 * A snippet is legal for its consumer, never less durable than what was measured (no setting that can lose
 * data), and says in comments where it comes from, what it cannot say, and what it needs. Values that come
 * from a user or from a file (paths, names) are escaped for the format, or refused. */
#pragma once

#include "bench/base/err.h"
#include "tuner/store/recommendation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum snippet_image { SNIPPET_IMAGE_RAW, SNIPPET_IMAGE_QCOW2, SNIPPET_IMAGE_N };
enum snippet_bus { SNIPPET_BUS_VIRTIO_BLK, SNIPPET_BUS_VIRTIO_SCSI, SNIPPET_BUS_NVME, SNIPPET_BUS_N };

extern const char *const snippet_image_names[SNIPPET_IMAGE_N]; /* "raw", "qcow2" */
extern const char *const snippet_bus_names[SNIPPET_BUS_N];     /* "virtio-blk", "virtio-scsi", "nvme" */

#define SNIPPET_MAX_MORE 3

struct snippet_request {
    const struct recommendation *recommendation;
    const struct recommendation
        *more[SNIPPET_MAX_MORE]; /* further answers, for a format that takes several */
    size_t n_more;
    const char *image; /* the path, "" where none was given: SNIPPET_NO_IMAGE stands for it */
    enum snippet_image image_format;
    enum snippet_bus bus;
    bool directsync;     /* every write of the guest is durable before it counts: only on request */
    bool self_tuning;    /* served by nbdkit with fstune's plugin */
    unsigned version[2]; /* of the consumer, major and minor; 0.0: not given, then what is common today */
};

#define SNIPPET_NO_IMAGE "/path/to/disk.img"

/* How a format marks a comment. NONE: it has no comments; they become remarks beside it. */
enum snippet_comments {
    SNIPPET_COMMENTS_HASH,
    SNIPPET_COMMENTS_XML,
    SNIPPET_COMMENTS_SEMICOLON,
    SNIPPET_COMMENTS_NONE
};

/* Options that a format has no use for, neither for a line nor for a refusal or a remark of its own: a set of
 * these. */
enum {
    SNIPPET_IGNORES_IMAGE = 1,
    SNIPPET_IGNORES_IMAGE_FORMAT = 2,
    SNIPPET_IGNORES_BUS = 4,
    SNIPPET_IGNORES_DIRECTSYNC = 8,
    SNIPPET_IGNORES_VERSION = 16,
    SNIPPET_IGNORES_DISK = SNIPPET_IGNORES_IMAGE | SNIPPET_IGNORES_IMAGE_FORMAT | SNIPPET_IGNORES_BUS,
    SNIPPET_IGNORES_ALL = SNIPPET_IGNORES_DISK | SNIPPET_IGNORES_DIRECTSYNC | SNIPPET_IGNORES_VERSION
};

struct snippet_writer {
    FILE *out;     /* the snippet */
    FILE *remarks; /* comments of a format that has none; one line each */
    enum snippet_comments comments;
};

#define SNIPPET_SAYS_N 6

struct snippet_template;

struct snippet_ops {
    bool can_self_tune; /* it has lines for --self-tuning; others say in a comment that they do not use it */
    bool takes_device;  /* a block device that was measured stands for --image */
    const char *name;   /* "qemu" */
    const char *title;  /* one line for --list: what it is, and where it goes */
    enum snippet_comments comments;
    /* How much the format can say of request size, queue depth, direct, api, threads and sync: '-' nothing,
     * 'p' an upper bound or another coarse form, 'y' the very value. */
    const char *says;
    unsigned ignores;   /* SNIPPET_IGNORES_...: the snippet begins with a comment on those that were given */
    bool takes_several; /* answers of several patterns; else exactly one */
    bool needs_several; /* one alone gives no snippet */
    const char *hint;   /* how to check it with the consumer's own tools; one line */
    const char *text;   /* the template (snippet_template.h) */
    /* What the template leaves to C, at `@own`. 0; -EINVAL where the answer, the path or an option cannot be
     * expressed legally, with what to do instead; -ENOMEM. */
    int (*own)(struct snippet_template *run);
};

/* The formats one by one, in the order of --list; NULL behind the last. */
const struct snippet_ops *snippet_row(size_t i);
const struct snippet_ops *snippet_find(const char *name); /* or NULL */

/* The whole snippet as text, and its remarks ("" where the format has comments); the caller frees both. 0,
 * what the template refuses, -EINVAL where there are more answers than the format takes, or -ENOMEM. */
int snippet_make(const struct snippet_ops *ops, const struct snippet_request *request, char **ret_text,
                 char **ret_remarks, struct err *err);

/* -- for templates, and what they leave to C -- */

/* One comment; long ones are wrapped, control characters become '?', and nothing in it can end it. */
void snippet_comment(struct snippet_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A command to be taken out of a comment: the same, but it is not wrapped, for a shell would end it there.
 * Changes the text. */
void snippet_command(struct snippet_writer *writer, char *text);

/* Where the answer comes from: version, date, host, path, file system, kernel, pattern, setting, rate with
 * its interval, how sure. */
void snippet_header(struct snippet_writer *writer, const struct snippet_request *request);

/* What QEMU and its kin call the cache mode: "none", "directsync", "writeback", "writethrough". Guests'
 * flushes are honoured in each. */
const char *snippet_cache_mode(const struct snippet_request *request);
/* One line that says what the mode means. */
const char *snippet_cache_meaning(const struct snippet_request *request);

/* A version was given, and it is older than this one. */
bool snippet_version_before(const struct snippet_request *request, unsigned major, unsigned minor);

/* "threads", "native" (direct only) or "io_uring". */
const char *snippet_aio(const struct snippet_request *request);

/* A legal size of a virtio queue, 256..1024, a power of two: never below what the measured depth and the
 * request size need (a queue also bounds the segments of a request). Threads share the n_queues evenly. */
unsigned snippet_queue_size(const struct snippet_request *request, uint32_t n_queues);

/* The image's path, absolute or not as given, or SNIPPET_NO_IMAGE. */
const char *snippet_image_path(const struct snippet_request *request);

/* 0, or -EINVAL naming the character: a path that holds one of `refused`, a control character, or another
 * that some reader ends a line at. */
int snippet_check_path(const char *path, const char *refused, struct err *err);
