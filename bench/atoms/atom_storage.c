/* The basic operations of a storage: reads and writes in order and at random, of three sizes, from the
 * device, in memory and made durable; operations on names; and what two kinds of operation cost more when
 * they follow one another than when each is repeated. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/read_ahead.h"
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB        ((size_t)1 << 20)
#define FILE_BYTES (64 * MIB)
#define MOST_BYTES (1024 * MIB)
#define NAME_SIZE  48
/* Windows of the kernel's read-ahead: of the file, for each worker, and of a timing of reads in order. */
#define FILE_WINDOWS   4
#define TIMING_WINDOWS 2
#define DROP_BYTES     (4 * MIB) /* of the page cache at once: folios of read-ahead are hardly ever larger */

/* Of an operation. */
enum {
    WRITES = 1,
    RANDOM = 2,
    COLD = 4, /* of reads: from the device; of writes: made durable. Else in memory */
    MIXED = 8,
    SECOND = 3, /* of a mix: the second operation's WRITES and RANDOM, shifted */
    SHIFT = 4,
};

struct storage {
    uint32_t kind, size_bytes;
    int fds[2], dir_fd; /* fds: for operations in order and at random; -1: not needed */
    unsigned char *buffer;
    uint64_t at[4];        /* where each kind of operation is in the file */
    uint64_t window_bytes; /* that the kernel reads ahead */
    struct rng rng;
    char names[2][NAME_SIZE];
};

/* Two files serve all tests: one whose pages stay in memory, and one whose pages are dropped. */
static struct {
    int fd;
    unsigned n_users;
    uint64_t n_bytes;
} data_files[2];

static size_t data_file_of(const struct storage *storage)
{
    return (storage->kind & COLD) != 0;
}

static void close_storage(void *state)
{
    struct storage *storage = state;
    const size_t file = data_file_of(storage);
    for (size_t i = 0; i < 2; i++) {
        if (storage->fds[i] < 0)
            continue;
        close(storage->fds[i]);
        data_files[file].n_users--;
        if (data_files[file].n_users == 0)
            close(data_files[file].fd);
    }
    if (storage->dir_fd >= 0)
        close(storage->dir_fd);
    free(storage->buffer);
    free(storage);
}

/* Workers that read in order must not find what the kernel has read ahead for others, where there is room. */
static uint64_t choose_file_bytes(const struct storage *storage, const struct atom_place *place)
{
    uint64_t wanted = FILE_WINDOWS * storage->window_bytes * place->n_workers, n_bytes = FILE_BYTES;
    if ((storage->kind & COLD) == 0)
        return FILE_BYTES;
    while (n_bytes < wanted && n_bytes < MOST_BYTES)
        n_bytes *= 2;
    while (n_bytes > FILE_BYTES && target_scratch_check(place->directory, n_bytes, NULL) < 0)
        n_bytes /= 2;
    return n_bytes;
}

static int fill_data_file(struct storage *storage, const char *directory, uint64_t n_bytes, int *ret_fd)
{
    bool is_tmpfile;
    unsigned char *block = malloc(MIB);
    int fd, result = block != NULL ? target_scratch_check(directory, n_bytes, NULL) : -ENOMEM;
    if (result == 0)
        result = target_create_nameless(storage->dir_fd, directory, &fd, &is_tmpfile, NULL);
    if (result < 0) {
        free(block);
        return result;
    }
    rng_fill(&storage->rng, block, MIB);
    for (uint64_t at = 0; at < n_bytes && result == 0; at += MIB)
        result = full_io_write(fd, block, MIB, at, NULL);
    free(block);
    if (result == 0)
        result = full_io_sync(fd);
    if (result == 0 && (storage->kind & COLD) != 0)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (result < 0)
        close(fd);
    else
        *ret_fd = fd;
    return result;
}

