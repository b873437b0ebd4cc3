/* Round trips over the loopback interface, by TCP and by UDP. */
#include "bench/atoms/atoms_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct link {
    struct atom_shared *shared;
    int ours, theirs;
    pid_t pid;
};

static void close_link(void *state)
{
    struct link *link = state;
    atom_end_partner(link->pid);
    if (link->ours >= 0)
        close(link->ours);
    if (link->theirs >= 0)
        close(link->theirs);
    free(link);
}

static void answer_messages(void *context)
{
    struct link *link = context;
    char byte;
    close(link->ours);
    (void)atom_pin(0);
    while (recv(link->theirs, &byte, 1, 0) == 1) {
        atom_delay(link->shared);
        if (send(link->theirs, &byte, 1, MSG_NOSIGNAL) != 1)
            return;
    }
}

static int bind_loopback(int fd, struct sockaddr_in *ret_address)
{
    socklen_t size = sizeof *ret_address;
    *ret_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    if (fd < 0 || bind(fd, (struct sockaddr *)ret_address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)ret_address, &size) != 0)
        return -EOPNOTSUPP;
    return 0;
}

static int connect_to(int fd, const struct sockaddr_in *address)
{
    return connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : -EOPNOTSUPP;
}

static int join_by_udp(struct link *link)
{
    struct sockaddr_in ours, theirs;
    link->ours = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    link->theirs = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = bind_loopback(link->ours, &ours);
    if (result == 0)
        result = bind_loopback(link->theirs, &theirs);
    if (result == 0)
        result = connect_to(link->ours, &theirs);
    return result == 0 ? connect_to(link->theirs, &ours) : result;
}

static int join_by_tcp(struct link *link)
{
    static const int on = 1;
    struct sockaddr_in address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    link->ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = bind_loopback(listener, &address);
    if (result == 0 && (link->ours < 0 || listen(listener, 1) != 0))
        result = -EOPNOTSUPP;
    if (result == 0)
        result = connect_to(link->ours, &address);
    if (result == 0)
        link->theirs = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (listener >= 0)
        close(listener);
    if (result < 0 || link->theirs < 0)
        return -EOPNOTSUPP;
    (void)setsockopt(link->ours, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(link->theirs, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return 0;
}

static int open_link(struct atom_shared *shared, int (*join)(struct link *link), void **ret_state)
{
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return -ENOMEM;
    *link = (struct link){.shared = shared, .ours = -1, .theirs = -1};
    int result = join(link);
    if (result == 0)
        result = atom_start_partner(answer_messages, link, &link->pid);
    if (result < 0)
        close_link(link);
    else
        *ret_state = link;
    return result;
}

static int open_tcp(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    return open_link(shared, join_by_tcp, ret_state);
}

static int open_udp(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    return open_link(shared, join_by_udp, ret_state);
}

static int run_messages(void *state, uint64_t n)
{
    const struct link *link = state;
    char byte = 0;
    int result = atom_pin(0);
    for (uint64_t i = 0; i < n && result == 0; i++) {
        if (send(link->ours, &byte, 1, MSG_NOSIGNAL) != 1 || recv(link->ours, &byte, 1, 0) != 1)
            result = -EPIPE;
    }
    atom_unpin();
    return result;
}

ATOM(tcp, "tcp", "one message to another process and back, by TCP", open_tcp, run_messages, close_link,
     .delays_each = 1);

ATOM(udp, "udp", "one message to another process and back, by UDP", open_udp, run_messages, close_link,
     .delays_each = 1);
