/* Tests of the questions of Erofeev's benchmark. */
#include "tests/test.h"
#include "tuner/experiment/experiment_ask.h"

#include <errno.h>
#include <libconfig.h>
#include <pty.h>
#include <termios.h>

static struct err err;
static char *prompts, *config_text;
static config_t config;

/* The answers of the published example, in its order. */
#define PATTERN "0\n0\n"
#define SIZES   "RS\n4\n1024\n4096\n16384\n65536\n"
#define DEPTHS  "QD\n4\n1\n4\n16\n64\n"
#define WARMUP  "0.15\n1000\n100\n"
#define FILES   "testfile\n1024\n1\n\n"
#define RUNS    "5000\n10\n2\n"
#define EXAMPLE PATTERN "2\n" SIZES DEPTHS WARMUP FILES RUNS

static void forget(void)
{
    free(prompts);
    free(config_text);
    prompts = config_text = NULL;
    config_destroy(&config);
    config_init(&config);
}

FIXTURE(end_asking)
{
    forget();
    config_destroy(&config);
    return 0;
}

EACH_TEST(NULL, end_asking);

static int ask(FILE *in)
{
    forget();
    err = (struct err){0};
    FILE *out = memory_stream(&prompts);
    int result = experiment_ask(in, out, &config_text, &err);
    fclose(out);
    fclose(in);
    return result;
}

static int ask_text(const char *answers)
{
    FILE *in =
        answers[0] == '\0' ? fopen("/dev/null", "re") : fmemopen((char *)answers, strlen(answers), "r");
    assert_non_null(in);
    return ask(in);
}

/* Each text is PATH=VALUE, or PATH=absent, of the configuration. */
static void check_config(const char *const *expected)
{
    if (!config_read_string(&config, config_text))
        fail_msg("line %d: %s in\n%s", config_error_line(&config), config_error_text(&config), config_text);
    for (; *expected != NULL; expected++) {
        const char *value = strchr(*expected, '=') + 1, *text = "absent";
        char path[64], number[16];
        snprintf(path, sizeof path, "%.*s", (int)(value - 1 - *expected), *expected);
        const config_setting_t *setting = config_lookup(&config, path);
        snprintf(number, sizeof number, "%d", setting != NULL ? config_setting_get_int(setting) : 0);
        if (setting != NULL)
            text = config_setting_type(setting) == CONFIG_TYPE_STRING ? config_setting_get_string(setting)
                                                                      : number;
        if (strcmp(text, value) != 0)
            fail_msg("%s is %s instead of %s in\n%s", path, text, value, config_text);
    }
}

#define CHECK_CONFIG(...) check_config((const char *const[]){__VA_ARGS__, NULL})

TEST(the_published_example_becomes_a_configuration)
{
    if (ask_text(EXAMPLE) != 0)
        fail_msg("%s", err.text);
    CHECK_CONFIG("pattern=randwrite", "request_size.[0]=1k", "request_size.[3]=64k", "direct.[0]=0",
                 "tests.[0].queue_depth=1", "tests.[0].api=psync", "tests.[1].queue_depth.[0]=4",
                 "tests.[1].queue_depth.[2]=64", "tests.[1].api=pvec", "warmup_coef=0.15",
                 "warmup_limit=1000ms", "warmup_window=64", "path=.", "file_size=1024m", "duration=5000ms",
                 "batch=10", "replays=2", "sync=none", "prepare=absent", "existing=absent");
    assert_contains(config_text, "# Sample size 100");
}

TEST(questions_come_in_the_order_of_the_paper)
{
    static const char *const questions[] = {"Memory access is consecutive",
                                            "Memory access operation is read",
                                            "Number of factors:",
                                            "\"RS\" for Request Size",
                                            "\"QD\" for Queue Depth",
                                            "\"DIO\" for Direct IO",
                                            "Factor name",
                                            "Factor levels count:",
                                            "Factor level #1:",
                                            "Factor level #4:",
                                            "Factor name",
                                            "Factor level #4:",
                                            "Threshold coefficient (double):",
                                            "Max duration (ms):",
                                            "Sample size",
                                            "Filepath:",
                                            "Filesize (MB):",
                                            "Unlink file at filepath",
                                            "Preparation script:",
                                            "Test duration (ms):",
                                            "Batch size:",
                                            "Replays:"};
    assert_int_equal(ask_text(EXAMPLE), 0);
    const char *place = prompts;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        const char *found = strstr(place, questions[i]);
        if (found == NULL)
            fail_msg("'%s' is not asked after\n%s", questions[i], place);
        place = found + 1;
    }
}

TEST(what_is_not_varied_has_the_originals_default)
{
    if (ask_text("1\n1\n1\nDIO\n2\n0\n1\n" WARMUP "/data/dir/file\n128\n1\n./make it.sh\n" RUNS) != 0)
        fail_msg("%s", err.text);
    CHECK_CONFIG("pattern=read", "request_size.[0]=64k", "queue_depth.[0]=8", "api=pvec", "direct.[1]=1",
                 "path=/data/dir", "prepare=./make it.sh", "sync=absent", "tests=absent");
}

