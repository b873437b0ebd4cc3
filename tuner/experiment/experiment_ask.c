/* tuner/experiment/experiment_ask: the questions of Erofeev 2021, appendix A, in their order, and their
 * answers as a configuration file. */
#include "tuner/experiment/experiment_ask.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MS          3600000U
#define MIN_RUN_MS      50U
#define MAX_WINDOW      64 /* of --warmup-window */
#define ASK_MAX_LEVELS  64
#define ASK_TEXT_SIZE   4096
#define ASK_NUMBER_SIZE 32

enum ask_factor { ASK_RS, ASK_QD, ASK_DIO, ASK_N_FACTORS };

struct ask_answers {
    bool is_sequential, reads;
    size_t n_levels[ASK_N_FACTORS];
    uint64_t levels[ASK_N_FACTORS][ASK_MAX_LEVELS];
    char warmup_coef[ASK_NUMBER_SIZE];
    uint64_t warmup_ms, warmup_window;
    char path[ASK_TEXT_SIZE]; /* not empty */
    uint64_t file_size_mib;
    bool is_own_file;            /* a new one takes the place of the file at path */
    char prepare[ASK_TEXT_SIZE]; /* "": none */
    uint64_t duration_ms, batch, replays;
};

struct ask {
    FILE *in, *out;
    bool is_terminal;
    unsigned line;
    char answer[ASK_TEXT_SIZE];
};

/* Takes the answer into `place`, or says what is wrong with it. */
struct question {
    const char *text;
    int (*take)(const struct question *question, const char *answer, void *place, struct err *err);
    uint64_t least, most;
};

/* ---- one question ---- */

/* The next line without blanks around it. */
static int read_answer(struct ask *ask, const char *text, struct err *err)
{
    ask->line++;
    int result = text_line(ask->in, ask->answer, sizeof ask->answer);
    if (result == -EIO)
        return err_sys(err, -EIO, "the answers cannot be read");
    if (result == -ENODATA)
        return err_set(err, -EINVAL,
                       "answers:%u: %s: the input ends here, with this and what follows not answered",
                       ask->line, text);
    if (result < 0)
        return err_set(err, -EINVAL, "answers:%u: %s: the answer is too long or no text", ask->line, text);
    size_t length = strlen(ask->answer), blanks = strspn(ask->answer, " \t");
    while (length > blanks && strchr(" \t\r", ask->answer[length - 1]) != NULL)
        length--;
    ask->answer[length] = '\0';
    memmove(ask->answer, ask->answer + blanks, length - blanks + 1);
    return 0;
}

static int put_question(struct ask *ask, const struct question *question, void *place, struct err *err)
{
    for (;;) {
        struct err why = {0};
        fprintf(ask->out, "%s: ", question->text);
        fflush(ask->out);
        int result = read_answer(ask, question->text, err);
        if (result < 0)
            return result;
        result = question->take(question, ask->answer, place, &why);
        if (result == 0 || result == -ENOMEM)
            return result;
        if (!ask->is_terminal)
            return err_set(err, -EINVAL, "answers:%u: %s: %s", ask->line, question->text, why.text);
        fprintf(ask->out, "  %s\n", why.text);
    }
}

/* ---- what an answer may be ---- */

static int take_flag(const struct question *question, const char *answer, void *place, struct err *err)
{
    uint64_t flag;
    (void)question;
    if (units_parse_count(answer, 1, &flag) < 0)
        return err_set(err, -EINVAL, "'%.60s' is neither 0 nor 1", answer);
    *(bool *)place = flag != 0;
    return 0;
}

static int take_count(const struct question *question, const char *answer, void *place, struct err *err)
{
    uint64_t count;
    if (units_parse_count(answer, question->most, &count) < 0 || count < question->least)
        return err_set(err, -EINVAL, "'%.60s' is no whole number of %" PRIu64 "..%" PRIu64, answer,
                       question->least, question->most);
    *(uint64_t *)place = count;
    return 0;
}

/* Kept as text: the configuration takes it as it is. */
static int take_coefficient(const struct question *question, const char *answer, void *place, struct err *err)
{
    double share;
    (void)question;
    if (strcmp(answer, "1") == 0)
        answer = "1.0";
    if (units_parse_share(answer, &share) < 0 || !(share > 0) || strlen(answer) >= ASK_NUMBER_SIZE)
        return err_set(err, -EINVAL, "'%.60s' is no number above 0 and up to 1, as in 0.15", answer);
    snprintf(place, ASK_NUMBER_SIZE, "%s", answer);
    return 0;
}

