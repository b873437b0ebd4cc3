/* Tests of tuner/emit/apply with calls that fail and kills at every step: the old or the new file is in
 * force, and whole. */
/* clang-format off */
/* LINK: -Wl,--wrap=openat64,--wrap=write,--wrap=fsync,--wrap=fchmod,--wrap=close,--wrap=renameat,--wrap=renameat2 */
/* clang-format on */
#include "tests/tuner/emit/apply_rig.h"

GROUP(rig_enter, rig_leave);

/* The n-th of the wrapped calls, from 1, fails with EIO or kills the process before or after it is made. */
static struct {
    bool armed;
    enum { FAIL, KILL_BEFORE, KILL_AFTER } how;
    unsigned at, n;
} fault;

static bool strikes(void)
{
    return fault.armed && ++fault.n == fault.at;
}

/* close is always made: a descriptor that stays open is no fault of a disk. */
#define FAULTY(CALL, ...)                                                                                    \
    bool struck = strikes();                                                                                 \
    if (struck && fault.how == KILL_BEFORE)                                                                  \
        raise(SIGKILL);                                                                                      \
    if (struck && fault.how == FAIL) {                                                                       \
        errno = EIO;                                                                                         \
        return -1;                                                                                           \
    }                                                                                                        \
    int result = (int)CALL(__VA_ARGS__);                                                                     \
    if (struck && fault.how == KILL_AFTER)                                                                   \
        raise(SIGKILL);                                                                                      \
    return result

WRAP(int, openat64, (int dir_fd, const char *path, int flags, ...))
{
    FAULTY(__real_openat64, dir_fd, path, flags, 0600);
}

WRAP(ssize_t, write, (int fd, const void *bytes, size_t n))
{
    FAULTY(__real_write, fd, bytes, n);
}

WRAP(int, fsync, (int fd))
{
    FAULTY(__real_fsync, fd);
}

WRAP(int, fchmod, (int fd, mode_t mode))
{
    FAULTY(__real_fchmod, fd, mode);
}

WRAP(int, close, (int fd))
{
    bool struck = strikes();
    if (struck && fault.how == KILL_BEFORE)
        raise(SIGKILL);
    int result = __real_close(fd);
    if (struck && fault.how == KILL_AFTER)
        raise(SIGKILL);
    if (struck && fault.how == FAIL)
        errno = EIO;
    return struck && fault.how == FAIL ? -1 : result;
}

WRAP(int, renameat, (int from_fd, const char *from, int to_fd, const char *to))
{
    FAULTY(__real_renameat, from_fd, from, to_fd, to);
}

WRAP(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags))
{
    FAULTY(__real_renameat2, from_fd, from, to_fd, to, flags);
}

/* Outlives a kill, as a history does; not with the calls that fail. */
static int remember(void *context, struct err *settle_err)
{
    (void)context;
    (void)settle_err;
    return mkdir("remembered", 0700);
}

/* As plain, with a command, and remembered. */
static struct apply_order order_to_remember(int64_t settled)
{
    struct apply_order order = plain;
    order.apply = "true";
    order.settled = settled;
    order.settle = remember;
    return order;
}

static int apply_with_fault(void)
{
    const struct apply_order order = order_to_remember(7);
    fault.armed = true;
    int result = apply_snippet(&order, &err);
    fault.armed = false;
    if (strcmp(contents("place/snippet"), result == 0 ? "new\n" : "old\n") != 0)
        return 50;
    const char *previous = result == 0 ? "old\n" : "older\n";
    if (!rig_exists("place/.fstune-applying.snippet") &&
        strcmp(contents("place/snippet.previous"), previous) != 0)
        return 53;
    if (result < 0 && (err.text[0] == '\0' || result != -EIO))
        return 51;
    return fault.n < fault.at ? 1 : 0; /* 1: the fault came no more */
}

static void set_up(const char *previous)
{
    shell("rm -rf remembered");
    set_up_place("old\n", previous, NULL);
}

static int rollback_with_fault(void)
{
    const struct apply_order order = order_to_remember(7);
    fault.armed = true;
    int result = apply_rollback(&order, &err);
    fault.armed = false;
    return fault.n < fault.at ? 1 : result == 0 || err.text[0] != '\0' ? 0 : 52;
}

/* What was remembered is in force, and nothing else; the way back is there. Both are the same two texts, the
 * other way round for a rollback. */
static void check_recovery(const char *previous)
{
    bool recovered, is_new = rig_exists("remembered");
    const struct apply_order order = order_to_remember(is_new ? 8 : 7);
    assert_int_equal(apply_recover(&order, &recovered, &err), 0);
    assert_false(is_new && recovered);
    /* Nothing that was staged is left, and no marker; what could not be tidied up is so now. */
    assert_true(rig_count_entries("place") <= 2);
    assert_string_equal(contents("place/snippet"), is_new ? "new\n" : "old\n");
    assert_string_equal(contents("place/snippet.previous"), is_new ? "old\n" : previous);
}

static bool is_whole(const char *path)
{
    const char *text = contents(path);
    return !rig_exists(path) || strcmp(text, "old\n") == 0 || strcmp(text, "new\n") == 0 ||
           strcmp(text, "older\n") == 0;
}

/* At one call after the other, until the fault comes no more. */
static void strike_everywhere(int how, int (*work)(void), const char *previous)
{
    int code = 0;
    for (fault.at = 1; code != 1; fault.at++) {
        set_up(previous);
        fault.how = how;
        code = in_child(work);
        assert_true(code == 1 || code == (how == FAIL ? 0 : -SIGKILL));
        assert_true(rig_exists("place/snippet"));
        assert_true(is_whole("place/snippet") && is_whole("place/snippet.previous"));
        if (code != 1)
            check_recovery(previous);
    }
    assert_true(fault.at > 12);
}

TEST(every_call_that_fails_leaves_the_old_or_the_new_one_in_force)
{
    strike_everywhere(FAIL, apply_with_fault, "older\n");
}

TEST(a_kill_at_any_step_leaves_the_old_or_the_new_one_whole)
{
    strike_everywhere(KILL_BEFORE, apply_with_fault, "older\n");
    strike_everywhere(KILL_AFTER, apply_with_fault, "older\n");
}

TEST(a_kill_during_a_rollback_leaves_the_old_or_the_new_one_whole)
{
    strike_everywhere(KILL_BEFORE, rollback_with_fault, "new\n");
    strike_everywhere(KILL_AFTER, rollback_with_fault, "new\n");
}
