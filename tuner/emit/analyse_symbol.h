/* tuner/emit/analyse_symbol: the function of a program or a library in which an address lies. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* address: as the linker saw it. False: the file is not there any more, is none of 64 bits, or does not say;
 * then ret_name is untouched. */
bool analyse_symbol(const char *path, uint64_t address, char *ret_name, size_t size);

/* The same of a place in the file. */
bool analyse_symbol_at(const char *path, uint64_t offset_bytes, char *ret_name, size_t size);