static int take_text(const struct question *question, const char *answer, void *place, struct err *err)
{
    if (strlen(answer) < question->least)
        return err_set(err, -EINVAL, "the answer is empty");
    for (const char *c = answer; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return err_set(err, -EINVAL, "a control character stands in it");
    }
    snprintf(place, ASK_TEXT_SIZE, "%s", answer);
    return 0;
}

/* ---- factors ---- */

/* `standard` is the original's level of a factor that is not varied. */
static const struct ask_factor_row {
    const char *name, *key, *text;
    uint64_t standard;
} factor_rows[ASK_N_FACTORS] = {
    [ASK_RS] = {"RS", "request_size",
                "\"RS\" for Request Size\n"
                "  Recommended range: [512B, 512MB], a multiple of 512 (in bytes, or as 64k)\n"
                "  Default: 64KB\n",
                65536},
    [ASK_QD] = {"QD", "queue_depth",
                "\"QD\" for Queue Depth\n"
                "  Recommended range: [1, 256]\n"
                "  Default: 8\n",
                8},
    [ASK_DIO] = {"DIO", "direct",
                 "\"DIO\" for Direct IO\n"
                 "  Range: {0, 1}\n"
                 "  Default: 0\n",
                 0},
};

struct factor_choice {
    struct ask_answers *answers;
    enum ask_factor factor;
};

static int take_factor(const struct question *question, const char *answer, void *place, struct err *err)
{
    struct factor_choice *choice = place;
    (void)question;
    for (enum ask_factor i = 0; i < ASK_N_FACTORS; i++) {
        if (strcmp(answer, factor_rows[i].name) != 0)
            continue;
        if (choice->answers->n_levels[i] > 0)
            return err_set(err, -EINVAL, "%s has its levels already; take another factor", answer);
        choice->factor = i;
        return 0;
    }
    return err_set(err, -EINVAL, "'%.60s' is unknown; it is RS, QD or DIO", answer);
}

static int check_size(uint64_t bytes, const char *answer, struct err *err)
{
    if (bytes < FACTORS_REQUEST_SIZE_MIN_BYTES || bytes > FACTORS_REQUEST_SIZE_MAX_BYTES)
        return err_set(err, -EINVAL, "'%.60s' is out of range; use 512..536870912 bytes", answer);
    if (bytes % 512 != 0)
        return err_set(err, -EINVAL, "'%.60s' is not a multiple of 512; use %" PRIu64 " or %" PRIu64, answer,
                       bytes / 512 * 512, bytes / 512 * 512 + 512);
    return 0;
}

static int take_level(const struct question *question, const char *answer, void *place, struct err *err)
{
    struct factor_choice *choice = place;
    uint64_t *levels = choice->answers->levels[choice->factor], level = 0;
    size_t n = choice->answers->n_levels[choice->factor];
    int result = 0;
    if (choice->factor != ASK_RS)
        result = take_count(question, answer, &level, err);
    else if (units_parse_size(answer, &level) < 0)
        result = err_set(err, -EINVAL, "'%.60s' is no size; write bytes, or use k and m, as in 64k", answer);
    else
        result = check_size(level, answer, err);
    for (size_t i = 0; i < n && result == 0; i++) {
        if (levels[i] == level)
            result = err_set(err, -EINVAL, "'%.60s' is level #%zu already", answer, i + 1);
    }
    if (result == 0)
        levels[choice->answers->n_levels[choice->factor]++] = level;
    return result;
}

static int ask_factor(struct ask *ask, struct ask_answers *answers, struct err *err)
{
    static const struct question name = {"Factor name [\"RS\", \"QD\", \"DIO\"]", take_factor, 0, 0};
    struct factor_choice choice = {.answers = answers};
    uint64_t n = 0;
    fputs("Reading factor.\nFactors are:\n", ask->out);
    for (size_t i = 0; i < ASK_N_FACTORS; i++)
        fputs(factor_rows[i].text, ask->out);
    int result = put_question(ask, &name, &choice, err);
    if (result < 0)
        return result;
    const struct question count = {"Factor levels count", take_count, 1,
                                   choice.factor == ASK_DIO ? 2 : ASK_MAX_LEVELS};
    result = put_question(ask, &count, &n, err);
    for (uint64_t i = 0; i < n && result == 0; i++) {
        char text[48];
        snprintf(text, sizeof text, "Factor level #%" PRIu64, i + 1);
        const struct question level = {text, take_level, choice.factor == ASK_QD,
                                       choice.factor == ASK_QD ? FACTORS_QUEUE_DEPTH_MAX : 1};
        result = put_question(ask, &level, &choice, err);
    }
    return result;
}

