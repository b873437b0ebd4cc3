/* tests/models/rng: the random generator of a test program, which each test seeds, and GSL without its
 * handler that would end the program at the first error. */
#pragma once

#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static gsl_rng *rng;

__attribute__((constructor)) static void rng_begin(void)
{
    rng = gsl_rng_alloc(gsl_rng_mt19937);
}

__attribute__((destructor)) static void rng_end(void)
{
    gsl_rng_free(rng);
}
