/* models/profile/bins: counting values without knowing before which ones will come. */
#include "models/profile/bins.h"

#include "models/profile/cells.h"

#define VOTES_MAX ((1ULL << BINS_VOTE_BITS) - 1)
#define VALUE_MAX ((1ULL << (64 - BINS_VOTE_BITS)) - 1)

size_t bins_of(uint64_t value)
{
    if (value < 4)
        return (size_t)value;
    unsigned log2 = 63U - (unsigned)__builtin_clzll(value);
    size_t bin = ((size_t)log2 - 1) * 4 + (size_t)((value >> (log2 - 2)) & 3);
    return bin < BINS_N ? bin : BINS_N - 1;
}

static uint64_t lowest_in(size_t bin)
{
    if (bin < 4)
        return bin;
    return (4 + (uint64_t)(bin % 4)) << (bin / 4 - 1);
}

static uint64_t vote(uint64_t candidate, uint64_t value)
{
    uint64_t votes = candidate & VOTES_MAX;
    if (votes == 0)
        return value << BINS_VOTE_BITS | 1;
    if (candidate >> BINS_VOTE_BITS == value)
        return votes < VOTES_MAX ? candidate + 1 : candidate;
    return candidate - 1;
}

void bins_add(struct bins *bins, uint64_t value)
{
    struct bins_bin *bin = &bins->bin[bins_of(value)];
    uint64_t held = value < VALUE_MAX ? value : VALUE_MAX, now = cells_read(&bin->candidate);
    cells_add(&bin->n, 1);
    /* One try: a vote that is lost against another thread's changes nothing that can be seen. */
    if (now != (held << BINS_VOTE_BITS | VOTES_MAX))
        cells_swap(&bin->candidate, now, vote(now, held));
}

uint64_t bins_n(const struct bins *bins)
{
    uint64_t n = 0;
    for (size_t i = 0; i < BINS_N; i++)
        n += cells_read(&bins->bin[i].n);
    return n;
}

/* How many entries of the bin have its candidate's value: all where nobody voted against it; of two values
 * the votes are the difference, so that half of the rest is its own, too. */
static uint64_t n_of_candidate(const struct bins_bin *bin)
{
    uint64_t n = cells_read(&bin->n), votes = cells_read(&bin->candidate) & VOTES_MAX;
    if (votes == VOTES_MAX || votes > n)
        return n;
    return (n + votes) / 2;
}

uint64_t bins_quantile(const struct bins *bins, double share)
{
    double n = (double)bins_n(bins), seen = 0;
    for (size_t i = 0; i < BINS_N && n > 0; i++) {
        const struct bins_bin *bin = &bins->bin[i];
        seen += (double)cells_read(&bin->n);
        if (seen < share * n || cells_read(&bin->n) == 0)
            continue;
        return 2 * n_of_candidate(bin) > cells_read(&bin->n) ? cells_read(&bin->candidate) >> BINS_VOTE_BITS
                                                             : lowest_in(i);
    }
    return 0;
}

static void insert(struct bins_mode *modes, size_t n, struct bins_mode mode)
{
    size_t at = n;
    for (; at > 0 && modes[at - 1].n < mode.n; at--)
        modes[at] = modes[at - 1];
    modes[at] = mode;
}

size_t bins_modes(const struct bins *bins, double share, struct bins_mode *ret_modes, size_t room)
{
    double least = share * (double)bins_n(bins);
    size_t n_modes = 0;
    for (size_t i = 0; i < BINS_N && room > 0; i++) {
        const struct bins_bin *bin = &bins->bin[i];
        struct bins_mode mode = {cells_read(&bin->candidate) >> BINS_VOTE_BITS, n_of_candidate(bin)};
        if (cells_read(&bin->n) == 0 || (double)mode.n < least || 2 * mode.n <= cells_read(&bin->n))
            continue;
        if (n_modes == room && ret_modes[room - 1].n >= mode.n)
            continue;
        n_modes -= n_modes == room;
        insert(ret_modes, n_modes++, mode);
    }
    return n_modes;
}
