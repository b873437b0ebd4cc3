/* The files of a load, numbered from 0. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

int cawl_files_init(struct cawl_files *files, const struct cawl_chunk *chunks, size_t n)
{
    uint32_t *ids = malloc((n + 1) * sizeof(*ids));
    size_t n_ids = 0;

    if (ids == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        /* Most loads stay in one file for long: few numbers to sort. */
        if (n_ids == 0 || chunks[i].file != ids[n_ids - 1])
            ids[n_ids++] = chunks[i].file;
    }
    qsort(ids, n_ids, sizeof(*ids), compare_ids);
    *files = (struct cawl_files){.ids = ids};
    for (size_t i = 0; i < n_ids; i++) {
        if (i == 0 || ids[i] != ids[files->n - 1])
            ids[files->n++] = ids[i];
    }
    return 0;
}

size_t cawl_files_index(struct cawl_files *files, uint32_t id)
{
    if (files->ids[files->last] != id) {
        const uint32_t *found = bsearch(&id, files->ids, files->n, sizeof(*files->ids), compare_ids);

        files->last = (size_t)(found - files->ids);
    }
    return files->last;
}

void cawl_files_done(struct cawl_files *files)
{
    free(files->ids);
    *files = (struct cawl_files){0};
}
