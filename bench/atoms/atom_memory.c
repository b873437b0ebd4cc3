/* Page faults, mappings, and what unmapping costs while another processor uses the memory. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_mmap2 /* what the library calls where addresses have 32 bits */
#define MAPPING_CALL SYS_mmap2
#else
#define MAPPING_CALL SYS_mmap
#endif

#define PAGES 512U /* of a mapping that is touched */

struct mapping {
    const struct atom_shared *shared;
    size_t page_bytes;
    int fd;        /* whose pages are mapped; -1: anonymous memory */
    void *evictor; /* NULL: what comes between two pages leaves the caches as they are */
};

static void close_mapping(void *state)
{
    struct mapping *mapping = state;
    if (mapping->fd >= 0)
        close(mapping->fd);
    free(mapping->evictor);
    free(mapping);
}

static int open_anonymous(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (mapping == NULL)
        return -ENOMEM;
    mapping->shared = shared;
    mapping->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    mapping->fd = -1;
    *ret_state = mapping;
    return 0;
}

static int fill_file(const struct mapping *mapping)
{
    char *page = calloc(1, mapping->page_bytes);
    int result = page == NULL ? -ENOMEM : 0;
    for (unsigned i = 0; i < PAGES && result == 0; i++)
        result = write(mapping->fd, page, mapping->page_bytes) == (ssize_t)mapping->page_bytes ? 0 : -EIO;
    free(page);
    return result;
}

static int open_cached_file(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    int result = open_anonymous(place, shared, ret_state);
    if (result < 0)
        return result;
    struct mapping *mapping = *ret_state;
    mapping->fd = memfd_create("fstune", MFD_CLOEXEC);
    result = mapping->fd < 0 ? -errno : fill_file(mapping);
    if (result < 0) {
        close_mapping(mapping);
        *ret_state = NULL;
    }
    return result;
}

/* The same with caches that hold nothing of the last page: programs do other things between two pages. */
static int open_cold(int (*open_hot)(const struct atom_place *, struct atom_shared *, void **),
                     const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    int result = open_hot(place, shared, ret_state);
    if (result < 0)
        return result;
    struct mapping *mapping = *ret_state;
    result = atom_evictor_new(&mapping->evictor);
    if (result < 0) {
        close_mapping(mapping);
        *ret_state = NULL;
    }
    return result;
}

static int open_cold_anonymous(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    return open_cold(open_anonymous, place, shared, ret_state);
}

static int open_cold_file(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    return open_cold(open_cached_file, place, shared, ret_state);
}

/* Where the faults are to be held up. NULL with errno: they cannot be. */
static char *report_faults(const struct mapping *mapping, char *pages, size_t bytes)
{
    int result = intercept_faults_of(mapping->shared, pages, bytes, mapping->fd >= 0);
    if (result == 0)
        return pages;
    munmap(pages, bytes);
    errno = -result;
    return NULL;
}

static char *map_pages(const struct mapping *mapping)
{
    const int flags = mapping->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    const size_t bytes = PAGES * mapping->page_bytes;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, mapping->fd, 0);
    if (pages == MAP_FAILED)
        return NULL;
    /* One fault must bring one page. */
    (void)madvise(pages, bytes, MADV_NOHUGEPAGE);
    (void)madvise(pages, bytes, MADV_RANDOM);
    return report_faults(mapping, pages, bytes);
}

static int fault_pages(const struct mapping *mapping, uint64_t n, bool is_touched)
{
    for (uint64_t done = 0; done < n; done += PAGES) {
        char *pages = map_pages(mapping);
        if (pages == NULL)
            return -errno;
        for (uint64_t i = 0; i < PAGES && i < n - done; i++) {
            atom_evict(mapping->evictor);
            if (is_touched)
                *(volatile char *)(pages + i * mapping->page_bytes) = 1;
        }
        munmap(pages, PAGES * mapping->page_bytes);
    }
    return 0;
}

static int run_faults(void *state, uint64_t n)
{
    return fault_pages(state, n, true);
}

static int run_mappings_alone(void *state, uint64_t n)
{
    return fault_pages(state, n, false);
}

ATOM(fault_anonymous, "page_fault", "one page of new memory, given back later", open_anonymous, run_faults,
     close_mapping, ATOM_DELAYS_FAULTS, .base = run_mappings_alone);

