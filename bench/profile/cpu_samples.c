/* bench/profile/cpu_samples: an event for each processor, inherited by what we start, and its records. */
#include "bench/profile/cpu_samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_CPUS    1024
#define RING_PAGES   32 /* a power of two */
#define MOST_FILES   512
#define MOST_MAPS    16384
#define MOST_WAITING 65536
#define N_PLACES     65536 /* a power of two */
#define N_PROBES     16
#define PATH_SIZE    256
#define RECORD_BYTES 65536

struct map {
    uint32_t process, file;
    uint64_t begin, end, offset;
};

struct place {
    uint64_t offset, n;
    uint32_t file; /* one more than its number; 0: free */
};

struct sample {
    uint64_t address;
    uint32_t process, thread;
};

struct cpu_ring {
    int fd;
    struct perf_event_mmap_page *page;
};

struct cpu_samples {
    struct cpu_ring rings[MOST_CPUS];
    size_t n_rings, ring_bytes;
    char files[MOST_FILES][PATH_SIZE];
    struct map maps[MOST_MAPS];
    struct sample waiting[MOST_WAITING]; /* until the maps of all processors have been seen */
    struct place places[N_PLACES];
    size_t n_files, n_maps, n_waiting;
    uint64_t n_outside, n_lost;
    _Alignas(8) char record[RECORD_BYTES];
};

/* The records of the kernel behind their heads. */
struct map_record {
    uint32_t process, thread;
    uint64_t begin, n_bytes, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[];
};

struct fork_record {
    uint32_t process, parent;
};

static int open_ring(struct cpu_samples *samples, int cpu, uint64_t interval_ns)
{
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof event,
                                    .config = PERF_COUNT_SW_CPU_CLOCK,
                                    .sample_period = interval_ns,
                                    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                    .disabled = 1,
                                    .inherit = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .enable_on_exec = 1,
                                    .mmap = 1,
                                    .mmap2 = 1,
                                    .task = 1};
    int fd = (int)syscall(SYS_perf_event_open, &event, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    void *page = mmap(NULL, samples->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        int code = -errno;
        close(fd);
        return code;
    }
    samples->rings[samples->n_rings++] = (struct cpu_ring){.fd = fd, .page = page};
    return 0;
}

int cpu_samples_open(struct cpu_samples **ret_samples, uint64_t interval_ns, struct err *err)
{
    struct cpu_samples *samples = calloc(1, sizeof *samples);
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    int code = 0;
    if (samples == NULL)
        return err_set(err, -ENOMEM, "no memory for samples of the processor");
    samples->ring_bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
    for (int cpu = 0; cpu < n_cpus && cpu < MOST_CPUS && code == 0; cpu++) {
        code = open_ring(samples, cpu, interval_ns);
        /* One that is switched off. */
        code = code == -ENODEV ? 0 : code;
    }
    if (code < 0) {
        cpu_samples_close(samples);
        return code == -EACCES || code == -EPERM
                   ? err_set(err, -EACCES,
                             "the processor's time needs root, or kernel.perf_event_paranoid of at most 2")
                   : err_sys(err, code, "this kernel samples no processor's time");
    }
    *ret_samples = samples;
    return 0;
}

/* Its number; MOST_FILES where there is no more room. */
static size_t find_file(struct cpu_samples *samples, const char *path)
{
    size_t i = 0;
    while (i < samples->n_files && strncmp(samples->files[i], path, PATH_SIZE - 1) != 0)
        i++;
    if (i == samples->n_files && i < MOST_FILES) {
        snprintf(samples->files[i], PATH_SIZE, "%s", path);
        samples->n_files++;
    }
    return i;
}

static void add_map(struct cpu_samples *samples, const struct map *map)
{
    if (samples->n_maps < MOST_MAPS)
        samples->maps[samples->n_maps++] = *map;
}

static void take_map(struct cpu_samples *samples, const struct map_record *record)
{
    size_t file = find_file(samples, record->path);
    if (file < MOST_FILES)
        add_map(samples, &(struct map){.process = record->process,
                                       .file = (uint32_t)file,
                                       .begin = record->begin,
                                       .end = record->begin + record->n_bytes,
                                       .offset = record->offset});
}