static int ask_factors(struct ask *ask, struct ask_answers *answers, struct err *err)
{
    static const struct question number = {"Number of factors", take_count, 1, ASK_N_FACTORS};
    uint64_t n = 0;
    fputs("Reading factors.\n", ask->out);
    int result = put_question(ask, &number, &n, err);
    for (uint64_t i = 0; i < n && result == 0; i++)
        result = ask_factor(ask, answers, err);
    for (size_t i = 0; i < ASK_N_FACTORS; i++) {
        if (answers->n_levels[i] == 0)
            answers->levels[i][answers->n_levels[i]++] = factor_rows[i].standard;
    }
    return result;
}

/* ---- all of them ---- */

static int ask_pattern(struct ask *ask, struct ask_answers *answers, struct err *err)
{
    static const struct question consecutive = {"Memory access is consecutive (random otherwise) [0 or 1]",
                                                take_flag, 0, 1};
    static const struct question reads = {"Memory access operation is read (write otherwise) [0 or 1]",
                                          take_flag, 0, 1};
    fputs("Please enter the description of the experiment.\nReading workload pattern.\n", ask->out);
    int result = put_question(ask, &consecutive, &answers->is_sequential, err);
    return result < 0 ? result : put_question(ask, &reads, &answers->reads, err);
}

/* What follows the factors: a heading or NULL, the question, where the answer goes. */
static int ask_rest(struct ask *ask, struct ask_answers *answers, struct err *err)
{
    const struct {
        const char *heading;
        struct question question;
        void *place;
    } rest[] = {
        {"Reading warmup parameters.\n",
         {"Threshold coefficient (double)", take_coefficient, 0, 0},
         answers->warmup_coef},
        {NULL, {"Max duration (ms)", take_count, 0, MAX_MS}, &answers->warmup_ms},
        {NULL,
         {"Sample size (used in calculating mean and std)", take_count, 2, 1000000},
         &answers->warmup_window},
        {"Reading environment parameters.\n", {"Filepath", take_text, 1, 0}, answers->path},
        {NULL, {"Filesize (MB)", take_count, 128, 1048576000}, &answers->file_size_mib},
        {NULL, {"Unlink file at filepath [0 or 1]", take_flag, 0, 1}, &answers->is_own_file},
        {NULL, {"Preparation script", take_text, 0, 0}, answers->prepare},
        {NULL, {"Test duration (ms)", take_count, MIN_RUN_MS, MAX_MS}, &answers->duration_ms},
        {NULL, {"Batch size", take_count, 1, 1000}, &answers->batch},
        {NULL, {"Replays", take_count, 1, 1000}, &answers->replays},
    };
    int result = 0;
    for (size_t i = 0; i < sizeof rest / sizeof rest[0] && result == 0; i++) {
        if (rest[i].heading != NULL)
            fputs(rest[i].heading, ask->out);
        result = put_question(ask, &rest[i].question, rest[i].place, err);
    }
    return result;
}

/* ---- the configuration file ---- */

