/* tuner/base/grow: the array's pointer is of any type, so it is copied as bytes. */
#include "tuner/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 16

void *grow_array(void *array, size_t n, size_t *capacity, size_t element_size)
{
    char *elements;
    memcpy(&elements, array, sizeof elements);
    if (n == *capacity) {
        const size_t wanted = n == 0 ? FIRST : 2 * n;
        char *larger = reallocarray(elements, wanted, element_size);
        if (larger == NULL)
            return NULL;
        elements = larger;
        memcpy(array, &elements, sizeof elements);
        *capacity = wanted;
    }
    return elements + n * element_size;
}
