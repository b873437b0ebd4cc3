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
#define RING_PAGES   64 /* a power of two */
#define MOST_FILES   512
#define MOST_MAPS    16384
#define MOST_WAITING 8192
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
    uint32_t file;   /* one more than its number; 0: free */
    uint32_t caller; /* one more than its number; 0: none */
    bool calls, is_told;
};

/* addresses: the sample's own, then those to which the calls return. */
struct sample {
    uint32_t process, n;
    uint64_t addresses[CPU_SAMPLES_CALLERS + 1];
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
    bool has_chains, is_paused;
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

struct sample_record {
    uint64_t address;
    uint32_t process, thread;
    uint64_t n_addresses, addresses[]; /* where there are chains; marks of the kernel among them */
};

static int open_event(const struct cpu_samples *samples, int cpu, uint64_t interval_ns)
{
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof event,
                                    .config = PERF_COUNT_SW_CPU_CLOCK,
                                    .sample_period = interval_ns,
                                    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                    .exclude_callchain_kernel = 1,
                                    .disabled = 1,
                                    .inherit = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .enable_on_exec = 1,
                                    .mmap = 1,
                                    .mmap2 = 1,
                                    .task = 1};
    if (samples->has_chains) {
        event.sample_type |= PERF_SAMPLE_CALLCHAIN;
        event.sample_max_stack = CPU_SAMPLES_CALLERS + 1;
    }
    int fd = (int)syscall(SYS_perf_event_open, &event, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

/* Some kernels, or their administrators, allow no chains. */
static int open_ring(struct cpu_samples *samples, int cpu, uint64_t interval_ns)
{
    int fd = open_event(samples, cpu, interval_ns);
    if (samples->n_rings == 0 && (fd == -EOVERFLOW || fd == -EOPNOTSUPP || fd == -EINVAL)) {
        samples->has_chains = false;
        fd = open_event(samples, cpu, interval_ns);
    }
    if (fd < 0)
        return fd;
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
    samples->has_chains = true;
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

static void take_sample(struct cpu_samples *samples, const struct sample_record *record, size_t n_bytes)
{
    if (samples->is_paused)
        return;
    if (samples->n_waiting == MOST_WAITING) {
        samples->n_lost++;
        return;
    }
    struct sample *sample = &samples->waiting[samples->n_waiting++];
    size_t room = samples->has_chains ? (n_bytes - sizeof *record) / sizeof record->addresses[0] : 0;
    *sample = (struct sample){.process = record->process, .n = 1, .addresses = {record->address}};
    bool is_own = true;
    for (uint64_t i = 0; i < room && i < record->n_addresses && sample->n <= CPU_SAMPLES_CALLERS; i++) {
        if (record->addresses[i] >= (uint64_t)PERF_CONTEXT_MAX)
            continue;
        /* The first one is the sample's own. */
        if (!is_own)
            sample->addresses[sample->n++] = record->addresses[i];
        is_own = false;
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
    else if (header->type == PERF_RECORD_SAMPLE)
        take_sample(samples, body, header->size - sizeof *header);
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

/* One more than its number; 0: there is no room. */
static uint32_t find_place(struct cpu_samples *samples, uint32_t file, uint64_t offset, uint32_t caller)
{
    uint64_t key = offset ^ (uint64_t)file << 48 ^ caller * 0xff51afd7ed558ccdULL;
    uint64_t hash = key * 0x9e3779b97f4a7c15ULL >> 32;
    for (uint64_t i = 0; i < N_PROBES; i++) {
        struct place *place = &samples->places[(hash + i) & (N_PLACES - 1)];
        if (place->file == 0)
            *place = (struct place){.offset = offset, .file = file + 1, .caller = caller};
        if (place->file == file + 1 && place->offset == offset && place->caller == caller)
            return (uint32_t)(place - samples->places) + 1;
    }
    return 0;
}

/* The newest map is the right one: a program may have been replaced by another. */
static const struct map *find_map(const struct cpu_samples *samples, uint32_t process, uint64_t address)
{
    for (size_t i = samples->n_maps; i-- > 0;) {
        const struct map *map = &samples->maps[i];
        if (map->process == process && map->begin <= address && address < map->end)
            return map;
    }
    return NULL;
}

/* From the outermost call to the sample's own place. Behind an address that lies in no file there is nothing
 * to trust. */
static void place_sample(struct cpu_samples *samples, const struct sample *sample)
{
    const struct map *maps[CPU_SAMPLES_CALLERS + 1];
    uint32_t n = 0, place = 0;
    while (n < sample->n && (maps[n] = find_map(samples, sample->process, sample->addresses[n])) != NULL)
        n++;
    for (uint32_t i = n; i-- > 0;) {
        uint64_t offset = sample->addresses[i] - maps[i]->begin + maps[i]->offset;
        if (place > 0)
            samples->places[place - 1].calls = true;
        place = find_place(samples, maps[i]->file, offset, place);
    }
    if (place > 0)
        samples->places[place - 1].n++;
    else
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

void cpu_samples_pause(struct cpu_samples *samples, bool is_paused)
{
    cpu_samples_poll(samples);
    samples->is_paused = is_paused;
}

void cpu_samples_tell(struct cpu_samples *samples, void (*take)(void *data, const struct cpu_place *place),
                      void *data)
{
    for (uint32_t i = 0; i < N_PLACES; i++) {
        struct place *place = &samples->places[i];
        bool is_new_caller = place->calls && !place->is_told;
        if (place->file == 0 || (place->n == 0 && !is_new_caller))
            continue;
        take(data, &(struct cpu_place){.path = samples->files[place->file - 1],
                                       .offset_bytes = place->offset,
                                       .n = place->n,
                                       .number = is_new_caller ? i + 1 : 0,
                                       .caller = place->caller});
        place->n = 0;
        place->is_told = place->calls;
    }
    if (samples->n_outside > 0)
        take(data, &(struct cpu_place){.n = samples->n_outside});
    samples->n_outside = 0;
}

void cpu_samples_tell_anew(struct cpu_samples *samples)
{
    for (uint32_t i = 0; i < N_PLACES; i++)
        samples->places[i].is_told = false;
}

void cpu_samples_forget(struct cpu_samples *samples)
{
    cpu_samples_poll(samples);
    cpu_samples_tell_anew(samples);
    for (uint32_t i = 0; i < N_PLACES; i++)
        samples->places[i].n = 0;
    samples->n_outside = 0;
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
