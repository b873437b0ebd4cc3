/* bench/collector/modules: the code of the program and its libraries, as it was loaded at the start. */
#pragma once

#include <stdint.h>

#define MODULES_PATH_SIZE 256

struct module {
    uint64_t begin, end;   /* addresses */
    uint64_t offset_bytes; /* of the beginning, in the file */
    uint64_t file;         /* its number for the sink */
    char path[MODULES_PATH_SIZE];
};

/* In the constructor. What is loaded later is not known, nor what finds no room. */
void modules_look(void);

/* In a signal handler as well. NULL: it lies in none of them. */
const struct module *modules_find(uint64_t address, uint64_t *ret_offset_bytes);
