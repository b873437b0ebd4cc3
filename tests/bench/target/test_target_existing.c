/* tests/bench/target/test_target_existing: what is refused, and what a user's file may be used for. */
#include "tests/bench/target/target_rig.h"
#include "tests/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FILE_BYTES (2 * MIB)

static char file_path[300];

static void fill_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        putc((int)(i * 2654435761U >> 13 & 0xff), file);
    assert_int_equal(fclose(file), 0);
}

/* Opens, closes again, and gives back the code; the text must name the path and hold `word`. */
static int open_and_close(const char *path, bool for_writing, bool overwrite, const char *word)
{
    struct target target = {0};
    struct err err = {0};
    int code = rig_open_existing(&target, path, for_writing, overwrite, &err);
    if (code != 0) {
        assert_int_equal(err.code, code);
        assert_int_equal(target.fd, 0);
        if (strstr(err.text, path) == NULL || strstr(err.text, word) == NULL)
            fail_msg("no \"%s\" in: %s", word, err.text);
    }
    target_close(&target);
    return code;
}

TEST(reading_needs_no_permission)
{
    AUTO(target_close) struct target target = {0};
    int fd = -1;
    assert_int_equal(rig_open_existing(&target, file_path, false, false, NULL), 0);
    assert_int_equal(target.size_bytes, FILE_BYTES);
    assert_false(target.owned || target.writable || target.tmpfile);
    assert_int_equal(fcntl(target.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(target_open_run(&target, false, true, &fd, NULL), -EPERM);
    assert_int_equal(fd, -1);
}

TEST(writing_needs_overwrite)
{
    assert_int_equal(open_and_close(file_path, true, false, "--overwrite"), -EPERM);
    assert_int_equal(open_and_close(file_path, true, true, ""), 0);
}

TEST(permission_to_destroy_a_device_is_none_for_a_file)
{
    struct target target = {0};
    struct err err = {0};
    const struct target_existing existing = {.path = file_path,
                                             .for_writing = true,
                                             .overwrite = true,
                                             .destroy_device_bytes = FILE_BYTES,
                                             .ignore_signature = true};
    assert_int_equal(target_open_existing(&target, &existing, &err), -EINVAL);
    assert_non_null(strstr(err.text, "is a file and not a block device"));
}

TEST(other_kinds_are_named_and_refused)
{
    const char *fifo = rig_in("fifo"), *link = rig_in("link"), *socket_path = rig_in("socket");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", socket_path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symlink(fifo, link), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool has_socket = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    for (int writing = 0; writing < 2; writing++) {
        bool write = writing == 1;
        assert_int_equal(open_and_close(directory, write, true, "a directory"), -EINVAL);
        assert_int_equal(open_and_close("/dev/null", write, true, "a character device"), -EINVAL);
        assert_int_equal(open_and_close(fifo, write, true, "a fifo"), -EINVAL);
        assert_int_equal(open_and_close(link, write, true, "a fifo"), -EINVAL);
        if (has_socket)
            assert_int_equal(open_and_close(socket_path, write, true, "a socket"), -EINVAL);
    }
}

TEST(missing_file_is_enoent)
{
    assert_int_equal(open_and_close(rig_in("missing"), false, false, ""), -ENOENT);
}

TEST(size_is_rounded_down_and_never_zero)
{
    const char *path = rig_in("odd");
    struct target target = {0};
    struct stat status;
    fill_file(path, 0);
    assert_int_equal(open_and_close(path, false, false, "0 bytes"), -EINVAL);
    fill_file(path, 10000);
    assert_int_equal(rig_open_existing(&target, path, true, true, NULL), 0);
    assert_int_equal(target.size_bytes, 9728);
    target_close(&target);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 10000);
}

