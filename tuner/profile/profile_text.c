/* tuner/profile/profile_text: what a person reads of a profile. */
#include "tuner/profile/profile_document.h"

#include "bench/base/units.h"
#include "bench/profile/hardware_counters.h"
#include "tuner/base/text.h"
#include "tuner/profile/profile_advice.h"
#include "tuner/profile/profile_streams.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#define SHOWN_STREAMS 6
#define NAME_WIDTH    48
#define SEEN_ENOUGH   0.98

static void print_pattern(FILE *out, const struct summary *summary, const struct profile_advice *advice)
{
    const double *share = summary->share;
    char n[UNITS_TEXT_SIZE];
    if (!advice->has_pattern) {
        fprintf(out,
                "Pattern    too little seen: %" PRIu64
                " reads and writes of files, %d are needed; let the program do more\n",
                summary->n_requests, SUMMARY_LEAST_REQUESTS);
        return;
    }
    fprintf(out,
            "Pattern    %s: of %s requests %.1f %% read in sequence, %.1f %% at random, %.1f %% write in "
            "sequence, %.1f %% at random; +- %.1f points\n",
            advice->pattern, units_format_count((double)summary->n_requests, n),
            100 * share[SUMMARY_SEQ_READ], 100 * share[SUMMARY_RAND_READ], 100 * share[SUMMARY_SEQ_WRITE],
            100 * share[SUMMARY_RAND_WRITE], 100 * summary->margin);
}

static void print_sizes(FILE *out, const char *name, const struct summary_sizes *sizes)
{
    char text[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE];
    if (sizes->n == 0)
        return;
    fprintf(out, "%-11s", name);
    for (size_t i = 0; i < sizes->n_modes; i++)
        fprintf(out, "%s%s (%.0f %%)", i > 0 ? ", " : "", units_format_size(sizes->modes[i].value, text),
                100 * (double)sizes->modes[i].n / (double)sizes->n);
    fprintf(out, "%shalf of %" PRIu64 " are at most %s, 99 %% at most %s\n", sizes->n_modes > 0 ? "; " : "",
            sizes->n, units_format_size(sizes->p50, text), units_format_size(sizes->p99, p99));
}

static void print_depth(FILE *out, const struct recording *recording, const struct summary *summary)
{
    if (!(summary->depth_mean > 0)) {
        fputs("Depth      unknown\n", out);
        return;
    }
    fprintf(out, "Depth      %.1f in flight on average while any is, at most %" PRIu64 "%s",
            summary->depth_mean, summary->depth_max,
            summary->depth_max == FLIGHT_DEPTHS - 1 ? " or more" : "");
    if (recording->knows_calls)
        fprintf(out, "; %" PRIu64 " thread%s", summary->n_threads, summary->n_threads == 1 ? "" : "s");
    if (summary->async_share > 0)
        fprintf(out, ", %.0f %% asynchronous", 100 * summary->async_share);
    fputc('\n', out);
}

static void print_sync(FILE *out, const struct recording *recording, const struct summary *summary)
{
    if (summary->sizes[PROFILE_WRITE].n == 0 || !recording->knows_flushes)
        return;
    fputs("Durable    ", out);
    if (summary->sync == SUMMARY_SYNC_NONE)
        fputs("no write is flushed", out);
    if (summary->sync == SUMMARY_SYNC_EACH)
        fputs("each write by itself", out);
    if (summary->sync == SUMMARY_SYNC_END)
        fputs("by one flush of each file at its end", out);
    if (summary->sync == SUMMARY_SYNC_EVERY)
        fprintf(out, "by a flush every %.0f writes on average, every %" PRIu64 " mostly",
                summary->between_mean, summary->between_p50);
    fprintf(out, " (%" PRIu64 " flushes, %.0f %% of the writes)\n", recording->store->n_flushes,
            100 * summary->flushed_share);
}

