/* Tests of bench/profile/wire: addresses, programs and sockets. */
#include "bench/profile/wire.h"
#include "tests/folder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err err;
static struct wire_address address;

GROUP(enter_folder, remove_folder);

TEST(addresses_that_are_none_are_refused)
{
    static const char *const bad[] = {"", "here", ":", "host:", ":7000", "unix:", "[::1]"};
    for (size_t i = 0; i < N_OF(bad); i++) {
        assert_int_equal(wire_resolve(bad[i], &address, &err), -EINVAL);
        assert_non_null(strstr(err.text, bad[i][0] == 'u' ? "characters" : "unix:PATH or HOST:PORT"));
    }
    assert_int_equal(wire_resolve("127.0.0.1:7000", &address, &err), 0);
    assert_int_equal(address.address.ss_family, AF_INET);
    assert_int_equal(wire_resolve("[::1]:7000", &address, &err), 0);
    assert_int_equal(address.address.ss_family, AF_INET6);
}

static ssize_t receive(const struct wire *link, char *text, size_t size)
{
    struct pollfd news = {.fd = link->in_fd, .events = POLLIN};
    poll(&news, 1, 10000);
    return wire_receive(link, text, size);
}

TEST(a_program_is_at_the_other_end_of_its_pipes)
{
    static const char *const argv[] = {"cat", NULL};
    struct wire link;
    pid_t pid;
    char text[16] = "";
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(wire_start(argv, &link, &pid, &err), 0);
    assert_int_equal(wire_receive(&link, text, sizeof text), 0);
    assert_int_equal(wire_send(&link, "hello", 5), 5);
    assert_int_equal(receive(&link, text, sizeof text), 5);
    assert_string_equal(text, "hello");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(receive(&link, text, sizeof text), -EPIPE);
    assert_int_equal(wire_send(&link, "hello", 5), -EPIPE);
    wire_close(&link);
}

/* A pipe that nobody reads is full some time, and says so at once. */
TEST(a_full_pipe_takes_nothing)
{
    static const char *const argv[] = {"sleep", "60", NULL};
    struct wire link;
    pid_t pid;
    static char bytes[65536];
    ssize_t n = 1;
    assert_int_equal(wire_start(argv, &link, &pid, &err), 0);
    for (int i = 0; i < 1000 && n > 0; i++)
        n = wire_send(&link, bytes, sizeof bytes);
    assert_int_equal(n, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    wire_close(&link);
}

TEST(a_program_that_is_not_there_is_told)
{
    static const char *const argv[] = {"/no/such/program", NULL};
    struct wire link;
    pid_t pid;
    assert_int_equal(wire_start(argv, &link, &pid, &err), -ENOENT);
}

TEST(sockets_call_and_answer)
{
    struct wire there, here;
    char text[16] = "";
    int fd;
    assert_int_equal(wire_resolve("unix:socket", &address, &err), 0);
    assert_true(wire_call(&address, &there) < 0);
    assert_int_equal(wire_listen(&address, &fd, &err), 0);
    assert_int_equal(wire_accept(fd, &here), -EAGAIN);
    assert_int_equal(wire_call(&address, &there), 0);
    assert_int_equal(wire_accept(fd, &here), 0);
    assert_int_equal(wire_send(&there, "hello", 5), 5);
    assert_int_equal(receive(&here, text, sizeof text), 5);
    wire_close(&there);
    assert_int_equal(receive(&here, text, sizeof text), -EPIPE);
    wire_close(&here);
    wire_end_listening(&address, fd);
    assert_int_equal(access("socket", F_OK), -1);
}

TEST(a_file_that_is_no_socket_stays_and_so_does_what_leads_to_it)
{
    int fd;
    FILE *file = fopen("file", "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(symlink("file", "pointer"), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wire_resolve(i == 0 ? "unix:file" : "unix:pointer", &address, &err), 0);
        assert_int_equal(wire_listen(&address, &fd, &err), -EADDRINUSE);
    }
    assert_int_equal(access("pointer", F_OK), 0);
    assert_int_equal(unlink("pointer"), 0);
    assert_int_equal(unlink("file"), 0);
}

TEST(a_socket_that_a_killed_one_left_is_replaced)
{
    int fd, other;
    assert_int_equal(wire_resolve("unix:left", &address, &err), 0);
    assert_int_equal(wire_listen(&address, &fd, &err), 0);
    assert_int_equal(wire_listen(&address, &other, &err), -EADDRINUSE);
    close(fd);
    assert_int_equal(wire_listen(&address, &fd, &err), 0);
    wire_end_listening(&address, fd);
}
