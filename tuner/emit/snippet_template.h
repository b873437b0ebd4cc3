/* tuner/emit/snippet_template: a format is a text, formats/NAME.txt, with holes for values; what a text
 * cannot say is its row's function `own`.
 *
 * A line of a template, by its first character:
 *   # TEXT       a comment, in the format's own marks
 *   > TEXT       a command for a shell, in a comment that stays one line
 *   ! TEXT       refuses the request; what was written before is not shown
 *   =NAME TEXT   gives a value a name
 *   @NAME        another template; or header (where the answer comes from), own (the row's function),
 *                path CHARACTERS (refuses a path that holds one of them, or a control character)
 *   // TEXT      is for who reads the template
 *   ?CONDITION CONDITION: LINE   only where all of them hold
 *   *NAME LINE   as often as that value says; ${i} counts from 0 and ${next} from 1
 *   else         the line is written
 *
 * Holes in TEXT: ${NAME}; ${NAME:FILTER}, where a filter is sh (between single quotes of a shell), quoted-sh
 * (between double quotes, inside of single ones), xml, qemu (of an option), json (with its quotes), 200 (so
 * many bytes at most), or 8..128 (a number is brought into this range); ${CONDITION?YES|NO}. Conditions: NAME
 * is neither empty nor 0; NAME=A,B is one of these; NAME^A,B begins with one of these; NAME~CHARS holds one
 * of these; NAME<N, NAME>N, also of versions ("50.1"). An exclamation mark in front negates it. */
#pragma once

#include "tuner/emit/snippet.h"

#include <jansson.h>

struct snippet_template {
    struct snippet_writer *writer;
    const struct snippet_request *request;
    const struct snippet_ops *ops;
    json_t *values;    /* texts by their names */
    const char *wrong; /* what a template says that has no meaning, or "memory": the first of it */
    struct err *err;
};

/* 0; -EINVAL where the template or the row's function refuses; -ENOMEM. */
int snippet_template_run(const struct snippet_ops *ops, struct snippet_writer *writer,
                         const struct snippet_request *request, struct err *err);

/* Gives a value a name, for the lines that follow. */
void snippet_value(struct snippet_template *run, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The templates, formats/NAME.txt; guest to qemu_devices are parts of others. */
extern const char snippet_text_guest[], snippet_text_machine[], snippet_text_plan[];
extern const char snippet_text_qemu_notes[], snippet_text_qemu_devices[], snippet_text_qemu_nbd[];
extern const char snippet_text_qemu[], snippet_text_qemu_drive[], snippet_text_libvirt[],
    snippet_text_proxmox[];
extern const char snippet_text_virtualbox[], snippet_text_vmware[], snippet_text_firecracker[],
    snippet_text_cloud_hypervisor[];
extern const char snippet_text_crosvm[], snippet_text_bhyve[], snippet_text_xen[], snippet_text_kubevirt[];
extern const char snippet_text_fio[], snippet_text_udev[], snippet_text_postgresql[], snippet_text_mysql[];
extern const char snippet_text_rocksdb[], snippet_text_seastar[], snippet_text_shell[], snippet_text_json[];

/* What the templates of some formats leave to C, at `@own`: figures, looks at the image, and refusals that
 * need both. 0 or a negative errno with a text. */
int snippet_own_qemu(struct snippet_template *run);
int snippet_own_libvirt(struct snippet_template *run);
int snippet_own_proxmox(struct snippet_template *run);
int snippet_own_kubevirt(struct snippet_template *run);
int snippet_own_fio(struct snippet_template *run);
int snippet_own_udev(struct snippet_template *run);
int snippet_own_postgresql(struct snippet_template *run);
int snippet_own_mysql(struct snippet_template *run);
int snippet_own_rocksdb(struct snippet_template *run);
int snippet_own_seastar(struct snippet_template *run);
int snippet_own_json(struct snippet_template *run);

/* The answers of a request from 0 to n_more, in the order in which they were given. */
const struct recommendation *snippet_answer(const struct snippet_request *request, size_t i);

/* -- between snippet_template.c and snippet_values.c -- */

/* What every template may name: setting, request, origin. */
void snippet_values_set(struct snippet_template *run);

/* Writes a value by a filter; false where there is no such filter. */
bool snippet_values_filter(FILE *out, const char *value, const char *filter);

/* A number, or a version as a number: 50.1 is more than 50 and less than 50.10. */
uint64_t snippet_values_number(const char *text);