/* A quota may allow less than the file system has free. */
static int make_data_file(struct storage *storage, const struct atom_place *place)
{
    const size_t file = data_file_of(storage);
    uint64_t n_bytes = choose_file_bytes(storage, place);
    int result = fill_data_file(storage, place->directory, n_bytes, &data_files[file].fd);
    if ((result == -EDQUOT || result == -ENOSPC || result == -EFBIG) && n_bytes > FILE_BYTES) {
        n_bytes = FILE_BYTES;
        result = fill_data_file(storage, place->directory, n_bytes, &data_files[file].fd);
    }
    data_files[file].n_bytes = n_bytes;
    return result;
}

/* Advice about the order of reads belongs to a descriptor, so each order of each test has one. */
static int use_data_file(struct storage *storage, const struct atom_place *place, bool is_random)
{
    char path[32];
    const size_t file = data_file_of(storage);
    int result = data_files[file].n_users == 0 ? make_data_file(storage, place) : 0;
    if (result < 0)
        return result;
    snprintf(path, sizeof path, "/proc/self/fd/%d", data_files[file].fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        result = -errno;
        if (data_files[file].n_users == 0)
            close(data_files[file].fd);
        return result;
    }
    if (is_random)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    storage->fds[is_random] = fd;
    data_files[file].n_users++;
    return 0;
}

static int open_storage_directory(const struct atom_place *place, struct storage *storage)
{
    storage->fds[0] = storage->fds[1] = storage->dir_fd = -1;
    storage->kind = place->atom->kind;
    storage->size_bytes = place->atom->size_bytes;
    rng_init(&storage->rng, 1 + place->worker);
    storage->buffer = malloc(storage->size_bytes);
    for (size_t i = 0; i < 2; i++)
        snprintf(storage->names[i], NAME_SIZE, ".fstune-%016" PRIx64, rng_seed_from_system());
    storage->dir_fd = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    storage->window_bytes = storage->dir_fd >= 0 ? read_ahead_bytes(storage->dir_fd) : 0;
    return storage->buffer == NULL && storage->size_bytes > 0 ? -ENOMEM : storage->dir_fd < 0 ? -errno : 0;
}

static int open_names(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)shared;
    struct storage *storage = place->directory != NULL ? calloc(1, sizeof *storage) : NULL;
    if (storage == NULL)
        return place->directory != NULL ? -ENOMEM : -EOPNOTSUPP;
    int result = open_storage_directory(place, storage);
    if (result < 0)
        close_storage(storage);
    else
        *ret_state = storage;
    return result;
}

/* Workers share no piece that is dropped at once. Reads in order do not follow the writes, whose pages they
 * would find. */
static void place_workers(struct storage *storage, const struct atom_place *place)
{
    const uint64_t n_bytes = data_files[data_file_of(storage)].n_bytes;
    const uint64_t n_pieces = n_bytes / DROP_BYTES;
    for (size_t kind = 0; kind < 4; kind++)
        storage->at[kind] = (n_pieces * place->worker / place->n_workers * DROP_BYTES +
                             ((kind & WRITES) != 0 ? n_bytes / 2 : 0)) %
                            n_bytes;
}

static int open_data(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    int result = open_names(place, shared, ret_state);
    if (result < 0)
        return result;
    struct storage *storage = *ret_state;
    rng_fill(&storage->rng, storage->buffer, storage->size_bytes);
    const uint32_t first = storage->kind & SECOND, second = (storage->kind >> SHIFT) & SECOND;
    for (int random = 0; random < 2 && result == 0; random++) {
        const uint32_t order = random ? RANDOM : 0;
        if ((first & RANDOM) == order || ((storage->kind & MIXED) != 0 && (second & RANDOM) == order))
            result = use_data_file(storage, place, random);
    }
    if (result < 0) {
        close_storage(storage);
        *ret_state = NULL;
        return result;
    }
    place_workers(storage, place);
    /* Many workers with many tests would have too many descriptors. */
    close(storage->dir_fd);
    storage->dir_fd = -1;
    return 0;
}

/* What other tests wrote, and what the kernel read ahead, must not be found in memory. */
static void forget_pages(void *state)
{
    const struct storage *storage = state;
    if ((storage->kind & COLD) != 0 && full_io_sync(data_files[1].fd) == 0)
        (void)posix_fadvise(data_files[1].fd, 0, 0, POSIX_FADV_DONTNEED);
}

