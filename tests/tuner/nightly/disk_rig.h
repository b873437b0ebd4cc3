/* tests/tuner/nightly/disk_rig: a test's own image in the current directory, and what it should hold. */
#pragma once

#include "tests/test.h"
#include "tuner/nightly/disk_control.h"

#include <fcntl.h>

#define RIG_IMAGE_BYTES (16U << 20)

static struct {
    char path[64], history[80];
    char said[512]; /* the last line for the operator */
    double cache_bytes;
    struct disk served;
    struct err err;
} rig;

static inline void rig_say(bool is_wrong, const char *format, va_list arguments)
{
    (void)is_wrong;
    vsnprintf(rig.said, sizeof(rig.said), format, arguments);
}

FIXTURE(rig_set_up)
{
    snprintf(rig.path, sizeof(rig.path), "disk-test-%d.img", (int)getpid());
    snprintf(rig.history, sizeof(rig.history), "%s.history", rig.path);
    rig.said[0] = '\0';
    unlink(rig.path);
    int fd = open(rig.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    int result = fd >= 0 ? ftruncate(fd, RIG_IMAGE_BYTES) : -1;
    close(fd);
    return result;
}

FIXTURE(rig_tear_down)
{
    unlink(rig.path);
    unlink(rig.history);
    return 0;
}

EACH_TEST(rig_set_up, rig_tear_down);

static inline int rig_open(const char *history)
{
    struct disk_options options = {.path = rig.path,
                                   .writable = true,
                                   .regret_share = 0.03,
                                   .cache_bytes = rig.cache_bytes,
                                   .history = history,
                                   .say = rig_say};
    return disk_open(&rig.served, &options, &rig.err);
}

static inline void rig_serve(void)
{
    if (rig_open(NULL) != 0)
        fail_msg("%s", rig.err.text);
}

static inline const char *rig_ask(const char *command)
{
    static char answer[8192];
    disk_control_answer(&rig.served, command, answer, sizeof(answer));
    return answer;
}
