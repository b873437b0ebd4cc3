/* tuner/search/link_mpi: begin and end of MPI; for the main of fstune-mpi. */
#pragma once

#include "tuner/search/link.h"

#include <stdbool.h>
#include <stdint.h>

struct link {
    uint32_t rank, n;
    uint32_t n_here; /* processes on this machine */
    bool is_first_here;
};

/* 0; -ENOLINK: MPI does not start; -ENOTSUP: it knows no threads. */
int link_open(int *argc, char ***argv, struct link *ret_link);

/* Only when all processes come here. */
void link_close(void);