static uint64_t next_offset(struct storage *storage, uint32_t kind)
{
    const uint64_t n_places = data_files[data_file_of(storage)].n_bytes / storage->size_bytes;
    if ((kind & RANDOM) != 0)
        return (uint64_t)(rng_uniform(&storage->rng) * (double)n_places) * storage->size_bytes;
    uint64_t *at = &storage->at[kind & SECOND];
    const uint64_t offset = *at;
    *at = (offset + storage->size_bytes) % (n_places * storage->size_bytes);
    return offset;
}

/* The next one who reads this must not find it in memory. What was read in order is dropped piece by piece,
 * since the kernel keeps a folio of which a part alone is to be dropped. */
static void drop_behind(struct storage *storage, int fd, uint32_t kind, uint64_t offset)
{
    const uint64_t end = offset + storage->size_bytes;
    if ((kind & RANDOM) != 0)
        (void)posix_fadvise(fd, (off_t)offset, storage->size_bytes, POSIX_FADV_DONTNEED);
    else if (end % DROP_BYTES == 0)
        (void)posix_fadvise(fd, (off_t)(end - DROP_BYTES), DROP_BYTES, POSIX_FADV_DONTNEED);
}

static int operate(struct storage *storage, uint32_t kind)
{
    const uint64_t offset = next_offset(storage, kind);
    const int fd = storage->fds[(kind & RANDOM) != 0];
    if ((kind & WRITES) != 0) {
        int result = full_io_write(fd, storage->buffer, storage->size_bytes, offset, NULL);
        return result == 0 && (kind & COLD) != 0 ? full_io_sync(fd) : result;
    }
    int result = full_io_read(fd, storage->buffer, storage->size_bytes, offset);
    if ((kind & COLD) != 0)
        drop_behind(storage, fd, kind, offset);
    return result;
}

/* A timing of reads in order has as much from read-ahead windows that began before it as it leaves behind. */
static uint64_t least_data(const void *state)
{
    const struct storage *storage = state;
    const bool is_read_in_order = (storage->kind & (WRITES | RANDOM | COLD | MIXED)) == COLD;
    return is_read_in_order ? TIMING_WINDOWS * storage->window_bytes / storage->size_bytes : 0;
}

static int repeat(struct storage *storage, uint32_t kind, uint64_t n)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = operate(storage, kind);
    return result;
}

static int run_data(void *state, uint64_t n)
{
    struct storage *storage = state;
    return repeat(storage, storage->kind, n);
}

static int run_data_unsynced(void *state, uint64_t n)
{
    struct storage *storage = state;
    return repeat(storage, storage->kind & SECOND, n);
}

/* n of each in random order, so that n changes from one to the other are expected. Workers that took turns
 * would fall into step with one another. */
static int run_mix(void *state, uint64_t n)
{
    struct storage *storage = state;
    const uint32_t kinds[] = {storage->kind & (SECOND | COLD), (storage->kind >> SHIFT) | COLD};
    uint64_t left[] = {n, n};
    int result = 0;
    while (left[0] + left[1] > 0 && result == 0) {
        const bool is_second = rng_uniform(&storage->rng) * (double)(left[0] + left[1]) >= (double)left[0];
        left[is_second]--;
        result = operate(storage, kinds[is_second]);
    }
    return result;
}

static int run_first(void *state, uint64_t n)
{
    struct storage *storage = state;
    return repeat(storage, storage->kind & (SECOND | COLD), n);
}

static int run_second(void *state, uint64_t n)
{
    struct storage *storage = state;
    return repeat(storage, (storage->kind >> SHIFT) | COLD, n);
}

