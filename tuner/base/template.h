/* tuner/base/template: files of text inside the program, with marks such as {{names}} where it writes
 * itself. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* The file as the string `name`, which a header or the source declares: extern const char NAME[]. The
 * assembler reads it, so the Makefile has to know of it. */
#define TEMPLATE_FILE(name, path)                                                                            \
    __asm__(".pushsection .rodata\n.global " name "\n" name ":\n"                                            \
            ".incbin \"" path "\"\n"                                                                         \
            ".byte 0\n"                                                                                      \
            ".popsection\n")

struct template_part {
    const char *mark; /* with its braces; with the end of the line where nothing else stands on it */
    void (*print)(FILE *out, const void *context);
};

/* Prints the text, and in the place of each mark what its part prints. The parts are in the order of their
 * marks, of which none is missing. */
void template_print(FILE *out, const char *text, const struct template_part *parts, size_t n,
                    const void *context);
