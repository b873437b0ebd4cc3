/* bench/profile/program: the head of an executable file. */
#include "bench/profile/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_BYTES   4096
#define MOST_SCRIPTS 4 /* interpreters that are scripts themselves */
#define OUR_CLASS    (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define USUAL_PATH   "/usr/local/bin:/usr/bin:/bin"

static int look_in(const char *directories, const char *name, char *path, size_t size)
{
    int code = -ENOENT;
    for (const char *at = directories; at != NULL;) {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, size, "%.*s/%s", length > 0 ? (int)length : 1, length > 0 ? at : ".", name);
        struct stat status;
        if (n > 0 && (size_t)n < size && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            code = -EACCES;
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return code;
}

int program_find_path(const char *name, char *path, size_t size, struct err *err)
{
    const char *directories = getenv("PATH");
    int code;
    if (strchr(name, '/') == NULL)
        code = look_in(directories != NULL ? directories : USUAL_PATH, name, path, size);
    else if ((size_t)snprintf(path, size, "%s", name) >= size)
        code = -ENAMETOOLONG;
    else
        code = access(path, X_OK) == 0 ? 0 : -errno;
    return code == 0 ? 0 : err_sys(err, code, "cannot run %.200s", name);
}

static ssize_t read_head(const char *path, char *head, struct stat *status)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = fstat(fd, status) == 0 ? pread(fd, head, HEAD_BYTES, 0) : -1;
    if (n < 0)
        n = -errno;
    close(fd);
    return n;
}

static bool runs_as_another(const char *path, const struct stat *status)
{
    bool changes_user = (status->st_mode & S_ISUID) != 0 && status->st_uid != getuid();
    bool changes_group = (status->st_mode & S_ISGID) != 0 && status->st_gid != getgid();
    bool has_capabilities = geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
    return changes_user || changes_group || has_capabilities;
}

/* Whether the program headers name a loader; those of usual programs stand in the first page. */
static bool has_loader(const char *head, size_t n)
{
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr part;
        size_t at = header.e_phoff + i * header.e_phentsize;
        if (header.e_phoff > n || at + sizeof part > n)
            break;
        memcpy(&part, head + at, sizeof part);
        if (part.p_type == PT_INTERP)
            return true;
    }
    return false;
}

bool program_runs_as_another(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && runs_as_another(path, &status);
}

static int check_elf(const char *path, const char *head, size_t n, const struct stat *status, struct err *err)
{
    if (runs_as_another(path, status))
        return err_set(
            err, -EINVAL,
            "%.200s runs with another user's rights (setuid, setgid or capabilities), and the system "
            "loads no library of yours into such a program; record it with --source trace",
            path);
    if (n < sizeof(Elf64_Ehdr) || head[EI_CLASS] != OUR_CLASS)
        return err_set(err, -EINVAL,
                       "%.200s is made for another kind of machine than fstune; use an fstune of that kind",
                       path);
    if (OUR_CLASS == ELFCLASS64 && !has_loader(head, n))
        return err_set(err, -EINVAL,
                       "%.200s is linked statically, and no library can be loaded into it; record it with "
                       "--source trace",
                       path);
    return 0;
}

static bool next_interpreter(char *head, char *path, size_t size)
{
    char *at = head + 2;
    at += strspn(at, " \t");
    size_t length = strcspn(at, " \t\r\n");
    if (length == 0 || length >= size)
        return false;
    memcpy(path, at, length);
    path[length] = '\0';
    return true;
}

int program_find(const char *name, char *path, size_t size, struct err *err)
{
    char head[HEAD_BYTES + 1], program[4096];
    int code = program_find_path(name, path, size, err);
    if (code < 0)
        return code;
    snprintf(program, sizeof program, "%s", path);
    for (int i = 0; i < MOST_SCRIPTS; i++) {
        struct stat status;
        ssize_t n = read_head(program, head, &status);
        /* What may be run but not read is left to the system. */
        if (n < 0)
            return 0;
        head[n] = '\0';
        if (n >= 4 && memcmp(head, ELFMAG, SELFMAG) == 0)
            return check_elf(program, head, (size_t)n, &status, err);
        if (memcmp(head, "#!", 2) != 0 || !next_interpreter(head, program, sizeof program))
            return 0;
    }
    return 0;
}
