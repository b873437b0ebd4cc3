/* bench/profile/shared_memory: a memfd. */
#include "bench/profile/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int shared_memory_open(struct shared_memory *shared, size_t size, struct err *err)
{
    int fd = memfd_create("fstune-profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_sys(err, -errno, "cannot make memory to share with the program");
    void *memory = MAP_FAILED;
    /* Whoever maps it cannot take it from under the others. */
    if (ftruncate(fd, (off_t)size) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        int code = -errno;
        close(fd);
        return err_sys(err, code, "cannot map %zu bytes to share with the program", size);
    }
    *shared = (struct shared_memory){.memory = memory, .size = size, .fd = fd};
    snprintf(shared->path, sizeof shared->path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return 0;
}

void shared_memory_close(struct shared_memory *shared)
{
    if (shared->memory == NULL)
        return;
    munmap(shared->memory, shared->size);
    close(shared->fd);
    *shared = (struct shared_memory){0};
}
