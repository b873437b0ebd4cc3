/* bench/host/procfs: small readers for the one-line files and escaped words of /proc and /sys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first line of a file without its newline and outer blanks, cut to `size`. 0; -ENODATA when empty; the
 * errno of the open or read. */
int procfs_read_line(const char *path, char *buffer, size_t size);

/* The number at the start of the first line; always finite. 0, -EINVAL when there is none, or as
 * procfs_read_line. */
int procfs_read_number(const char *path, double *ret_number);

/* The rest of the first line that begins with the name and one or more separators. */
bool procfs_find_line(const char *path, const char *name, const char *separators, char *buffer, size_t size);

/* Turns \040 and other three-digit octal escapes of mountinfo, swaps and maps into their bytes, in place. */
void procfs_unescape(char *word);

/* True when `word` is among the comma-separated words of `list`. */
bool procfs_list_has(const char *list, const char *word);
