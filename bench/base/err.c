/* bench/base/err: builds the one line of text that an error carries upwards. */
#include "bench/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A file name may hold anything, but an error stays one line and must not drive the terminal. */
static void make_printable(char *text)
{
    for (char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7f)
            *c = '?';
    }
}

/* Text is always built beside err->text, because the arguments may point into it. */
static void store(struct err *err, int code, const char *text)
{
    err->code = code;
    snprintf(err->text, sizeof(err->text), "%s", text);
    make_printable(err->text);
}

static void format_text(char text[ERR_TEXT_SIZE], const char *format, va_list args)
{
    text[0] = '\0';
    vsnprintf(text, ERR_TEXT_SIZE, format, args);
    text[ERR_TEXT_SIZE - 1] = '\0';
}

/* Appends what fits: the head, which names the thing, is worth more than the tail. */
static void append_to_err_text(char text[ERR_TEXT_SIZE], const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, ERR_TEXT_SIZE - length, "%s", more);
}

/* What blk_status_to_errno makes of a failed request. */
bool err_is_device(int code)
{
    return code == -EIO || code == -ENODATA || code == -EILSEQ || code == -ENOLINK || code == -EREMOTEIO;
}

const char *err_advice(int code)
{
    return err_is_device(code) ? "; see dmesg for what the kernel knows of the device" : "";
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    format_text(text, format, args);
    va_end(args);
    store(err, code, text);
    return code;
}

/* libc's own words; of the two functions of this name glibc has the one that returns them. */
static const char *describe(int code, char *own, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(code, own, size);
#else
    return strerror_r(code, own, size) == 0 ? own : "unknown error";
#endif
}

static int set_with_words(struct err *err, int code, const char *advice, const char *format, va_list args)
{
    if (!err)
        return code;
    char text[ERR_TEXT_SIZE], own[128];
    bool is_plain = !err_is_device(code) || code == -EIO;
    format_text(text, format, args);
    append_to_err_text(text, is_plain ? ": " : ": Input/output error (");
    append_to_err_text(text, describe(-code, own, sizeof own));
    append_to_err_text(text, is_plain ? "" : ")");
    append_to_err_text(text, advice);
    store(err, code, text);
    return code;
}

int err_sys(struct err *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_with_words(err, code, "", format, args);
    va_end(args);
    return code;
}

int err_io(struct err *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_with_words(err, code, err_advice(code), format, args);
    va_end(args);
    return code;
}

int err_prefix(struct err *err, const char *format, ...)
{
    /* A caller that adds a prefix has failed: returning 0 would turn that into a success. */
    if (!err)
        return -EIO;
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    format_text(text, format, args);
    va_end(args);
    if (err->text[0]) {
        append_to_err_text(text, ": ");
        append_to_err_text(text, err->text);
    }
    store(err, err->code, text);
    return err->code;
}
