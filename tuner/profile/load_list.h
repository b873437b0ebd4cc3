/* tuner/profile/load_list: the requests that repeat a load. */
#pragma once

#include "bench/base/err.h"
#include "bench/run/requests.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_LIST_MOST 1000000 /* requests; a longer load is repeated up to here */

struct load_list {
    struct requests_item *items;
    size_t n, n_left_out;
    uint64_t span_bytes; /* they need a file of so many */
    uint32_t depth;      /* requests in flight, by as many threads */
    bool direct, writes;
    double seconds;     /* that the load took; 0: unknown */
    json_t *profile;    /* of the load, owned; what the replay is compared with */
    const char *source; /* "fstune" or "fio-iolog" */
};

/* From a file: a profile, or fio's iolog. most_bytes: of the file that it will be made on; offsets behind its
 * end are folded into it. The caller frees it with load_list_free, also after an error. */
int load_list_read(struct load_list *list, const char *path, uint64_t most_bytes, uint64_t seed,
                   struct err *err);
void load_list_free(struct load_list *list);

/* The two kinds of files. */
int load_list_from_profile(struct load_list *list, uint64_t most_bytes, uint64_t seed, struct err *err);
int load_list_from_iolog(struct load_list *list, const char *path, uint64_t most_bytes, struct err *err);
