/* Imports of profiles: the first line names the format; whatever follows, the store is sound and its counts
 * agree. */
#include "tests/fuzz/fuzz.h"

#include "models/profile/summary.h"
#include "tuner/profile/import.h"

static const char *const formats[] = {"fio-iolog", "blkparse", "strace", "msr", "alibaba"};
#define N_FORMATS (sizeof formats / sizeof formats[0])

static void check_store(const struct recording *recording)
{
    static struct summary summary;
    const struct store *store = recording->store;
    uint64_t n_judged = 0;
    FUZZ_CHECK(store_is_sound(store, STORE_MIN_BYTES));
    summary_make(&summary, store);
    for (int direction = 0; direction < PROFILE_N_DIRECTIONS; direction++) {
        for (int order = 0; order < STREAM_N_ORDERS; order++)
            n_judged += store->n[direction][order];
        FUZZ_CHECK(summary.sizes[direction].p50 <= summary.sizes[direction].p99);
    }
    FUZZ_CHECK(summary.n_requests == n_judged + summary.n_unjudged);
    FUZZ_CHECK(summary.n_requests == summary.sizes[PROFILE_READ].n + summary.sizes[PROFILE_WRITE].n);
    FUZZ_CHECK(summary.busy_share >= 0 && summary.busy_share <= 1);
    FUZZ_CHECK(summary.depth_mean == 0 || summary.depth_mean >= 1);
    if (summary.is_enough)
        FUZZ_CHECK(summary.percent[0] + summary.percent[1] + summary.percent[2] + summary.percent[3] == 100);
}

/* The first byte chooses the format. */
FUZZ_TEXT(text, size)
{
    char path[FUZZ_PATH_SIZE];
    if (size == 0)
        return;
    FILE *file = fuzz_file(path);
    FUZZ_CHECK(fwrite(text + 1, 1, size - 1, file) == size - 1 && fflush(file) == 0);
    struct recording recording = {0};
    const char *format = formats[(unsigned char)text[0] % N_FORMATS];
    if (!fuzz_refused(import_file(&recording, format, path, STORE_MIN_BYTES, &fuzz_err)))
        check_store(&recording);
    record_close(&recording);
    fclose(file);
}
