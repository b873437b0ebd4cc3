/* tuner/base/grow: arrays that double where they are full. */
#pragma once

#include <stddef.h>

/* The element behind the first n of an array, whatever is in it; NULL without memory, and then all stays as
 * it is. `array` is the address of its pointer, which is NULL at first and which the caller frees. */
void *grow_array(void *array, size_t n, size_t *capacity, size_t element_size);
