/* tuner/emit/analyse_cpu: samples of the processor, by program, and as a histogram that gprof reads.
 *
 * gmon.out holds a head, then histograms: a range of addresses as the linker gave them, the samples a second,
 * and a count of 16 bits for each bin. More samples than a count holds stand in a second histogram of the
 * same range, which gprof adds to the first. */
#include "tuner/emit/analyse.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BIN_BYTES   4
#define MOST_PARTS  64
#define MOST_BINS   (64U << 20) /* a program of 256 MiB */
#define MOST_COUNT  UINT16_MAX
#define MOST_FILES  512
#define SHOWN_FILES 5
#define NS_PER_S    1000000000ULL

struct cpu_file {
    uint64_t object, n;
    char path[SETTINGS_TEXT_SIZE];
};

struct cpu_files {
    struct cpu_file *files;
    size_t n_files;
    uint64_t n, n_outside;
};

static int add_samples(void *data, const struct events_row *row, struct err *err)
{
    struct cpu_files *all = data;
    size_t i = 0;
    (void)err;
    if (row->kind != EVENTS_CPU)
        return 0;
    all->n += row->n;
    while (i < all->n_files && all->files[i].object != row->object)
        i++;
    if (row->object == 0 || i == MOST_FILES) {
        all->n_outside += row->n;
        return 0;
    }
    all->n_files += i == all->n_files;
    all->files[i].object = row->object;
    all->files[i].n += row->n;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    uint64_t left = ((const struct cpu_file *)a)->n, right = ((const struct cpu_file *)b)->n;
    return (left < right) - (left > right);
}

/* The caller frees all->files. */
static int find_files(struct cpu_files *all, struct events *events, const struct events_run *run,
                      struct err *err)
{
    *all = (struct cpu_files){.files = calloc(MOST_FILES, sizeof *all->files)};
    if (all->files == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int code = events_each(events, run->id, add_samples, all, err);
    for (size_t i = 0; code == 0 && i < all->n_files; i++)
        code = events_name_of(events, run->id, all->files[i].object, all->files[i].path,
                              sizeof all->files[i].path, err);
    qsort(all->files, all->n_files, sizeof *all->files, most_first);
    return code;
}

int analyse_print_cpu(FILE *out, struct events *events, const struct events_run *run, struct err *err)
{
    struct cpu_files all;
    int code = find_files(&all, events, run, err);
    double unit_s = (double)run->sample_ns / NS_PER_S;
    if (code == 0 && all.n > 0)
        fprintf(out, "\nProcessor  %.3g s outside the kernel (%" PRIu64 " samples)\n", (double)all.n * unit_s,
                all.n);
    for (size_t i = 0; code == 0 && i < all.n_files && i < SHOWN_FILES; i++)
        fprintf(out, "  %5.1f %%  %s\n", 100 * (double)all.files[i].n / (double)all.n, all.files[i].path);
    free(all.files);
    return code;
}

/* Where parts of the file stand in memory, as the linker saw it. */
struct program {
    struct {
        uint64_t offset, n_bytes, address;
    } parts[MOST_PARTS];
    size_t n_parts;
    uint64_t low, high; /* addresses of what is executed */
};

static int read_parts(FILE *in, struct program *program)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof part ||
        fseek(in, (long)head.e_phoff, SEEK_SET) != 0)
        return -EINVAL;
    *program = (struct program){.low = UINT64_MAX};
    for (size_t i = 0; i < head.e_phnum && program->n_parts < MOST_PARTS; i++) {
        if (fread(&part, sizeof part, 1, in) != 1)
            return -EINVAL;
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0)
            continue;
        if (part.p_filesz > UINT64_MAX - part.p_vaddr)
            return -EINVAL;
        program->parts[program->n_parts].offset = part.p_offset;
        program->parts[program->n_parts].n_bytes = part.p_filesz;
        program->parts[program->n_parts++].address = part.p_vaddr;
        program->low = part.p_vaddr < program->low ? part.p_vaddr : program->low;
        program->high =
            part.p_vaddr + part.p_filesz > program->high ? part.p_vaddr + part.p_filesz : program->high;
    }
    bool is_sound = program->n_parts > 0 && program->high > program->low &&
                    (program->high - program->low) / BIN_BYTES < MOST_BINS;
    return is_sound ? 0 : -EINVAL;
}

