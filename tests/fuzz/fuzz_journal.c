/* Journals and answers of other runs: what is accepted is in range, and written out it reads back the same.
 */
#include "tests/fuzz/fuzz.h"

#include "tuner/search/prior.h"
#include "tuner/store/journal.h"

#include <math.h>

static void check_run(const struct journal_run *run)
{
    const struct sample *sample = &run->sample;
    FUZZ_CHECK(factors_check(&run->point, NULL) == 0);
    FUZZ_CHECK(run->at_seconds >= 0 && run->at_seconds <= 1e18);
    FUZZ_CHECK(sample->throughput_bps > 0 && sample->iops > 0 && sample->seconds > 0);
    FUZZ_CHECK(isfinite(log(sample->throughput_bps)) && sample->warmup_seconds >= 0);
    FUZZ_CHECK(isnan(sample->latency_mean_ns) || sample->latency_mean_ns > 0);
    FUZZ_CHECK((sample->warning_set >> WARNING_N) == 0);
}

static void check_run_again(const struct journal_run *run)
{
    struct journal_run again;
    json_t *line = journal_line_make(run);
    FUZZ_CHECK(line != NULL && journal_line_read(line, &again) == 0);
    FUZZ_CHECK(again.number == run->number && factors_equal(&again.point, &run->point));
    FUZZ_CHECK(again.sample.throughput_bps == run->sample.throughput_bps);
    FUZZ_CHECK(memcmp(&again.sample.latency_quantiles, &run->sample.latency_quantiles,
                      sizeof(struct latency_quantiles)) == 0);
    json_decref(line);
}

static void check_unfolded(const struct latency_quantiles *latency_quantiles)
{
    struct histogram histogram;
    histogram_init(&histogram);
    latency_quantiles_unfold(latency_quantiles, NAN, &histogram);
    FUZZ_CHECK(histogram.n == latency_quantiles->n);
}

static void check_journal(const char *text, size_t size)
{
    struct journal journal;
    (void)fuzz_refused(journal_parse(&journal, text, size, &fuzz_err));
    FUZZ_CHECK(journal.first <= journal.n_runs && journal.whole_bytes <= size);
    FUZZ_CHECK(journal.header != NULL || journal.n_runs == 0);
    for (size_t i = 0; i < journal.n_runs; i++) {
        check_run(&journal.runs[i]);
        check_run_again(&journal.runs[i]);
        check_unfolded(&journal.runs[i].sample.latency_quantiles);
    }
    journal_done(&journal);
}

static void check_prior(const char *text, size_t size)
{
    static struct prior_file file;
    if (!fuzz_refused(prior_parse(&file, text, size, &fuzz_err)))
        FUZZ_CHECK(file.n > 0);
    for (size_t i = 0; i < file.n; i++) {
        FUZZ_CHECK(factors_check(&file.points[i].point, NULL) == 0);
        FUZZ_CHECK(file.points[i].n > 0 && isfinite(log(file.points[i].mean_bps)));
    }
    prior_file_done(&file);
}

FUZZ_TEXT(text, size)
{
    check_journal(text, size);
    check_prior(text, size);
}
