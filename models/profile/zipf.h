/* models/profile/zipf: how unevenly blocks are used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zipf {
    bool is_known; /* whether there is enough for a verdict */
    bool fits;     /* Zipf's law with this exponent describes it */
    double theta;  /* uses of the r-th most used block are as r^-theta; 0: all alike but for chance */
    double error;  /* standard error of theta */
    double share_of_hottest[3]; /* of all uses, by the hottest 1, 10 and 20 per cent of the blocks */
};

/* From the uses of n blocks, which are sorted in place. theta is the maximum of the likelihood over the
 * blocks that were used at least five times, whose order is no matter of chance, on their bounded support
 * (Clauset et al. 2009, Hanel et al. 2017); how many blocks were never used need not be known. */
void zipf_fit(struct zipf *zipf, uint32_t *uses, size_t n);
