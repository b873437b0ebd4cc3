/* tuner/emit/snippet_plan: what the formats of QEMU and of its managers decide in common: what stands at the
 * image's path, which engine and queue the consumer's version allows, how many IOThreads serve the disk. */
#pragma once

#include "tuner/emit/snippet_template.h"

enum snippet_plan_disk {
    SNIPPET_PLAN_UNSEEN, /* nothing stands there yet, or it may not be looked at: taken for a file to come,
                            below /dev for a device */
    SNIPPET_PLAN_FILE,
    SNIPPET_PLAN_DEVICE
};

/* First versions, major and minor. */
struct snippet_plan_product {
    const char *name;
    unsigned least[2];      /* older ones are refused */
    unsigned io_uring[2];   /* older ones get the fallback */
    unsigned queue_size[2]; /* of virtio-blk; older ones get none; 0.0: never */
    bool sizes_scsi_queue;  /* of virtio-scsi too */
    unsigned mapping[2];    /* several IOThreads for one disk; 0.0: never */
    const char *mapping_name;
};

struct snippet_plan {
    enum snippet_plan_disk disk;
    char by_id[256];      /* a name of the device that stays, where the path's may change; or "" */
    bool is_mapped;       /* a device-mapper device, as LVM's volumes are */
    bool is_sparse;       /* a file with holes */
    const char *aio;      /* legal for product and version */
    bool is_too_old;      /* aio is the fallback of io_uring: the version has none */
    bool is_forbidden;    /* the same: the measured host keeps io_uring to privileged processes */
    unsigned queue_size;  /* 0: nothing can be said about it */
    unsigned entries;     /* that the queue will have; 0: it is no virtio queue */
    unsigned commands;    /* that a SCSI disk may have in flight; 0: another bus */
    unsigned n_iothreads; /* 0: the bus has none; more than 1: the queues are spread over them */
};

/* 0; -EINVAL where the version is too old for what is emitted, or the path is neither a file nor a block
 * device. The image is looked at (stat), never opened. */
int snippet_plan_make(struct snippet_plan *plan, const struct snippet_request *request,
                      const struct snippet_plan_product *product, struct err *err);

/* What is to be used where io_uring is not: "native" (direct) or "threads". */
const char *snippet_plan_fallback(const struct snippet_request *request);

/* Gives the plan's members names, for templates. */
void snippet_plan_set(struct snippet_template *run, const struct snippet_plan *plan,
                      const struct snippet_plan_product *product);
