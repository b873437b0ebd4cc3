/* Tests of bench/target/target_left: what a dead owner left goes, and nothing else. */
#include "bench/target/target_left.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NFS  ".nfs00000000000012340000002a"
#define SIZE 65536

static char place[64];
static int dir_fd, new_fd;
static struct target_left_owner self, dead;

FIXTURE(make_place)
{
    snprintf(place, sizeof place, "/tmp/fstune-left-XXXXXX");
    assert_non_null(mkdtemp(place));
    dir_fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    new_fd = openat(dir_fd, "new", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(dir_fd >= 0 && new_fd >= 0);
    target_left_self(&self);
    /* Tests run in containers without this file, too. */
    snprintf(self.machine, sizeof self.machine, "0123456789abcdef0123456789abcdef");
    dead = self;
    snprintf(dead.boot, sizeof dead.boot, "an-earlier-one");
    return 0;
}

FIXTURE(remove_place)
{
    char command[96];
    close(dir_fd);
    close(new_fd);
    snprintf(command, sizeof command, "rm -rf %s", place);
    return system(command);
}

EACH_TEST(make_place, remove_place);

static void make(const char *name, const struct target_left_owner *owner)
{
    int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    if (owner != NULL)
        assert_int_equal(target_left_mark(fd, SIZE, owner), 0);
    close(fd);
}

static bool exists(const char *name)
{
    struct stat status;
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static uint64_t removed(void)
{
    struct target_left left;
    target_left_remove(dir_fd, new_fd, &self, &left);
    return left.n;
}

TEST(what_was_left_before_the_last_start_is_removed)
{
    struct target_left left;
    make(NFS, &dead);
    make(".smb0001", &dead);
    target_left_remove(dir_fd, new_fd, &self, &left);
    assert_int_equal(left.n, 2);
    assert_int_equal(left.bytes, 2 * (SIZE + TARGET_LEFT_BYTES));
    assert_false(exists(NFS));
    assert_true(exists("new"));
}

TEST(what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays)
{
    struct target_left_owner child = self;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    child.pid = (uint64_t)pid;
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(read(fd, line, sizeof line - 1) > 0);
    close(fd);
    char *at = strrchr(line, ')') + 1;
    for (int word = 3; word < 22; word++)
        at = strchr(at + 1, ' ');
    child.start = strtoull(at, NULL, 10);
    make(NFS, &child);
    assert_int_equal(removed(), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(removed(), 1);
}

TEST(our_own_stays_and_a_number_used_again_is_another_process)
{
    make(NFS, &self);
    assert_int_equal(removed(), 0);
    struct target_left_owner earlier = self;
    earlier.start--;
    make(".nfs1", &earlier);
    assert_int_equal(removed(), 1);
    earlier.start = 0; /* of an owner that could not see itself in /proc */
    make(".nfs2", &earlier);
    earlier.start = 1;
    earlier.pid = 0; /* what kill takes for more than one process */
    make(".nfs3", &earlier);
    earlier.pid = (uint64_t)-1;
    make(".nfs4", &earlier);
    assert_int_equal(removed(), 0);
    assert_true(exists(NFS));
}

TEST(other_machines_and_unseen_processes_are_not_taken_for_dead)
{
    struct target_left_owner other = dead, host = dead, space = self;
    other.machine[0] = 'f';
    host.host[0]++;
    space.pid_namespace++;
    space.start--;
    make(".nfs1", &other);
    make(".nfs2", &host);
    make(".nfs3", &space);
    assert_int_equal(removed(), 0);
    self.machine[0] = '\0'; /* who we are is not known */
    make(".nfs4", &dead);
    assert_int_equal(removed(), 0);
    int fd = openat(dir_fd, ".nfs4", O_RDWR | O_CLOEXEC);
    assert_int_equal(target_left_mark(fd, SIZE, &self), -ENODATA);
    close(fd);
}

TEST(files_of_others_stay)
{
    char path[128], block[TARGET_LEFT_BYTES];
    make(NFS, NULL);
    make("named", &dead);
    make(".nfs1", &dead);
    assert_int_equal(fchmodat(dir_fd, ".nfs1", 0640, 0), 0);
    make(".nfs2", &dead);
    assert_int_equal(linkat(dir_fd, ".nfs2", dir_fd, "second", 0), 0);
    assert_int_equal(symlinkat("named", dir_fd, ".nfs3"), 0);
    snprintf(path, sizeof path, "%s/.nfs4", place);
    assert_int_equal(mkfifo(path, 0600), 0);
    /* A copy has the mark, and another inode. */
    int from = openat(dir_fd, "named", O_RDONLY | O_CLOEXEC);
    make(".nfs5", NULL);
    int to = openat(dir_fd, ".nfs5", O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(from, block, sizeof block, SIZE), sizeof block);
    assert_int_equal(pwrite(to, block, sizeof block, SIZE), sizeof block);
    close(from);
    close(to);
    assert_int_equal(removed(), 0);
    assert_true(exists(NFS) && exists("named") && exists(".nfs3"));
}

TEST(an_empty_file_that_was_never_unlinked_is_removed_after_an_hour)
{
    static const char *const names[] = {".fstune-0123456789abcdef", ".fstune-0123456789abcde0",
                                        ".fstune-0123456789abcdeg", ".fstune-0123456789abcde1"};
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    for (size_t i = 0; i < N_OF(names); i++) {
        make(names[i], NULL);
        int fd = openat(dir_fd, names[i], O_RDWR | O_CLOEXEC);
        assert_int_equal(ftruncate(fd, i == 3 ? 1 : 0), 0);
        assert_int_equal(i == 1 ? 0 : futimens(fd, old), 0);
        close(fd);
    }
    const struct timespec end_of_time[2] = {{.tv_sec = INT64_MAX}, {.tv_sec = INT64_MAX}};
    make(".fstune-0123456789abcde2", NULL);
    int fd = openat(dir_fd, ".fstune-0123456789abcde2", O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(futimens(fd, end_of_time), 0);
    close(fd);
    assert_int_equal(removed(), 1);
    assert_false(exists(names[0]));
}
