/* bench/base/err: one error, with the words a user needs.
 *
 * Functions that touch the outside world return 0 or a negative errno and take a `struct err *` that receives
 * the same code and one line of text: what was attempted, where, why. Callers prefix context on the way up.
 * Every function here accepts err == NULL and does nothing but pass the code through. Text that is too long
 * loses its tail; control characters become '?'. */
#pragma once

#include <stdbool.h>

#define ERR_TEXT_SIZE 512

struct err {
    int code;                 /* 0 or a negative errno */
    char text[ERR_TEXT_SIZE]; /* one line, no newline, always terminated */
};

/* Stores code and text; returns code, so that `return err_set(err, -EIO, ...)` reads well. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, then appends ": " and the system's description of -code, which names the failure of a device as
 * such. */
int err_sys(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As err_sys, of a transfer: where the device failed, with what to do about it. */
int err_io(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Did the device fail? Kernels tell -EIO, or what failed: the storage stack, protection, transport, target.
 */
bool err_is_device(int code);

/* What to do about it, to be put behind a text; "" for other codes. */
const char *err_advice(int code);

/* Puts "prefix: " before the text that is there; returns the code that is there (-EIO with err == NULL, which
 * keeps none: never a success). */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
