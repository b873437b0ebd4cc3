/* From the options of `predict write` to what the model says. */
#include "tuner/writes/predict.h"

#include "bench/base/rng.h"
#include "tuner/writes/extensions.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Refuses options that contradict each other or mean nothing here. 0 or -EINVAL with one line. */
static int check_prediction_options(const struct settings *settings, struct err *err)
{
    const struct settings_prediction *asked = &settings->prediction;
    const bool traced = asked->trace[0] != '\0', letters = strcmp(asked->picture, "-") == 0,
               csv_out = strcmp(asked->csv, "-") == 0;
    /* Options that mean something together with other options only. */
    const struct {
        bool is_there;
        const char *text;
    } conflicts[] = {
        {asked->host[0] == '\0',
         "--host is missing; give the file that fstune calibrate --path DIR -o host.conf writes"},
        {traced && asked->pattern_given, "--pattern: the writes come from --trace; leave one of them out"},
        {traced && asked->total_bytes > 0, "--total: the writes come from --trace; leave one of them out"},
        {traced && asked->request_size_bytes > 0,
         "--request-size: the writes come from --trace; leave one of them out"},
        {traced && asked->delay_ns > 0, "--delay: the writes come from --trace; leave one of them out"},
        {traced && asked->rewrite_share > 0,
         "--rewrite: the writes come from --trace; leave one of them out"},
        {!traced && asked->total_bytes == 0,
         "--total is missing; give the bytes that are written, as --total 8g, or the writes with --trace"},
        {!traced && asked->request_size_bytes == 0,
         "--request-size is missing; give the bytes of one write, as --request-size 1m"},
        {asked->rewrite_share > 0 && asked->random,
         "--rewrite: writes in random order have none before them to overlap; use --pattern write"},
        {asked->close && asked->mode != CAWL_STDIO, "--close is for --mode stdio, which has a buffer"},
        {settings->json && csv_out, "--json and --csv - both want standard output; give --csv a file"},
        {letters && (settings->json || csv_out),
         "--plot - wants standard output for itself; give it a file, as --plot costs.png"},
        {asked->validate && asked->mode == CAWL_NAIVE,
         "--validate: --mode naive cannot be made for real; it is compared with every other mode"},
        {asked->validate && letters, "--validate --plot: give it a file, as --plot costs.png"},
        {!asked->validate && asked->repetitions_given, "--repetitions is for --validate"},
        {!asked->validate && settings->limits.max_write_given, "--max-write is for --validate"},
        {!asked->validate && settings->dry_run,
         "--dry-run is for --validate; a prediction alone writes nothing"},
    };
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        if (conflicts[i].is_there)
            return err_set(err, -EINVAL, "%s", conflicts[i].text);
    }
    return 0;
}

int predict_open(struct predict *predict, const struct settings *settings, struct err *err)
{
    const struct settings_prediction *asked = &settings->prediction;
    memset(predict, 0, sizeof *predict);
    predict->settings = settings;
    predict->mode = (enum cawl_mode)asked->mode;
    predict->seed = settings->seed_given ? settings->seed : rng_seed_from_system() >> 1;
    int result = check_prediction_options(settings, err);
    if (result == 0)
        result = host_file_read(asked->host, &predict->host, err);
    if (result == 0)
        result = extensions_read(asked, predict->mode, &predict->host, &predict->options, err);
    predict->extended = extensions_any(&predict->options);
    if (result < 0)
        return result;
    return asked->trace[0] != '\0' ? write_load_read(asked->trace, &predict->load, err)
                                   : write_load_generate(asked, predict->seed, &predict->load, err);
}

static int ask_total(const struct predict *predict, const struct cawl_options *options, enum cawl_mode mode,
                     double *ret_s)
{
    struct cawl_prediction prediction = {0};
    int result =
        cawl_predict(&predict->host.host, options, mode, predict->load.chunks, predict->load.n, &prediction);
    if (result == 0)
        *ret_s = prediction.total_s;
    cawl_prediction_done(&prediction);
    return result;
}

int predict_run(struct predict *predict, struct err *err)
{
    static const struct cawl_options plain;
    int result = ask_total(predict, &plain, CAWL_NAIVE, &predict->naive_total_s);
    predict->plain_total_s = NAN;
    if (result == 0 && predict->extended)
        result = ask_total(predict, &plain, predict->mode, &predict->plain_total_s);
    if (result == 0)
        result = cawl_predict(&predict->host.host, &predict->options, predict->mode, predict->load.chunks,
                              predict->load.n, &predict->prediction);
    if (result == -ENOMEM)
        return err_set(err, result, "no memory for %zu writes", predict->load.n);
    return result < 0 ? err_set(err, result, "the model refuses these writes, this host or these options")
                      : 0;
}

void predict_done(struct predict *predict)
{
    cawl_prediction_done(&predict->prediction);
    write_load_done(&predict->load);
}