static void put_quoted(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            fputc('\\', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s = ", key);
    put_quoted(out, text, strlen(text));
    fputs(";\n", out);
}

/* The levels from `least` on. */
static void put_levels(FILE *out, const struct ask_answers *answers, enum ask_factor factor, uint64_t least)
{
    const char *separator = "";
    char text[UNITS_TEXT_SIZE];
    fprintf(out, "%s = [", factor_rows[factor].key);
    for (size_t i = 0; i < answers->n_levels[factor]; i++) {
        uint64_t level = answers->levels[factor][i];
        if (level < least)
            continue;
        if (factor == ASK_RS)
            fprintf(out, "%s\"%s\"", separator, units_format_size(level, text));
        else
            fprintf(out, "%s%" PRIu64, separator, level);
        separator = ", ";
    }
    fputs("];", out);
}

/* pvec wants two buffers: depth 1 is a plain pread or pwrite. */
static void put_depths(FILE *out, const struct ask_answers *answers)
{
    bool one = false, more = false;
    for (size_t i = 0; i < answers->n_levels[ASK_QD]; i++) {
        one |= answers->levels[ASK_QD][i] == 1;
        more |= answers->levels[ASK_QD][i] > 1;
    }
    fputs("# The queue depth is the number of buffers of one call at one offset.\n", out);
    if (one && more) {
        fputs("tests = (\n  { queue_depth = 1; api = \"psync\"; },\n  { ", out);
        put_levels(out, answers, ASK_QD, 2);
        fputs(" api = \"pvec\"; }\n);\n", out);
        return;
    }
    put_levels(out, answers, ASK_QD, 0);
    fprintf(out, "\napi = \"%s\";\n", one ? "psync" : "pvec");
}

static void put_workload(FILE *out, const struct ask_answers *answers)
{
    static const char *const patterns[2][2] = {{"randwrite", "randread"}, {"write", "read"}};
    put_text(out, "pattern", patterns[answers->is_sequential][answers->reads]);
    put_levels(out, answers, ASK_RS, 0);
    fputc('\n', out);
    put_levels(out, answers, ASK_DIO, 0);
    fputc('\n', out);
    put_depths(out, answers);
    fputs("# The page cache stays as it is and nothing is flushed. What reaches the disk: cache = \"cold\", "
          "sync =\n"
          "# \"end\".\ncache = \"warm\";\n",
          out);
    if (!answers->reads)
        fputs("sync = \"none\";\n", out);
}

static void put_file(FILE *out, const struct ask_answers *answers)
{
    const char *slash = strrchr(answers->path, '/');
    if (!answers->is_own_file) {
        put_text(out, "existing", answers->path);
        if (!answers->reads)
            fputs("# The pattern writes into this file: overwrite = true; allows it.\n", out);
        return;
    }
    fputs("# A file without a name is measured there; one that exists is left as it is.\npath = ", out);
    if (slash == NULL)
        put_quoted(out, ".", 1);
    else
        put_quoted(out, answers->path, slash == answers->path ? 1 : (size_t)(slash - answers->path));
    fprintf(out, ";\nfile_size = \"%" PRIu64 "m\";\n", answers->file_size_mib);
    if (answers->prepare[0] != '\0')
        put_text(out, "prepare", answers->prepare);
}

static void put_runs(FILE *out, const struct ask_answers *answers)
{
    bool cut = answers->warmup_window > MAX_WINDOW;
    put_text(out, "warmup_coef", answers->warmup_coef);
    fprintf(out, "warmup_limit = \"%" PRIu64 "ms\";\n", answers->warmup_ms);
    if (cut)
        fprintf(out, "# Sample size %" PRIu64 " was asked for; %d is the most.\n", answers->warmup_window,
                MAX_WINDOW);
    fprintf(out, "warmup_window = %" PRIu64 ";\n", cut ? MAX_WINDOW : answers->warmup_window);
    fprintf(out, "duration = \"%" PRIu64 "ms\";\nbatch = %" PRIu64 ";\nreplays = %" PRIu64 ";\n",
            answers->duration_ms, answers->batch, answers->replays);
}

/* The caller frees it. 0 or -ENOMEM. */
static int write_configuration(const struct ask_answers *answers, char **ret_text, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return err_set(err, -ENOMEM, "no memory for the configuration");
    put_workload(out, answers);
    put_runs(out, answers);
    put_file(out, answers);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return err_set(err, -ENOMEM, "no memory for the configuration");
    }
    *ret_text = text;
    return 0;
}

int experiment_ask(FILE *in, FILE *out, char **ret_config_text, struct err *err)
{
    int fd = fileno(in);
    struct ask *ask = calloc(1, sizeof *ask);
    struct ask_answers *answers = calloc(1, sizeof *answers);
    int result = -ENOMEM;
    if (ask == NULL || answers == NULL) {
        (void)err_set(err, -ENOMEM, "no memory for the answers");
        goto out;
    }
    *ask = (struct ask){.in = in, .out = out, .is_terminal = fd >= 0 && isatty(fd) == 1};
    result = ask_pattern(ask, answers, err);
    if (result == 0)
        result = ask_factors(ask, answers, err);
    if (result == 0)
        result = ask_rest(ask, answers, err);
    if (result == 0)
        result = write_configuration(answers, ret_config_text, err);
out:
    free(ask);
    free(answers);
    return result;
}
