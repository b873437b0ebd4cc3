/* Tests of models/library/library_text and library_load: a saved search goes on as if it had never been away.
 */
#include "tests/models/library/library_rig.h"

#include <errno.h>

static const struct fst_limit memory_limit = {"memory in flight", 4e6, 0};

static int forbids_deep_small(const double *values, void *context)
{
    (void)context;
    return values[1] > 16 && values[0] < 65536;
}

static double rank_of(const double *values, void *context)
{
    (void)context;
    return values[2];
}

/* Everything that a text has to hold. */
static struct fst_search *rich_search(void)
{
    static const double baseline[] = {8192, 2, 1};
    struct fst_options options = FST_OPTIONS;
    struct fst_space *space = rig_space();
    options.budget = 200;
    options.run_cost = 1;
    options.price = rig_price;
    options.baseline = baseline;
    options.limits = &memory_limit;
    options.n_limits = 1;
    options.alike = 0.05;
    options.rates = 1;
    options.length = 0.5;
    options.least_work = rig_price;
    options.rank = rank_of;
    options.grace = 10;
    assert_int_equal(fst_space_not_with(space, 2, 1, 0, 4096), 0);
    fst_space_forbid(space, forbids_deep_small, NULL);
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    assert_non_null(search);
    return search;
}

/* One step of a search, whose outcome depends on the setting and its turn alone. 0: it is over. */
static bool step(struct fst_search *search, size_t turn, struct fst_run *ret_run)
{
    int asked = fst_ask(search, FST_USED_COSTS, ret_run);
    assert_true(asked >= 0);
    if (asked == 0)
        return false;
    double effect = rig_bytes(ret_run->values), noise = exp(0.05 * sin((double)(turn * turn)));
    struct fst_result result = {.value = rig_rate(ret_run->values) * noise, .cost = 1, .effects = &effect};
    if (turn % 7 == 3) {
        result.std_error = result.value / 20;
        result.n = 4;
    }
    struct fst_timing timing = FST_TIMING;
    timing.used = (double)turn + 0.5;
    timing.span = 0.6;
    timing.warmup = 0.1;
    timing.latency = 1e-3 * (1 + (double)ret_run->setting);
    timing.cut = turn % 14 == 6 && !ret_run->confirming;
    if (turn % 31 == 5)
        assert_int_equal(fst_fail(search, ret_run, 1.5), 0);
    else if (turn % 31 == 9)
        assert_int_equal(fst_withdraw(search, ret_run), 0);
    else if (turn % 2 == 0)
        assert_int_equal(fst_tell_timed(search, ret_run, &result, &timing), 0);
    else
        assert_int_equal(fst_tell_result(search, ret_run, &result), 0);
    return true;
}

static struct fst_search *reloaded(const struct fst_search *search)
{
    char *text;
    size_t n;
    assert_int_equal(fst_save(search, &text, &n), 0);
    assert_int_equal(strlen(text), n);
    struct fst_search *again = fst_load(text, n);
    fst_text_free(text);
    assert_non_null(again);
    return again;
}

static void assert_same_answers(const struct fst_search *a, const struct fst_search *b)
{
    struct fst_answer of_a, of_b;
    assert_int_equal(fst_answer(a, &of_a), 0);
    assert_int_equal(fst_answer(b, &of_b), 0);
    assert_memory_equal(&of_a.recommended.value, &of_b.recommended.value, sizeof(double));
    assert_int_equal(of_a.recommended.setting, of_b.recommended.setting);
    assert_int_equal(of_a.best.setting, of_b.best.setting);
    assert_memory_equal(&of_a.shortfall, &of_b.shortfall, sizeof(double));
    assert_int_equal(of_a.conclusive, of_b.conclusive);
}

/* After every tenth step a search is put away and goes on beside the one that stayed. */
TEST(a_saved_search_asks_the_same_bit_for_bit)
{
    struct fst_search *stayed = rich_search(), *moved = rich_search();
    struct fst_run a, b;
    size_t turn = 0;
    for (;; turn++) {
        if (turn % 10 == 0) {
            struct fst_search *again = reloaded(moved);
            fst_search_free(moved);
            moved = again;
        }
        bool goes_on = step(stayed, turn, &a);
        assert_int_equal(step(moved, turn, &b), goes_on);
        if (!goes_on)
            break;
        assert_int_equal(a.setting, b.setting);
        assert_int_equal(a.confirming, b.confirming);
        assert_memory_equal(a.values, b.values, sizeof a.values);
    }
    assert_true(turn > 60);
    assert_same_answers(stayed, moved);
    struct fst_search *over = reloaded(stayed);
    assert_same_answers(stayed, over);
    fst_search_free(over);
    fst_search_free(stayed);
    fst_search_free(moved);
}

