/* bench/collector/modules: a table of fixed size, which is filled once. */
#include "bench/collector/modules.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_MODULES 128

static struct module modules[MOST_MODULES];
static size_t n_modules;

/* FNV-1a. */
static uint64_t number_of(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; path[i] != '\0'; i++)
        hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3ULL;
    return hash + (hash == 0);
}

/* The program's own name is not among those of its libraries. */
static bool find_path(const char *name, char path[MODULES_PATH_SIZE])
{
    size_t length = strlen(name);
    if (length >= MODULES_PATH_SIZE)
        return false;
    memcpy(path, name, length + 1);
    if (length > 0)
        return true;
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, (size_t)MODULES_PATH_SIZE);
    if (n <= 0 || n >= MODULES_PATH_SIZE)
        return false;
    path[n] = '\0';
    return true;
}

static int take(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (unsigned i = 0; i < info->dlpi_phnum && n_modules < MOST_MODULES; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        struct module *module = &modules[n_modules];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 ||
            !find_path(info->dlpi_name, module->path))
            continue;
        module->begin = info->dlpi_addr + segment->p_vaddr;
        module->end = module->begin + segment->p_memsz;
        module->offset_bytes = segment->p_offset;
        module->file = number_of(module->path);
        n_modules++;
    }
    return 0;
}

void modules_look(void)
{
    n_modules = 0;
    dl_iterate_phdr(take, NULL);
}

const struct module *modules_find(uint64_t address, uint64_t *ret_offset_bytes)
{
    for (size_t i = 0; i < n_modules; i++) {
        const struct module *module = &modules[i];
        if (address < module->begin || address >= module->end)
            continue;
        *ret_offset_bytes = address - module->begin + module->offset_bytes;
        return module;
    }
    return NULL;
}
