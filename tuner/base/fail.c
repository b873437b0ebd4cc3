/* Exit codes and the line that goes with them. */
#include "tuner/base/fail.h"

#include "bench/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static struct err last;

const char *fail_text(void)
{
    return last.text;
}

int fail_with(int code, const char *format, ...)
{
    va_list arguments;
    char text[ERR_TEXT_SIZE];
    struct err err;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* The text is made printable, so that it stays one line whatever bytes the user typed. */
    err_set(&err, -EINVAL, "%s", text);
    fprintf(stderr, "fstune: %s\n", err.text);
    if (code != EXIT_DONE)
        last = err;
    return code;
}

int fail_refused(int result, const char *text)
{
    static const int machine[] = {-ENOSPC, -EDQUOT,  -EFBIG,   -EROFS,    -ENOMEM,    -EMFILE,
                                  -ENFILE, -EINTR,   -ESTALE,  -ENOTCONN, -ETIMEDOUT, -ENODEV,
                                  -EAGAIN, -EUCLEAN, -EBADMSG, -EPIPE,    -EPROTO};
    int code = err_is_device(result) ? EXIT_FAILED : EXIT_USAGE;
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
        if (result == machine[i])
            code = EXIT_FAILED;
    }
    return fail_with(code, "%s", text);
}