TEST(growth_is_kept)
{
    struct fst_options options = FST_OPTIONS;
    struct fst_run a = {0}, b = {0};
    size_t turn = 0;
    options.budget = 300;
    options.run_cost = 1;
    options.growth = 0.5;
    struct fst_search *stayed = rig_search(&options), *moved = NULL;
    while (fst_ask(stayed, FST_USED_COSTS, &a) == 1) {
        double value = rig_rate(a.values) * rig_noise(0.05);
        assert_int_equal(fst_tell(stayed, &a, value, 1), 0);
        if (moved != NULL) {
            assert_int_equal(fst_ask(moved, FST_USED_COSTS, &b), 1);
            assert_int_equal(a.setting, b.setting);
            assert_int_equal(fst_tell(moved, &b, value, 1), 0);
        }
        if (++turn == 50) /* in the middle of a block */
            moved = reloaded(stayed);
    }
    assert_true(turn > 80);
    assert_int_equal(fst_ask(moved, FST_USED_COSTS, &b), 0);
    assert_same_answers(stayed, moved);
    fst_search_free(stayed);
    fst_search_free(moved);
}

TEST(what_is_outstanding_stays_so)
{
    struct fst_search *search = rich_search();
    struct fst_run runs[4], run;
    double effect = 1e6;
    struct fst_result result = {.value = 1e9, .cost = 1, .effects = &effect};
    assert_int_equal(fst_ask(search, 0, &runs[0]), 1);
    assert_int_equal(fst_ask(search, 0, &run), -EAGAIN); /* a search begins with its baseline */
    assert_int_equal(fst_tell_result(search, &runs[0], &result), 0);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(fst_ask(search, 1, &runs[i]), 1);
    struct fst_search *again = reloaded(search);
    assert_int_equal(fst_outstanding(again), 3);
    assert_int_equal(fst_tell_result(again, &runs[2], &result), 0);
    assert_int_equal(fst_outstanding(again), 2);
    fst_search_free(again);
    fst_search_free(search);
}

TEST(what_was_learnt_and_a_stop_are_kept)
{
    struct fst_search *earlier = rich_search(), *search = rich_search();
    struct fst_run run;
    for (size_t turn = 0; step(earlier, turn, &run);)
        turn++;
    assert_int_equal(fst_learn(search, earlier), 0);
    for (size_t turn = 0; turn < 30; turn++)
        assert_true(step(search, turn, &run));
    assert_int_equal(fst_stop(search), 0);
    struct fst_search *again = reloaded(search);
    assert_int_equal(fst_ask(again, FST_USED_COSTS, &run), 0);
    assert_int_equal(fst_ask(search, FST_USED_COSTS, &run), 0);
    assert_same_answers(search, again);
    fst_search_free(again);
    fst_search_free(search);
    fst_search_free(earlier);
}

static int error_of(const char *text, size_t n)
{
    errno = 0;
    struct fst_search *search = fst_load(text, n);
    assert_null(search);
    return errno;
}

TEST(a_damaged_text_is_refused)
{
    struct fst_search *search = rich_search();
    struct fst_run run;
    char *text;
    size_t n;
    for (size_t turn = 0; turn < 5; turn++)
        assert_true(step(search, turn, &run));
    assert_int_equal(fst_save(search, &text, &n), 0);
    for (size_t i = 0; i < n; i++) {
        text[i] ^= 1;
        int error = error_of(text, n);
        assert_true(error == EBADMSG || ((i == 14 || i == 15) && error == ENOTSUP)); /* its version */
        text[i] ^= 1;
        assert_int_equal(error_of(text, i), EBADMSG);
    }
    assert_int_equal(error_of(NULL, 0), EBADMSG);
    fst_text_free(text);
    fst_search_free(search);
}

/* FNV-1a, so that the text below the digest can be changed. */
static void seal(char *text, size_t n)
{
    uint64_t digest = 0xcbf29ce484222325;
    size_t n_kept = n - strlen("end 0123456789abcdef\n");
    char digits[17];
    for (size_t i = 0; i < n_kept; i++)
        digest = (digest ^ (unsigned char)text[i]) * 0x100000001b3;
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)digest);
    memcpy(text + n_kept + 4, digits, 16);
}

/* Whoever changes a text and its digest gets a search or an error, and no fault of memory. */
TEST(a_changed_text_with_a_right_digest_does_no_harm)
{
    struct fst_search *search = rich_search();
    struct fst_run run;
    char *text;
    size_t n, n_stale = 0;
    for (size_t turn = 0; turn < 5; turn++)
        assert_true(step(search, turn, &run));
    assert_int_equal(fst_save(search, &text, &n), 0);
    for (size_t i = 16; i + 22 < n; i++) {
        char kept = text[i];
        text[i] = kept == '1' ? '0' : kept == '\n' ? ' ' : '1';
        seal(text, n);
        struct fst_search *other = fst_load(text, n);
        n_stale += other == NULL && errno == ESTALE;
        assert_true(other != NULL || errno == ESTALE || errno == EBADMSG);
        fst_search_free(other);
        text[i] = kept;
    }
    assert_true(n_stale > 0);
    fst_text_free(text);
    fst_search_free(search);
}