TEST(a_file_that_is_kept_is_not_overwritten_by_itself)
{
    if (ask_text("0\n0\n1\nQD\n1\n1\n" WARMUP "/a \"b\"\\c\n1024\n0\nscript\n" RUNS) != 0)
        fail_msg("%s", err.text);
    CHECK_CONFIG("existing=/a \"b\"\\c", "api=psync", "overwrite=absent", "path=absent", "file_size=absent");
    /* The original does not run the script then either. */
    assert_null(config_lookup(&config, "prepare"));
}

TEST(a_file_at_the_root_is_measured_there)
{
    assert_int_equal(ask_text("0\n1\n1\nQD\n1\n2\n 1 \n1000\n8\n/file\r\n1024\n1\n\n" RUNS), 0);
    CHECK_CONFIG("path=/", "warmup_coef=1.0", "warmup_window=8");
}

TEST(a_bad_answer_is_named_with_its_question_and_line)
{
    static const struct {
        const char *answers, *part;
    } cases[] = {
        {"", "answers:1: Memory access is consecutive"},
        {"yes\n",
         "answers:1: Memory access is consecutive (random otherwise) [0 or 1]: 'yes' is neither 0 nor 1"},
        {"0\n2\n", "answers:2: Memory access operation is read"},
        {PATTERN "0\n", "answers:3: Number of factors: '0' is no whole number of 1..3"},
        {PATTERN "4\n", "answers:3: Number of factors: '4'"},
        {PATTERN "1\nAPI\n", "answers:4: Factor name [\"RS\", \"QD\", \"DIO\"]: 'API' is unknown"},
        {PATTERN "1\nRS\n0\n", "answers:5: Factor levels count: '0'"},
        {PATTERN "1\nDIO\n3\n", "answers:5: Factor levels count: '3' is no whole number of 1..2"},
        {PATTERN "1\nRS\n1\n5000\n",
         "answers:6: Factor level #1: '5000' is not a multiple of 512; use 4608 or 5120"},
        {PATTERN "1\nRS\n1\n256\n", "answers:6: Factor level #1: '256' is out of range"},
        {PATTERN "1\nRS\n1\n4kb\n", "answers:6: Factor level #1: '4kb' is no size"},
        {PATTERN "1\nRS\n2\n4096\n4k\n", "answers:7: Factor level #2: '4k' is level #1 already"},
        {PATTERN "1\nQD\n1\n2000\n", "answers:6: Factor level #1: '2000' is no whole number of 1..1024"},
        {PATTERN "1\nDIO\n1\n2\n", "answers:6: Factor level #1: '2' is no whole number of 0..1"},
        {PATTERN "2\nQD\n1\n1\nQD\n",
         "answers:7: Factor name [\"RS\", \"QD\", \"DIO\"]: QD has its levels already"},
        {PATTERN "2\n" SIZES DEPTHS "0\n",
         "answers:16: Threshold coefficient (double): '0' is no number above 0"},
        {PATTERN "2\n" SIZES DEPTHS "1.5\n", "answers:16: Threshold coefficient (double): '1.5'"},
        {PATTERN "2\n" SIZES DEPTHS "0.15\n-1\n", "answers:17: Max duration (ms): '-1'"},
        {PATTERN "2\n" SIZES DEPTHS WARMUP "\n", "answers:19: Filepath: the answer is empty"},
        {PATTERN "2\n" SIZES DEPTHS WARMUP "a\tb\n", "answers:19: Filepath: a control character"},
        {PATTERN "2\n" SIZES DEPTHS WARMUP "testfile\n64\n", "answers:20: Filesize (MB): '64'"},
        {PATTERN "2\n" SIZES DEPTHS WARMUP FILES "10\n", "answers:23: Test duration (ms): '10'"},
        {PATTERN "2\n" SIZES DEPTHS WARMUP FILES "5000\n10\n", "answers:25: Replays: the input ends here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int result = ask_text(cases[i].answers);
        assert_int_equal(result, -EINVAL);
        assert_null(config_text);
        assert_contains(err.text, cases[i].part);
    }
}

TEST(an_endless_answer_is_refused)
{
    char answers[10000];
    memset(answers, '1', sizeof answers - 1);
    answers[sizeof answers - 1] = '\0';
    assert_int_equal(ask_text(answers), -EINVAL);
    CHECK_HAS(err.text, "answers:1: ", "too long");
}

TEST(a_terminal_is_asked_again)
{
    static const char answers[] =
        "maybe\n0\n0\n2\nRS\n4\n1024\n4095\n4096\n16384\n65536\n" DEPTHS WARMUP FILES RUNS;
    int ours, theirs;
    struct termios mode;
    assert_int_equal(openpty(&ours, &theirs, NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(theirs, &mode), 0);
    mode.c_lflag &= ~(tcflag_t)ECHO;
    assert_int_equal(tcsetattr(theirs, TCSANOW, &mode), 0);
    assert_int_equal(write(ours, answers, sizeof answers - 1), sizeof answers - 1);
    FILE *in = fdopen(theirs, "r");
    assert_non_null(in);
    if (ask(in) != 0)
        fail_msg("%s", err.text);
    CHECK_HAS(prompts, "'maybe' is neither 0 nor 1\nMemory access is consecutive",
              "'4095' is not a multiple of 512; use 3584 or 4096\nFactor level #2");
    assert_contains(config_text, "replays = 2;");
    close(ours);
}