ATOM(fault_cold, "page_fault_cold", "one page of new memory, of which the caches hold nothing",
     open_cold_anonymous, run_faults, close_mapping, ATOM_DELAYS_FAULTS, .base = run_mappings_alone);

ATOM(fault_file, "page_fault_file", "one page of a file in memory, mapped", open_cached_file, run_faults,
     close_mapping, ATOM_DELAYS_FAULTS, .base = run_mappings_alone);

/* The kernel knows the pages, the processor does not. A first use that is held up is a fault, as it is where
 * page tables are kept twice: the pages are then not mapped beforehand. */
static char *map_known_pages(const struct mapping *mapping, size_t bytes)
{
    const int populate = mapping->shared->has_fault_fd ? 0 : MAP_POPULATE;
    void *pages = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | populate, mapping->fd, 0);
    return pages == MAP_FAILED ? NULL : report_faults(mapping, pages, bytes);
}

static int use_mapped(const struct mapping *mapping, uint64_t n, bool is_used)
{
    const size_t bytes = PAGES * mapping->page_bytes;
    for (uint64_t done = 0; done < n; done += PAGES) {
        char *pages = map_known_pages(mapping, bytes);
        if (pages == NULL)
            return -errno;
        for (uint64_t i = 0; i < PAGES && i < n - done; i++) {
            atom_evict(mapping->evictor);
            if (is_used)
                (void)*(volatile char *)(pages + i * mapping->page_bytes);
        }
        munmap(pages, bytes);
    }
    return 0;
}

static int run_uses(void *state, uint64_t n)
{
    return use_mapped(state, n, true);
}

static int run_populated_alone(void *state, uint64_t n)
{
    return use_mapped(state, n, false);
}

ATOM(page_use, "page_use", "the first use of a page of a file that came with its neighbour", open_cached_file,
     run_uses, close_mapping, ATOM_DELAYS_FAULTS, .base = run_populated_alone);

ATOM(page_use_cold, "page_use_cold", "the first use of such a page, of which the caches hold nothing",
     open_cold_file, run_uses, close_mapping, ATOM_DELAYS_FAULTS, .base = run_populated_alone);

static int map_one(const struct mapping *mapping, bool is_touched)
{
    char *page = mmap(NULL, mapping->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -errno;
    if (is_touched)
        *(volatile char *)page = 1;
    return munmap(page, mapping->page_bytes) == 0 ? 0 : -errno;
}

static int run_maps(void *state, uint64_t n)
{
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = map_one(state, false);
    return result;
}

ATOM(map, "map", "one mmap and munmap of a page", open_anonymous, run_maps, close_mapping,
     ATOM_DELAYS_CALLS(MAPPING_CALL));

/* A thread that uses the same memory from another processor. */
struct spinner {
    struct mapping mapping;
    struct atom_shared *shared;
    pthread_t thread;
};

static void *spin_beside(void *context)
{
    struct atom_shared *shared = context;
    if (atom_pin(1) == 0) {
        while (atomic_load_explicit(&shared->stop, memory_order_relaxed) == 0)
            ;
    }
    return NULL;
}

static int open_spinner(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    struct spinner *spinner = calloc(1, sizeof *spinner);
    if (spinner == NULL)
        return -ENOMEM;
    spinner->mapping = (struct mapping){.page_bytes = (size_t)sysconf(_SC_PAGESIZE), .fd = -1};
    spinner->shared = shared;
    int result = atom_pin(1);
    atom_unpin();
    if (result < 0) {
        free(spinner);
        return -EOPNOTSUPP;
    }
    *ret_state = spinner;
    return 0;
}

static int unmap_touched(struct spinner *spinner, uint64_t n)
{
    int result = atom_pin(0);
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = map_one(&spinner->mapping, true);
    atom_unpin();
    return result;
}

static int run_with_spinner(void *state, uint64_t n)
{
    struct spinner *spinner = state;
    sigset_t all, before;
    atomic_store(&spinner->shared->stop, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&spinner->thread, NULL, spin_beside, spinner->shared);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result < 0)
        return result;
    result = unmap_touched(spinner, n);
    atomic_store(&spinner->shared->stop, 1);
    pthread_join(spinner->thread, NULL);
    return result;
}

static int run_without_spinner(void *state, uint64_t n)
{
    return unmap_touched(state, n);
}

ATOM(shootdown, "tlb_shootdown", "what one munmap takes more while another processor uses the memory",
     open_spinner, run_with_spinner, free, .base = run_without_spinner);
