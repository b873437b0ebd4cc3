/* tuner/impact/guest_report: what the recommended and the fastest setting will give inside a virtual machine,
 * in the answer of a search (--guest-atoms, --host-atoms). A program in the guest makes the requests with
 * direct I/O, so many at a time; whether they pass by the host's page cache, and by which API, is for the
 * software that runs the guest. */
#pragma once

#include "bench/base/err.h"
#include "models/impact/atomic.h"
#include "tuner/options/settings.h"
#include "tuner/report/answer.h"

/* A direct request in the guest less one on the host. */
struct guest_costs {
    const struct settings *settings; /* NULL: the command predicts none */
    struct atomic_cost read_4k, read_64k, queued_4k, write_4k, flush;
};

struct guest_report {
    const struct answer *answer;
    const struct guest_costs *costs;
};

/* Reads the files that the options name; nothing where they name none. 0; -EINVAL with one line: a file that
 * is missing, is none of atomic tests or lacks a test that the pattern needs. */
int guest_report_read(struct guest_costs *ret, const struct settings *settings, struct err *err);

/* For the answer; borrowed. */
struct answer_part guest_report_part(const struct guest_report *report);
