/* tuner/emit/snippet_qemu: what QEMU's long and short form share. The lines are words for a shell, one option
 * a line, between comments. */
#ifndef FSTUNE_TUNER_EMIT_SNIPPET_QEMU_H
#define FSTUNE_TUNER_EMIT_SNIPPET_QEMU_H

#include "tuner/emit/snippet_plan.h"

extern const struct snippet_plan_product snippet_qemu_product;

/* The path as a value of an option: commas doubled, and quoted for the shell where it needs that. */
void snippet_qemu_path(FILE *out, const char *path);

/* The lines around the drive "fst-d0": before it the IOThreads, behind it the devices. */
void snippet_qemu_objects(FILE *out, const struct snippet_plan *plan);
void snippet_qemu_devices(FILE *out, const struct snippet_request *request, const struct snippet_plan *plan);

/* Header, and the comments of the plan and of the bus. */
void snippet_qemu_notes(struct snippet_writer *writer, const struct snippet_request *request,
                        const struct snippet_plan *plan);

#endif