static int run_opens(void *state, uint64_t n)
{
    const struct storage *storage = state;
    for (uint64_t i = 0; i < n; i++) {
        int fd = openat(storage->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        close(fd);
    }
    return 0;
}

static int run_stats(void *state, uint64_t n)
{
    const struct storage *storage = state;
    struct stat status;
    for (uint64_t i = 0; i < n; i++) {
        if (fstatat(storage->dir_fd, ".", &status, 0) != 0)
            return -errno;
    }
    return 0;
}

/* A name stands for the moment only, as that of every target file where there is no nameless one. */
static int create_and_remove(const struct storage *storage, bool is_renamed)
{
    const char *name = storage->names[0];
    int result = 0;
    int fd = openat(storage->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    if (is_renamed && renameat(storage->dir_fd, name, storage->dir_fd, storage->names[1]) == 0)
        name = storage->names[1];
    else if (is_renamed)
        result = -errno;
    if (unlinkat(storage->dir_fd, name, 0) != 0 && result == 0)
        result = -errno;
    return result;
}

static int run_creates(void *state, uint64_t n)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = create_and_remove(state, false);
    return result;
}

static int run_renames(void *state, uint64_t n)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = create_and_remove(state, true);
    return result;
}

#define DATA(NAME, KIND, SIZE, PER)                                                                          \
    {                                                                                                        \
        .name = NAME, .per = PER, .kind = KIND, .size_bytes = SIZE, .open = open_data,                       \
        .prepare = forget_pages, .least = least_data, .run = run_data, .close = close_storage                \
    }
#define SIZES(NAME, KIND, STATE, PER)                                                                        \
    DATA(NAME "_4k_" STATE, KIND, 4096, PER " of 4 KiB"),                                                    \
        DATA(NAME "_64k_" STATE, KIND, 65536, PER " of 64 KiB"),                                             \
        DATA(NAME "_1m_" STATE, KIND, MIB, PER " of 1 MiB")
#define MIX(NAME, FIRST, OTHER)                                                                              \
    {                                                                                                        \
        .name = "mix_" NAME, .per = "what a change from one of these kinds to the other costs more",         \
        .kind = (FIRST) | COLD | MIXED | ((OTHER) << SHIFT), .size_bytes = 4096, .open = open_data,          \
        .prepare = forget_pages, .run = run_mix, .base = run_first, .base_too = run_second,                  \
        .close = close_storage                                                                               \
    }
#define NAMES(NAME, RUN, BASE, PER)                                                                          \
    {                                                                                                        \
        .name = NAME, .per = PER, .open = open_names, .run = RUN, .base = BASE, .close = close_storage       \
    }

static const struct atom storage_table[] = {
    SIZES("read", COLD, "cold", "one read in order, from the device,"),
    SIZES("read", 0, "warm", "one read in order, in memory,"),
    SIZES("randread", RANDOM | COLD, "cold", "one read at random, from the device,"),
    SIZES("randread", RANDOM, "warm", "one read at random, in memory,"),
    SIZES("write", WRITES, "warm", "one write in order, into memory,"),
    SIZES("write", WRITES | COLD, "durable", "one write in order, made durable,"),
    SIZES("randwrite", WRITES | RANDOM, "warm", "one write at random, into memory,"),
    SIZES("randwrite", WRITES | RANDOM | COLD, "durable", "one write at random, made durable,"),
    {.name = "fsync",
     .per = "one fdatasync after a write of 4 KiB",
     .kind = WRITES | COLD,
     .size_bytes = 4096,
     .open = open_data,
     .prepare = forget_pages,
     .run = run_data,
     .base = run_data_unsynced,
     .close = close_storage},
    NAMES("open", run_opens, NULL, "one open and close"),
    NAMES("stat", run_stats, NULL, "one look at a file's attributes"),
    NAMES("create", run_creates, NULL, "one file created and removed"),
    NAMES("rename", run_renames, run_creates, "one file renamed"),
    MIX("read_randread", 0, RANDOM),
    MIX("read_write", 0, WRITES),
    MIX("read_randwrite", 0, WRITES | RANDOM),
    MIX("randread_write", RANDOM, WRITES),
    MIX("randread_randwrite", RANDOM, WRITES | RANDOM),
    MIX("write_randwrite", WRITES, WRITES | RANDOM),
};

_Static_assert(sizeof storage_table / sizeof storage_table[0] <= ATOMS_MAX,
               "the table has outgrown ATOMS_MAX");

const struct atom *atom_storage_row(size_t i)
{
    return i < sizeof storage_table / sizeof storage_table[0] ? &storage_table[i] : NULL;
}
