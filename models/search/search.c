/* The table of search strategies. */
#include "models/search/search.h"

#include <string.h>

const struct search_ops *const search_table[] = {
    &search_auto, &search_gp, &search_quadratic, &search_random, &search_grid, NULL,
};

const struct search_ops *search_find(const char *name)
{
    for (size_t i = 0; search_table[i]; i++)
        if (strcmp(search_table[i]->name, name) == 0)
            return search_table[i];
    return NULL;
}
