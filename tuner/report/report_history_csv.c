/* tuner/report/report_history: replays for a spreadsheet. */
#include "tuner/report/report_history.h"

#include "tuner/base/csv.h"
#include "tuner/session/warnings.h"

#include <inttypes.h>

static void put_text(FILE *out, const char *text)
{
    csv_text(out, text);
    fputc(',', out);
}

static void put_number(FILE *out, double value)
{
    csv_number(out, value);
    fputc(',', out);
}

static void put_point(FILE *out, const struct point *point)
{
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%s,",
            point->request_size_bytes, factors_write_size_bytes(point), point->queue_depth, point->direct,
            api_names[point->api], point->threads, sync_names[point->sync]);
}

void report_history_csv_header(FILE *out)
{
    fputs("run,uuid,started_at,host,command,target,pattern,fingerprint,file_system,status,number,at_seconds,"
          "request_size,write_request_size,queue_depth,direct,api,threads,sync,throughput_bps,iops,"
          "latency_mean_ns,latency_p99_ns,achieved_depth,seconds,warmup_seconds,bytes,fresh,cut,aside,"
          "warnings,conditions\r\n",
          out);
}

static void put_warnings(FILE *out, uint64_t warning_set)
{
    bool any = false;
    fputc('"', out);
    for (unsigned i = 0; i < WARNING_N; i++) {
        if ((warning_set & WARNINGS_BIT(i)) != 0)
            fprintf(out, "%s%s", any ? " " : "", warnings_table[i].code);
        any |= (warning_set & WARNINGS_BIT(i)) != 0;
    }
    fputs("\",", out);
}

void report_history_csv(FILE *out, const struct history_info *info, const struct history_replay *replays,
                        size_t n)
{
    char at[REPORT_HISTORY_TIME_SIZE];
    for (size_t i = 0; i < n; i++) {
        const struct sample *sample = &replays[i].sample;
        const char *const texts[] = {info->uuid,
                                     report_history_time(info->started_s, at),
                                     info->host,
                                     info->command,
                                     info->target,
                                     info->pattern,
                                     info->fingerprint,
                                     info->file_system,
                                     history_status_names[info->status]};
        const double figures[] = {sample->throughput_bps, sample->iops,           sample->latency_mean_ns,
                                  sample->latency_p99_ns, sample->achieved_depth, sample->seconds,
                                  sample->warmup_seconds};
        fprintf(out, "%lld,", (long long)info->id);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            put_text(out, texts[k]);
        fprintf(out, "%" PRIu64 ",", replays[i].number);
        put_number(out, replays[i].at_seconds);
        put_point(out, &replays[i].point);
        for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
            put_number(out, figures[k]);
        fprintf(out, "%" PRIu64 ",%d,%d,%d,", sample->bytes, sample->confirming, sample->cut,
                replays[i].aside);
        put_warnings(out, sample->warning_set);
        csv_text(out, replays[i].conditions);
        fputs("\r\n", out);
    }
}
