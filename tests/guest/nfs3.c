/* What a guest needs of mount.nfs, rpc.mountd and rpcbind for NFS 3. Static, for the guest has no libraries.
 *
 * usage: nfs3 register           answers the server that registers itself, in the background
 *        nfs3 handle EXPORT      prints the export's handle as hexadecimal digits, where
 *                                tests/guest/init_steps has filled the server's tables
 *        nfs3 mount SERVER HANDLE DIRECTORY [soft] */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nfs_mount.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define NFS_PORT     2049
#define RPCBIND_PORT 111
#define LAST_PART    0x80000000U

static int fail(const char *what)
{
    fprintf(stderr, "nfs3: %s: %s\n", what, strerror(errno));
    return 1;
}

static bool read_whole(int fd, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, (char *)to + done, size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* RFC 5531 over TCP: each call gets the same answer, accepted, successful and "true". */
static void answer(int fd)
{
    uint32_t mark, call[256];
    while (read_whole(fd, &mark, sizeof(mark))) {
        size_t size = ntohl(mark) & ~LAST_PART;
        if (size > sizeof(call) || size < sizeof(call[0]) || !read_whole(fd, call, size))
            break;
        uint32_t reply[] = {htonl(LAST_PART | 28), call[0], htonl(1), 0, 0, 0, 0, htonl(1)};
        if (write(fd, reply, sizeof(reply)) != sizeof(reply))
            break;
    }
    close(fd);
}

static int listen_for_server(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(RPCBIND_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 8) != 0)
        return fail("port 111");
    pid_t child = fork();
    if (child != 0)
        return child < 0 ? fail("fork") : 0;
    for (;;) {
        int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (one >= 0)
            answer(one);
    }
}

/* The server's file answers in hexadecimal digits, with \x in front. */
static int print_handle(const char *export)
{
    char text[4096];
    int fd = open("/proc/fs/nfsd/filehandle", O_RDWR | O_CLOEXEC);
    int n = snprintf(text, sizeof(text), "local %s %d\n", export, NFS3_FHSIZE);
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        return fail("the server gives no handle");
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 2)
        return fail("the handle is empty");
    text[got] = '\0';
    printf("%s", text + (strncmp(text, "\\x", 2) == 0 ? 2 : 0));
    return 0;
}

static bool read_handle(const char *digits, struct nfs3_fh *handle)
{
    unsigned byte;
    handle->size = 0;
    while (handle->size < NFS3_FHSIZE && sscanf(digits + 2 * handle->size, "%2x", &byte) == 1)
        handle->data[handle->size++] = (unsigned char)byte;
    return handle->size > 0;
}

static int mount_export(const char *server, const char *handle, const char *directory, bool soft)
{
    struct nfs_mount_data data = {.version = NFS_MOUNT_VERSION,
                                  .fd = -1,
                                  .flags = NFS_MOUNT_VER3 | NFS_MOUNT_TCP | NFS_MOUNT_NONLM,
                                  .timeo = 600,
                                  .retrans = 2,
                                  .acregmin = 3,
                                  .acregmax = 60,
                                  .acdirmin = 30,
                                  .acdirmax = 60,
                                  .addr = {.sin_family = AF_INET, .sin_port = htons(NFS_PORT)},
                                  .pseudoflavor = 1};
    char source[256];
    data.flags |= soft ? NFS_MOUNT_SOFT : 0;
    data.timeo = soft ? 50 : data.timeo; /* tenths of a second: nobody shall wait for minutes */
    snprintf(data.hostname, sizeof(data.hostname), "%s", server);
    snprintf(source, sizeof(source), "%s:/export", server);
    errno = EINVAL;
    if (inet_pton(AF_INET, server, &data.addr.sin_addr) != 1 || !read_handle(handle, &data.root))
        return fail("no address, or no handle");
    return mount(source, directory, "nfs", 0, &data) != 0 ? fail("mount") : 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "register") == 0)
        return listen_for_server();
    if (argc == 3 && strcmp(argv[1], "handle") == 0)
        return print_handle(argv[2]);
    if (argc >= 5 && strcmp(argv[1], "mount") == 0)
        return mount_export(argv[2], argv[3], argv[4], argc > 5);
    fprintf(stderr,
            "nfs3: usage: nfs3 register | nfs3 handle EXPORT | nfs3 mount SERVER HANDLE DIRECTORY [soft]\n");
    return 2;
}