static void print_place(FILE *out, const struct recording *recording, const struct summary *summary)
{
    char footprint[UNITS_TEXT_SIZE], set[UNITS_TEXT_SIZE], alignment[UNITS_TEXT_SIZE];
    fputs("Access     ", out);
    if (recording->knows_calls)
        fprintf(out, "%.0f %% direct, ", 100 * summary->direct_share);
    fprintf(out, "aligned to %s; %s touched", units_format_size(summary->alignment_bytes, alignment),
            units_format_bytes((uint64_t)summary->footprint_bytes, footprint));
    if (summary->working_set_bytes > 0)
        fprintf(out, ", a cache of %s would serve nine of ten later uses",
                units_format_bytes((uint64_t)summary->working_set_bytes, set));
    if (summary->skew.is_known && summary->skew.fits && summary->skew.theta > 0)
        fprintf(out, ", skewed as Zipf %.2f", summary->skew.theta);
    else if (summary->skew.is_known && !summary->skew.fits)
        fprintf(out, ", %.0f %% of the uses on the hottest tenth", 100 * summary->skew.share_of_hottest[1]);
    fputc('\n', out);
}

static void print_rate(FILE *out, const struct summary *summary)
{
    char rate[UNITS_TEXT_SIZE];
    double recorded_s = summary->seconds - summary->paused_s;
    if (!(recorded_s > 0)) {
        fputs("Rate       unknown\n", out);
        return;
    }
    if (!(summary->depth_mean > 0)) {
        fprintf(out, "Rate       %s over %.2f s\n", units_format_rate(summary->mean_bps, rate), recorded_s);
        return;
    }
    fprintf(out,
            "Rate       %s over %.2f s, busy %.0f %% of it; %.2f s in reads, %.2f s in writes, %.2f s in "
            "flushes\n",
            units_format_rate(summary->mean_bps, rate), recorded_s, 100 * summary->busy_share,
            summary->spent_s[PROFILE_READ], summary->spent_s[PROFILE_WRITE], summary->flush_s);
}

static void print_stream(FILE *out, const struct profile_stream *stream, double n_all)
{
    char name[STORE_NAME_SIZE], shown[STORE_NAME_SIZE], size[UNITS_TEXT_SIZE];
    double n = (double)profile_streams_requests(stream);
    text_printable(stream->name[0] != '\0' ? stream->name : "(name unknown)", name, sizeof name);
    size_t length = strlen(name), skipped = length > NAME_WIDTH ? length - NAME_WIDTH : 0;
    snprintf(shown, sizeof shown, "%s", name + skipped);
    fprintf(out, "  %-*s %-5s %3.0f %%  %3.0f %% in sequence", NAME_WIDTH, shown,
            stream->direction == PROFILE_READ ? "read" : "write", 100 * n / n_all,
            100 * (double)stream->n[STREAM_SEQUENTIAL] / n);
    if (profile_streams_strides(stream))
        fprintf(out, ", %.0f %% in steps of %" PRId64, 100 * (double)stream->n[STREAM_STRIDED] / n,
                stream->stride_bytes);
    fprintf(out, ", %s\n", units_format_size(stream->size_bytes, size));
}

static void print_streams(FILE *out, const struct recording *recording, const struct summary *summary)
{
    struct profile_stream streams[PROFILE_STREAMS_MOST];
    size_t n_more, n = profile_streams_find(recording->store, streams, &n_more);
    if (n == 0)
        return;
    fputs("\nStreams\n", out);
    for (size_t i = 0; i < n && i < SHOWN_STREAMS; i++)
        print_stream(out, &streams[i], (double)summary->n_requests);
    if (n + n_more > SHOWN_STREAMS)
        fprintf(out, "  and %zu more\n", n + n_more - SHOWN_STREAMS);
}

