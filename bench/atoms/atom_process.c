/* New processes and programs. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_none(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    *ret_state = shared;
    return 0;
}

static void close_none(void *state)
{
    (void)state;
}

static int await_child(pid_t pid)
{
    int status;
    if (pid < 0)
        return -errno;
    while (waitpid(pid, &status, 0) != pid) {
        if (errno != EINTR)
            return -errno;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

static int run_forks(void *state, uint64_t n)
{
    (void)state;
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        result = await_child(pid);
    }
    return result;
}

ATOM(fork, "fork", "one process that ends at once", open_none, run_forks, close_none,
     ATOM_DELAYS_CALLS(SYS_clone));

#ifdef __x86_64__
/* mov edi, 0; mov eax, SYS_exit; syscall: a program whose start is all that it costs. */
static const unsigned char least_code[] = {0x31, 0xff, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05};

#define LEAST_ADDRESS 0x400000

static int write_least_program(int fd)
{
    unsigned char image[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof least_code];
    const size_t code_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = LEAST_ADDRESS + code_at,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1};
    const Elf64_Phdr part = {.p_type = PT_LOAD,
                             .p_flags = PF_R | PF_X,
                             .p_vaddr = LEAST_ADDRESS,
                             .p_paddr = LEAST_ADDRESS,
                             .p_filesz = sizeof image,
                             .p_memsz = sizeof image,
                             .p_align = 0x1000};
    memcpy(image, &head, sizeof head);
    memcpy(image + sizeof head, &part, sizeof part);
    memcpy(image + code_at, least_code, sizeof least_code);
    return write(fd, image, sizeof image) == (ssize_t)sizeof image ? 0 : -EIO;
}
#else
static int write_least_program(int fd)
{
    (void)fd;
    return -EOPNOTSUPP;
}
#endif

struct program {
    int fd; /* not open for writing, or it could not be run */
};

static int open_program(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    char path[32];
    (void)place;
    (void)shared;
    struct program *program = calloc(1, sizeof *program);
    int fd = memfd_create("fstune", 0), result = fd < 0 ? -errno : 0;
    if (program == NULL)
        result = -ENOMEM;
    if (result == 0)
        result = write_least_program(fd);
    if (result == 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        program->fd = open(path, O_RDONLY | O_CLOEXEC);
        result = program->fd < 0 ? -errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (result < 0)
        free(program);
    else
        *ret_state = program;
    return result;
}

static int run_programs(void *state, uint64_t n)
{
    const struct program *program = state;
    static char *const words[] = {NULL}, *const none[] = {NULL};
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)syscall(SYS_execveat, program->fd, "", words, none, AT_EMPTY_PATH);
            _exit(1);
        }
        result = await_child(pid);
    }
    return result;
}

static void close_program(void *state)
{
    struct program *program = state;
    close(program->fd);
    free(program);
}

ATOM(exec, "exec", "one start of a least program in a new process", open_program, run_programs, close_program,
     ATOM_DELAYS_CALLS(SYS_execveat), .base = run_forks);
