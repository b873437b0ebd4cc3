/* tuner/picture/plot_gnuplot: one gnuplot, memory files for its input and output. */
#include "tuner/picture/plot_gnuplot.h"

#include "bench/base/spawn.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PICTURE (256U << 20)
#define WORDS_SIZE  4096

static int write_whole_text(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            return -EIO;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The first line of what gnuplot complained about, without the arrow that points into the script. */
static int refuse_gnuplot_words(const char *words, struct err *err)
{
    const char *line = words;
    while (*line != '\0' &&
           (strspn(line, " \t^") == strcspn(line, "\n") || strncmp(line, "gnuplot>", 8) == 0)) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return err_set(err, -EIO, "gnuplot could not draw the picture: %.*s", (int)strcspn(line, "\n"), line);
}

struct complaint {
    char words[WORDS_SIZE];
    size_t n;
};

/* The beginning is kept. */
static int hear(void *context, int number, const char *text, size_t n)
{
    struct complaint *complaint = context;
    (void)number;
    size_t room = WORDS_SIZE - 1 - complaint->n;
    memcpy(complaint->words + complaint->n, text, n < room ? n : room);
    complaint->n += n < room ? n : room;
    return 0;
}

static int take_picture(int fd, char **ret_picture, size_t *ret_size, struct err *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return err_sys(err, -errno, "gnuplot's picture");
    if (status.st_size <= 0 || status.st_size > MAX_PICTURE)
        return err_set(err, -EIO,
                       "gnuplot drew nothing; it may lack this kind of output (install gnuplot-nox)");
    size_t size = (size_t)status.st_size;
    char *picture = malloc(size + 1);
    if (picture == NULL)
        return err_set(err, -ENOMEM, "no memory");
    if (pread(fd, picture, size, 0) != (ssize_t)size) {
        free(picture);
        return err_set(err, -EIO, "gnuplot's picture cannot be read");
    }
    picture[size] = '\0';
    *ret_picture = picture;
    *ret_size = size;
    return 0;
}

/* Starts gnuplot and waits for its end. */
static int play(int in_fd, int out_fd, struct err *err)
{
    /* No start-up file of the user's: the same data give the same picture. */
    static const char *const argv[] = {"gnuplot", "-d", "-", NULL};
    struct complaint complaint = {"", 0};
    const struct spawn spawn = {.argv = argv,
                                .in_fd = in_fd,
                                .out_fd = out_fd,
                                .err_fd = SPAWN_HEARD,
                                .hear = hear,
                                .context = &complaint,
                                .clock = &clock_monotonic,
                                .interrupted = &interrupt_signal};
    int status = 0, result = spawn_run(&spawn, &status);
    if (result == -ENOENT)
        return err_set(
            err, result,
            "gnuplot is not installed; install it (Debian's package: gnuplot-nox), or print the script "
            "with --script");
    if (result == -EINTR)
        return err_set(err, result, "interrupted; no picture was written");
    if (result < 0)
        return err_sys(err, result, "gnuplot could not be run");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : refuse_gnuplot_words(complaint.words, err);
}

int plot_gnuplot_run(const char *script, size_t size, char **ret_picture, size_t *ret_size, struct err *err)
{
    int in_fd = memfd_create("script", MFD_CLOEXEC), out_fd = memfd_create("picture", MFD_CLOEXEC);
    int result = in_fd < 0 || out_fd < 0 ? err_sys(err, -errno, "no memory file") : 0;
    if (result == 0) {
        result = write_whole_text(in_fd, script, size);
        if (result < 0 || lseek(in_fd, 0, SEEK_SET) != 0)
            result = err_sys(err, result < 0 ? result : -errno, "the script for gnuplot");
    }
    if (result == 0)
        result = play(in_fd, out_fd, err);
    if (result == 0)
        result = take_picture(out_fd, ret_picture, ret_size, err);
    if (in_fd >= 0)
        close(in_fd);
    if (out_fd >= 0)
        close(out_fd);
    return result;
}