static void print_unseen(FILE *out, const struct recording *recording, const struct summary *summary)
{
    const uint64_t *count = recording->store->count;
    double seen = profile_document_seen_share(recording);
    char bytes[UNITS_TEXT_SIZE];
    if (summary->n_lost + summary->n_unjudged > 0)
        fprintf(out,
                "Lost       %" PRIu64 " requests found no place in the store, give --store more; %" PRIu64
                " could not be followed\n",
                summary->n_unjudged, summary->n_lost);
    if (seen < SEEN_ENOUGH)
        fprintf(
            out,
            "Unseen     %.0f %% of the bytes of reads and writes went past the wrappers: by the C library's "
            "own streams (fread, fwrite ...), or by a process without the library; --source trace sees "
            "them\n",
            100 * (1 - seen));
    if (count[STORE_MAPS] > 0)
        fprintf(out, "Unseen     what was read and written through %" PRIu64 " mapped files (%s)\n",
                count[STORE_MAPS], units_format_bytes(count[STORE_MAPPED_BYTES], bytes));
    if (count[STORE_RINGS] > 0 && strcmp(recording->source, "trace") == 0)
        fputs("Unseen     requests through io_uring, of which this kernel tells otherwise\n", out);
    else if (count[STORE_RINGS] > 0)
        fprintf(out,
                "Unseen     requests through %" PRIu64
                " io_uring rings that the program runs without liburing; --source trace sees them\n",
                count[STORE_RINGS]);
    if (recording->n_refused > 0)
        fprintf(out, "Unseen     %" PRIu64 " line%s that could not be understood\n", recording->n_refused,
                recording->n_refused == 1 ? "" : "s");
}

static void print_event(FILE *out, const struct hardware_count *count, const struct summary *summary,
                        double seconds)
{
    char n[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    fprintf(out, "  %-*s ", NAME_WIDTH, count->name);
    if (!count->is_known) {
        fputs("unknown: it never had a counter, others had them all\n", out);
        return;
    }
    fprintf(out, "%8s", units_format_count(count->n, n));
    if (summary->n_requests > 0)
        fprintf(out, "  %.3g a request", count->n / (double)summary->n_requests);
    if (seconds > 0)
        fprintf(out, "  %s a second", units_format_count(count->n / seconds, rate));
    if (!count->has_kernel)
        fputs("  outside the kernel", out);
    if (count->running_share < 1)
        fprintf(out, "  scaled: counted in %.0f %% of the time", 100 * count->running_share);
    fputc('\n', out);
}

static void print_hardware(FILE *out, const struct recording *recording, const struct summary *summary)
{
    const struct hardware_count *count = hardware_counters_get(recording->hardware, 0);
    if (recording->hardware == NULL)
        return;
    if (count == NULL) {
        fputs("\nHardware   this machine counts no events of its processor\n", out);
        return;
    }
    fputs("\nHardware\n", out);
    for (size_t i = 0; (count = hardware_counters_get(recording->hardware, i)) != NULL; i++)
        print_event(out, count, summary, hardware_counters_seconds(recording->hardware));
}

/* The program itself said that it is not to be recorded. */
static void print_pause(FILE *out, const struct summary *summary)
{
    if (summary->paused_s > 0)
        fprintf(out, "Paused     %.2f s of %.2f s, by the program; figures are of the rest\n",
                summary->paused_s, summary->seconds);
}

static void print_end(FILE *out, const struct recording *recording)
{
    int status = recording->end.status;
    if (recording->command == NULL || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return;
    if (WIFEXITED(status))
        fprintf(out, "Command    ended with exit code %d\n", WEXITSTATUS(status));
    else
        fprintf(out, "Command    was ended by signal %d\n", WTERMSIG(status));
}

void profile_text_print(FILE *out, const struct recording *recording, const struct summary *summary,
                        const char *saved)
{
    struct profile_advice advice;
    profile_advice_make(&advice, summary);
    print_pattern(out, summary, &advice);
    if (summary->n_requests > 0) {
        print_sizes(out, "Reads", &summary->sizes[PROFILE_READ]);
        print_sizes(out, "Writes", &summary->sizes[PROFILE_WRITE]);
        print_depth(out, recording, summary);
        print_sync(out, recording, summary);
        print_place(out, recording, summary);
        print_rate(out, summary);
    }
    print_pause(out, summary);
    print_unseen(out, recording, summary);
    print_end(out, recording);
    print_streams(out, recording, summary);
    profile_phases_print(out, recording->store);
    profile_phases_print_marks(out, recording->store);
    print_hardware(out, recording, summary);
    if (advice.has_pattern && saved[0] != '\0')
        fprintf(out, "\nUse        fstune recommend --for %s\n", saved);
    else if (advice.has_pattern)
        fputs("\nUse        give --output profile.json, then fstune recommend --for profile.json\n", out);
}
