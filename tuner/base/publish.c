/* tuner/base/publish: written aside, then renamed. */
#include "tuner/base/publish.h"

#include "bench/base/access.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN      200
#define MODE       0666
#define TEMPORARY  ".XXXXXX"
#define ASIDE_SIZE (PATH_MAX + sizeof TEMPORARY)

/* Checked before the measurement, which takes minutes: it must not fail only at its end. */
static int check_directory(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX] = ".";
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length >= sizeof directory)
        return err_set(err, -ENAMETOOLONG, "%.*s: the name is too long", SHOWN, path);
    if (length > 0) {
        memcpy(directory, path, length);
        directory[length] = '\0';
    }
    int result = access_directory(AT_FDCWD, directory);
    return result < 0 ? err_sys(err, result, "%.*s: no file can be made beside it", SHOWN, path) : 0;
}

int publish_check(const char *path, struct err *err)
{
    struct stat status;
    if (path[0] == '\0')
        return err_set(err, -EINVAL, "the file's name is empty");
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? check_directory(path, err)
                               : err_sys(err, -errno, "%.*s: cannot be looked at", SHOWN, path);
    if (S_ISLNK(status.st_mode))
        return err_set(err, -ELOOP, "%.*s: it is a symbolic link; give the name of the file itself", SHOWN,
                       path);
    if (S_ISDIR(status.st_mode))
        return err_set(err, -EISDIR, "%.*s: it is a directory; give the name of a file", SHOWN, path);
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "%.*s: it is no regular file; give another name", SHOWN, path);
    return check_directory(path, err);
}

/* mkstemp gives its owner alone access: what is published is to be shown around, as far as the umask allows,
 * or as far as we allowed it the last time. What another user left there says nothing about it. */
static mode_t mode_for(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && status.st_uid == geteuid())
        return status.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return MODE & ~mask;
}

static int fill_published_file(int fd, const char *path, const char *text, size_t size)
{
    int result = replace_write(fd, text, size);
    if (result == 0 && fchmod(fd, mode_for(path)) < 0)
        result = -errno;
    if (result == 0 && fsync(fd) < 0)
        result = -errno;
    if (close(fd) < 0 && result == 0)
        result = -errno;
    return result;
}

/* known_signal: what has come before, and does not stop it. */
static int replace(const char *path, const char *text, size_t size, int known_signal, struct err *err)
{
    char aside[ASIDE_SIZE];
    if ((size_t)snprintf(aside, sizeof aside, "%s" TEMPORARY, path) >= sizeof aside)
        return err_set(err, -ENAMETOOLONG, "%.*s: the name is too long", SHOWN, path);
    int fd = mkostemp(aside, O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "%.*s: no file can be made beside it", SHOWN, path);
    int result = fill_published_file(fd, path, text, size);
    if (result == 0 && atomic_load(&interrupt_signal) != known_signal)
        result = -EINTR;
    if (result == 0 && rename(aside, path) < 0)
        result = -errno;
    if (result < 0) {
        unlink(aside);
        return err_sys(err, result, "%.*s: cannot be written", SHOWN, path);
    }
    return 0;
}

static int publish(const char *path, const char *text, size_t size, int known_signal, struct err *err)
{
    int result = publish_check(path, err);
    return result < 0 ? result : replace(path, text, size, known_signal, err);
}

int publish_file(const char *path, const char *text, size_t size, struct err *err)
{
    return publish(path, text, size, 0, err);
}

static int print_and_publish(const char *path, int (*print)(FILE *out, const void *what, struct err *err),
                             const void *what, int known_signal, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return err_set(err, -ENOMEM, "no memory for %.*s", SHOWN, path);
    int result = print(out, what, err);
    bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && result == 0)
        result = err_set(err, -ENOMEM, "no memory for %.*s", SHOWN, path);
    if (result == 0)
        result = publish(path, text, size, known_signal, err);
    free(text);
    return result;
}

int publish_print(const char *path, int (*print)(FILE *out, const void *what, struct err *err),
                  const void *what, struct err *err)
{
    return print_and_publish(path, print, what, 0, err);
}

int publish_print_ended(const char *path, int (*print)(FILE *out, const void *what, struct err *err),
                        const void *what, struct err *err)
{
    return print_and_publish(path, print, what, atomic_load(&interrupt_signal), err);
}