static int read_program(const char *path, struct program *program, struct err *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "%.200s is no file", path);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return err_sys(err, -errno, "%.200s", path);
    int code = read_parts(in, program);
    fclose(in);
    return code < 0 ? err_set(err, code, "%.200s is no program of 64 bits", path) : 0;
}

struct cpu_histogram {
    struct program program;
    uint64_t object;
    uint64_t *bins;
    uint32_t n_bins;
    uint64_t most;
};

static int count_sample(void *data, const struct events_row *row, struct err *err)
{
    struct cpu_histogram *histogram = data;
    const struct program *program = &histogram->program;
    (void)err;
    if (row->kind != EVENTS_CPU || row->object != histogram->object)
        return 0;
    for (size_t i = 0; i < program->n_parts; i++) {
        uint64_t within = row->offset_bytes - program->parts[i].offset;
        if (row->offset_bytes < program->parts[i].offset || within >= program->parts[i].n_bytes)
            continue;
        uint64_t *bin = &histogram->bins[(program->parts[i].address + within - program->low) / BIN_BYTES];
        *bin += row->n;
        histogram->most = *bin > histogram->most ? *bin : histogram->most;
    }
    return 0;
}

static void print_histogram(FILE *out, const struct cpu_histogram *histogram, uint64_t per_second,
                            uint64_t taken)
{
    char dimension[15] = "seconds";
    uint64_t low = histogram->program.low, high = low + (uint64_t)histogram->n_bins * BIN_BYTES;
    uint32_t head[] = {histogram->n_bins, (uint32_t)per_second};
    fputc(0, out);
    fwrite(&low, sizeof low, 1, out);
    fwrite(&high, sizeof high, 1, out);
    fwrite(head, sizeof head, 1, out);
    fwrite(dimension, sizeof dimension, 1, out);
    fputc('s', out);
    for (uint32_t i = 0; i < histogram->n_bins; i++) {
        uint64_t left = histogram->bins[i] > taken ? histogram->bins[i] - taken : 0;
        uint16_t count = left < MOST_COUNT ? (uint16_t)left : MOST_COUNT;
        fwrite(&count, sizeof count, 1, out);
    }
}

static int print_object(FILE *out, struct events *events, const struct events_run *run, const char *path,
                        struct cpu_histogram *histogram, struct err *err)
{
    static const char head[20] = {'g', 'm', 'o', 'n', 1};
    int code = read_program(path, &histogram->program, err);
    if (code < 0)
        return code;
    histogram->n_bins =
        (uint32_t)((histogram->program.high - histogram->program.low + BIN_BYTES - 1) / BIN_BYTES);
    histogram->bins = calloc(histogram->n_bins, sizeof *histogram->bins);
    if (histogram->bins == NULL)
        return err_set(err, -ENOMEM, "no memory");
    code = events_each(events, run->id, count_sample, histogram, err);
    if (code == 0 && histogram->most == 0)
        code = err_set(err, -ENODATA, "no sample lies in %.200s as it is now", path);
    if (code < 0)
        return code;
    fwrite(head, sizeof head, 1, out);
    for (uint64_t taken = 0; taken < histogram->most; taken += MOST_COUNT)
        print_histogram(out, histogram, NS_PER_S / run->sample_ns, taken);
    return 0;
}

int analyse_print_gmon(FILE *out, struct events *events, const struct events_run *run,
                       char path[SETTINGS_TEXT_SIZE], struct err *err)
{
    struct cpu_files all;
    struct cpu_histogram histogram = {0};
    int code = find_files(&all, events, run, err);
    for (size_t i = 0; i < all.n_files && histogram.object == 0; i++) {
        /* What the kernel gives to programs, as [vdso], is no file. */
        if (path[0] == '\0' ? all.files[i].path[0] == '/' : strcmp(all.files[i].path, path) == 0) {
            histogram.object = all.files[i].object;
            snprintf(path, SETTINGS_TEXT_SIZE, "%s", all.files[i].path);
        }
    }
    if (code == 0 && (run->sample_ns == 0 || all.n_files == 0))
        code = err_set(err, -ENODATA, "the recording has no samples of the processor");
    else if (code == 0 && histogram.object == 0)
        code = err_set(err, -ENODATA, "no sample lies in %.200s", path);
    if (code == 0)
        code = print_object(out, events, run, path, &histogram, err);
    free(histogram.bins);
    free(all.files);
    return code;
}
