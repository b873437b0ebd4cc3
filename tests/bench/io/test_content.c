/* LINK: -lz */
/* Tests of bench/io/content: what zlib makes of the blocks, and how many repeat themselves. */
#include "bench/io/content.h"
#include "tests/test.h"

#include <zlib.h>

#define BUFFER  (64U << 10)
#define WRITES  128
#define ALL     ((size_t)BUFFER * WRITES)
#define N_BLOCK (ALL / CONTENT_BLOCK_BYTES)

/* All that so many writes from one buffer consist of. */
static unsigned char *written(const struct content *content)
{
    unsigned char *all = malloc(ALL), *buffer = malloc(BUFFER);
    struct rng rng;
    rng_init(&rng, 7);
    assert_true(all != NULL && buffer != NULL);
    content_lay(content, buffer, BUFFER, &rng);
    for (size_t i = 0; i < WRITES; i++) {
        content_stamp(content, buffer, BUFFER, &rng);
        memcpy(all + i * BUFFER, buffer, BUFFER);
    }
    free(buffer);
    return all;
}

/* Each block by itself, as a device or file system does it. */
static double compressed_share(const unsigned char *all)
{
    unsigned char out[2 * CONTENT_BLOCK_BYTES];
    double sum = 0;
    for (size_t i = 0; i < N_BLOCK; i++) {
        uLongf n = sizeof out;
        assert_int_equal(compress2(out, &n, all + i * CONTENT_BLOCK_BYTES, CONTENT_BLOCK_BYTES, 6), Z_OK);
        sum += (double)n;
    }
    return sum / ALL;
}

static int by_content(const void *a, const void *b)
{
    return memcmp(a, b, CONTENT_BLOCK_BYTES);
}

static double repeated_share(unsigned char *all)
{
    size_t n_repeated = 0;
    qsort(all, N_BLOCK, CONTENT_BLOCK_BYTES, by_content);
    for (size_t i = 1; i < N_BLOCK; i++)
        n_repeated += by_content(all + (i - 1) * CONTENT_BLOCK_BYTES, all + i * CONTENT_BLOCK_BYTES) == 0;
    return (double)n_repeated / N_BLOCK;
}

TEST(as_much_compresses_away_as_was_asked_for)
{
    const double shares[] = {0, 0.25, 0.5, 0.9};
    for (size_t i = 0; i < N_OF(shares); i++) {
        const struct content content = {.zero_share = shares[i]};
        AUTO(auto_free) unsigned char *all = written(&content);
        assert_close(compressed_share(all), 1 - shares[i], 0.02);
        assert_close(repeated_share(all), 0, 1e-9);
    }
}

TEST(as_many_blocks_repeat_as_was_asked_for)
{
    const double shares[] = {0.3, 0.9};
    for (size_t i = 0; i < N_OF(shares); i++) {
        const struct content content = {.repeat_share = shares[i], .zero_share = 0.5};
        AUTO(auto_free) unsigned char *all = written(&content);
        assert_close(compressed_share(all), 0.5, 0.02);
        assert_close(repeated_share(all), shares[i], 0.02);
    }
}

TEST(blocks_shorter_than_4_kib_have_their_share_too)
{
    unsigned char buffer[512];
    struct rng rng;
    size_t n_zero = 0;
    rng_init(&rng, 7);
    content_lay(&(struct content){.zero_share = 0.5}, buffer, sizeof buffer, &rng);
    for (size_t i = 0; i < sizeof buffer; i++)
        n_zero += buffer[i] == 0;
    assert_in_range(n_zero, 256, 264);
}
