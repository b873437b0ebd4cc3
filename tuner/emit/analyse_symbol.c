/* tuner/emit/analyse_symbol: looks through a file's table of symbols; nothing in it is trusted. */
#include "tuner/emit/analyse_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs of the machine word that fstune has itself. */
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

struct image {
    const char *bytes;
    size_t n;
};

/* NULL where the file ends before. */
static const void *part(const struct image *image, uint64_t at, uint64_t n)
{
    return at <= image->n && n <= image->n - at ? image->bytes + at : NULL;
}

/* What it holds is copied: it may stand anywhere in the file. */
static bool read_section(const struct image *image, const ElfW(Ehdr) * head, uint64_t i, ElfW(Shdr) * ret)
{
    const void *at = i < head->e_shnum ? part(image, head->e_shoff + i * sizeof *ret, sizeof *ret) : NULL;
    if (at != NULL)
        memcpy(ret, at, sizeof *ret);
    return at != NULL;
}

static bool is_ours(const struct image *image, ElfW(Ehdr) * ret_head)
{
    const void *at = part(image, 0, sizeof *ret_head);
    if (at == NULL)
        return false;
    memcpy(ret_head, at, sizeof *ret_head);
    return memcmp(ret_head->e_ident, ELFMAG, SELFMAG) == 0 && ret_head->e_ident[EI_CLASS] == OWN_CLASS &&
           ret_head->e_shentsize == sizeof(ElfW(Shdr));
}

static bool copy_name(const struct image *image, const ElfW(Shdr) * names, uint32_t at, char *ret_name,
                      size_t size)
{
    const char *text = part(image, names->sh_offset, names->sh_size);
    if (text == NULL || at >= names->sh_size || memchr(text + at, '\0', names->sh_size - at) == NULL ||
        text[at] == '\0')
        return false;
    size_t length = strnlen(text + at, size - 1);
    memcpy(ret_name, text + at, length);
    ret_name[length] = '\0';
    return true;
}

static bool find_in(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                    uint64_t address, char *ret_name, size_t size)
{
    const char *symbols = part(image, table->sh_offset, table->sh_size);
    for (uint64_t i = 0; symbols != NULL && i < table->sh_size / sizeof(ElfW(Sym)); i++) {
        ElfW(Sym) symbol;
        memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
        bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
        if (is_function && address >= symbol.st_value && address - symbol.st_value < symbol.st_size &&
            copy_name(image, names, symbol.st_name, ret_name, size))
            return true;
    }
    return false;
}

/* The whole table, where it was not stripped, has more than what is shown to other programs. */
static bool find(const struct image *image, uint64_t address, char *ret_name, size_t size)
{
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    ElfW(Ehdr) head;
    ElfW(Shdr) table, names;
    if (!is_ours(image, &head))
        return false;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        for (uint64_t i = 0; read_section(image, &head, i, &table); i++) {
            if (table.sh_type == kinds[kind] && read_section(image, &head, table.sh_link, &names) &&
                find_in(image, &table, &names, address, ret_name, size))
                return true;
        }
    }
    return false;
}

/* Where a place of the file stands in memory, as the linker saw it. */
static bool find_address(const struct image *image, uint64_t offset, uint64_t *ret_address)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) loaded;
    if (!is_ours(image, &head))
        return false;
    for (uint64_t i = 0; i < head.e_phnum; i++) {
        const void *at = part(image, head.e_phoff + i * sizeof loaded, sizeof loaded);
        if (at == NULL)
            return false;
        memcpy(&loaded, at, sizeof loaded);
        if (loaded.p_type != PT_LOAD || offset < loaded.p_offset ||
            offset - loaded.p_offset >= loaded.p_filesz)
            continue;
        *ret_address = loaded.p_vaddr + offset - loaded.p_offset;
        return true;
    }
    return false;
}

static bool look_up(const char *path, bool is_offset, uint64_t at, char *ret_name, size_t size)
{
    struct stat status;
    bool is_found = false;
    int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        struct image image = {.n = (size_t)status.st_size};
        void *bytes = mmap(NULL, image.n, PROT_READ, MAP_PRIVATE, fd, 0);
        image.bytes = bytes;
        is_found = bytes != MAP_FAILED && (!is_offset || find_address(&image, at, &at)) &&
                   find(&image, at, ret_name, size);
        if (bytes != MAP_FAILED)
            munmap(bytes, image.n);
    }
    close(fd);
    return is_found;
}

bool analyse_symbol(const char *path, uint64_t address, char *ret_name, size_t size)
{
    return look_up(path, false, address, ret_name, size);
}

bool analyse_symbol_at(const char *path, uint64_t offset_bytes, char *ret_name, size_t size)
{
    return look_up(path, true, offset_bytes, ret_name, size);
}