static void take_fork(struct cpu_samples *samples, const struct fork_record *record)
{
    const size_t n = samples->n_maps;
    for (size_t i = 0; i < n && record->process != record->parent; i++) {
        struct map map = samples->maps[i];
        if (map.process != record->parent)
            continue;
        map.process = record->process;
        add_map(samples, &map);
    }
}

static void take_record(struct cpu_samples *samples, const struct perf_event_header *header)
{
    const void *body = header + 1;
    if (header->type == PERF_RECORD_MMAP2)
        take_map(samples, body);
    else if (header->type == PERF_RECORD_FORK)
        take_fork(samples, body);
    else if (header->type == PERF_RECORD_LOST)
        samples->n_lost += ((const uint64_t *)body)[1];
    else if (header->type == PERF_RECORD_SAMPLE && samples->n_waiting < MOST_WAITING)
        memcpy(&samples->waiting[samples->n_waiting++], body, sizeof(struct sample));
    else if (header->type == PERF_RECORD_SAMPLE)
        samples->n_lost++;
}

/* What reaches over the end of the ring goes on at its beginning. */
static void copy_out(char *to, const struct cpu_ring *ring, uint64_t at, size_t n)
{
    const char *data = (const char *)ring->page + ring->page->data_offset;
    size_t size = ring->page->data_size, begin = at % size, first = size - begin < n ? size - begin : n;
    memcpy(to, data + begin, first);
    memcpy(to + first, data, n - first);
}

static void read_ring(struct cpu_samples *samples, const struct cpu_ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = ring->page->data_tail;
    struct perf_event_header header;
    while (at + sizeof header <= head) {
        copy_out((char *)&header, ring, at, sizeof header);
        if (header.size < sizeof header)
            break;
        copy_out(samples->record, ring, at, header.size);
        take_record(samples, (const struct perf_event_header *)samples->record);
        at += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

static void count(struct cpu_samples *samples, uint32_t file, uint64_t offset)
{
    uint64_t hash = (offset ^ (uint64_t)file << 48) * 0x9e3779b97f4a7c15ULL >> 32;
    for (uint64_t i = 0; i < N_PROBES; i++) {
        struct place *place = &samples->places[(hash + i) & (N_PLACES - 1)];
        if (place->file == 0)
            *place = (struct place){.offset = offset, .file = file + 1};
        if (place->file == file + 1 && place->offset == offset) {
            place->n++;
            return;
        }
    }
    samples->n_outside++;
}

/* The newest map is the right one: a program may have been replaced by another. */
static void place_sample(struct cpu_samples *samples, const struct sample *sample)
{
    for (size_t i = samples->n_maps; i-- > 0;) {
        const struct map *map = &samples->maps[i];
        if (map->process == sample->process && map->begin <= sample->address && sample->address < map->end) {
            count(samples, map->file, sample->address - map->begin + map->offset);
            return;
        }
    }
    samples->n_outside++;
}

void cpu_samples_poll(struct cpu_samples *samples)
{
    for (size_t i = 0; i < samples->n_rings; i++)
        read_ring(samples, &samples->rings[i]);
    for (size_t i = 0; i < samples->n_waiting; i++)
        place_sample(samples, &samples->waiting[i]);
    samples->n_waiting = 0;
}

void cpu_samples_each(const struct cpu_samples *samples,
                      void (*take)(void *data, const char *path, uint64_t offset_bytes, uint64_t n),
                      void *data)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        const struct place *place = &samples->places[i];
        if (place->file != 0)
            take(data, samples->files[place->file - 1], place->offset, place->n);
    }
    if (samples->n_outside > 0)
        take(data, NULL, 0, samples->n_outside);
}

uint64_t cpu_samples_lost(const struct cpu_samples *samples)
{
    return samples->n_lost;
}

void cpu_samples_close(struct cpu_samples *samples)
{
    if (samples == NULL)
        return;
    for (size_t i = 0; i < samples->n_rings; i++) {
        munmap(samples->rings[i].page, samples->ring_bytes);
        close(samples->rings[i].fd);
    }
    free(samples);
}