TEST(linked_file_is_not_overwritten)
{
    const char *path = rig_in("second");
    assert_int_equal(link(file_path, path), 0);
    assert_int_equal(open_and_close(file_path, true, true, "2 names"), -EMLINK);
    assert_int_equal(open_and_close(file_path, false, false, ""), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(open_and_close(file_path, true, true, ""), 0);
}

TEST(a_symbolic_link_is_read_and_served_but_not_overwritten)
{
    const char *path = rig_in("pointer");
    struct target target = {0};
    struct err err = {0};
    const struct target_existing served = {
        .path = path, .for_writing = true, .overwrite = true, .is_served = true};
    assert_int_equal(symlink(file_path, path), 0);
    assert_int_equal(open_and_close(path, true, true, "name the file itself"), -ELOOP);
    assert_int_equal(open_and_close(path, false, false, ""), 0);
    assert_int_equal(target_open_existing(&target, &served, &err), 0);
    target_close(&target);
    assert_int_equal(unlink(path), 0);
}

TEST(locked_file_is_not_overwritten)
{
    struct flock byte = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1}; /* as QEMU does */
    for (int whole = 0; whole < 2; whole++) {
        int fd = open(file_path, O_RDWR | O_CLOEXEC);
        assert_int_equal(whole ? flock(fd, LOCK_SH) : fcntl(fd, F_OFD_SETLK, &byte), 0);
        assert_int_equal(open_and_close(file_path, true, true, "locked"), -EBUSY);
        assert_int_equal(open_and_close(file_path, false, false, ""), 0);
        close(fd);
        assert_int_equal(open_and_close(file_path, true, true, ""), 0);
    }
}

TEST(own_lock_lasts_until_close)
{
    struct target target = {0};
    assert_int_equal(rig_open_existing(&target, file_path, true, true, NULL), 0);
    assert_int_equal(open_and_close(file_path, true, true, "locked"), -EBUSY);
    target_close(&target);
    assert_int_equal(open_and_close(file_path, true, true, ""), 0);
}

static bool map_file(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(file_path, O_RDONLY), 0) != MAP_FAILED;
}

TEST(mapped_file_is_not_overwritten)
{
    pid_t child = child_hold(map_file);
    int writing = open_and_close(file_path, true, true, "mapped");
    int reading = open_and_close(file_path, false, false, "");
    child_stop(child);
    assert_int_equal(writing, -EBUSY);
    assert_int_equal(reading, 0);
    assert_int_equal(open_and_close(file_path, true, true, ""), 0);
}

TEST(running_program_is_not_overwritten)
{
    const char *path = rig_in("program");
    char command[500], byte;
    int started[2];
    snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" '%s'", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(pipe2(started, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        execl(path, "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    close(started[1]);
    assert_int_equal(read(started[0], &byte, 1), 0); /* the child's end is closed by exec */
    close(started[0]);
    int code = open_and_close(path, true, true, "running program");
    child_stop(child);
    assert_int_equal(code, -ETXTBSY);
}

TEST(proving_changes_no_byte)
{
    AUTO(target_close) struct target target = {0};
    static unsigned char before[FILE_BYTES], after[FILE_BYTES];
    assert_int_equal(rig_open_existing(&target, file_path, true, true, NULL), 0);
    assert_int_equal(pread(target.fd, before, FILE_BYTES, 0), FILE_BYTES);
    assert_int_equal(target_prove_direct(&target, NULL), 0);
    assert_int_not_equal(target.direct_read, TARGET_DIRECT_UNTRIED);
    assert_int_not_equal(target.direct_write, TARGET_DIRECT_UNTRIED);
    assert_int_equal(pread(target.fd, after, FILE_BYTES, 0), FILE_BYTES);
    assert_memory_equal(before, after, FILE_BYTES);
}

TEST(reading_never_probes_a_write)
{
    AUTO(target_close) struct target target = {0};
    assert_int_equal(rig_open_existing(&target, file_path, false, false, NULL), 0);
    assert_int_equal(target_prove_direct(&target, NULL), 0);
    assert_int_not_equal(target.direct_read, TARGET_DIRECT_UNTRIED);
    assert_int_equal(target.direct_write, TARGET_DIRECT_UNTRIED);
}

FIXTURE(setup)
{
    snprintf(file_path, sizeof(file_path), "%s", rig_in("image"));
    fill_file(file_path, FILE_BYTES);
    return 0;
}

GROUP(setup, NULL);
