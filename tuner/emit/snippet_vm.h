/* tuner/emit/snippet_vm: what the formats of virtual machines refuse alike, and what they say where the
 * machine leaves nothing to choose. */
#ifndef FSTUNE_TUNER_EMIT_SNIPPET_VM_H
#define FSTUNE_TUNER_EMIT_SNIPPET_VM_H

#include "tuner/emit/snippet.h"

/* Each: 0, or -EINVAL with what to do instead. `consumer` begins the sentence: "Firecracker". */
int snippet_vm_only_raw(const struct snippet_request *request, const char *consumer, struct err *err);
int snippet_vm_only_virtio_blk(const struct snippet_request *request, const char *consumer, struct err *err);

/* The consumer has no mode that makes every write durable; guests' flushes do. */
int snippet_vm_no_directsync(const struct snippet_request *request, const char *consumer, struct err *err);

/* Like snippet_check_path; relative paths are refused too, because the consumer reads them as something else.
 */
int snippet_vm_check_whole_path(const char *path, const char *refused, struct err *err);

/* For a consumer that takes text in UTF-8 alone. */
int snippet_vm_check_utf8(const char *path, struct err *err);

/* A version was given, and it is at least this one (major from 1 on). */
bool snippet_vm_is_version(const struct snippet_request *request, unsigned major, unsigned minor);

/* Comment: the machine chooses the I/O API by itself, or not at all; `how` ends the sentence. */
void snippet_vm_note_api(struct snippet_writer *writer, const struct snippet_request *request,
                         const char *how);

/* Comment: requests in flight are bounded by `most`, which is not settable, where more were measured. */
void snippet_vm_note_bound(struct snippet_writer *writer, const struct snippet_request *request,
                           unsigned most, const char *what);

/* Requests in flight of all threads together. */
uint64_t snippet_vm_in_flight(const struct snippet_request *request);

/* One word for a shell: `option` as it is, then `text` quoted as a whole, then the end of the line. */
void snippet_vm_print_option(struct snippet_writer *writer, const char *option, const char *text);

#endif
