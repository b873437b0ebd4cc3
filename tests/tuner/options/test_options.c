/* Tests of tuner/options/options: every setter, the walk over the command line, and hints. */
#include "bench/io/warmup.h"
#include "bench/target/target.h"
#include "models/cawl/cawl.h"
#include "tests/tuner/options/options_rig.h"
#include "tuner/options/options_set.h"

static void check_levels(enum factor factor, const uint64_t *expected, size_t n)
{
    assert_int_equal(settings.workload.levels[factor].n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(settings.workload.levels[factor].value[i], expected[i]);
}

#define assert_levels(factor, ...)                                                                           \
    check_levels((factor), (const uint64_t[]){__VA_ARGS__}, N_OF(((const uint64_t[]){__VA_ARGS__})))

TEST(nothing_given_leaves_the_defaults)
{
    struct settings defaults;
    settings_init(&defaults);
    assert_int_equal(RECOMMEND(NULL), 0);
    assert_memory_equal(&settings, &defaults, sizeof(settings));
    assert_string_equal(settings.file.path, ".");
    assert_int_equal(settings.runs.duration_ns, 0);
    assert_true(settings.runs.warmup_limit_ns == UINT64_MAX);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].n, 0);
    assert_false(settings.workload.pattern_given);
}

TEST(measure_has_its_own_duration_and_warmup_limit)
{
    assert_int_equal(MEASURE(NULL), 0);
    assert_true(settings.runs.duration_ns == 2 * NS_PER_S && settings.runs.warmup_limit_ns == 30 * NS_PER_S);
    assert_int_equal(MEASURE("--warmup-limit=0s", "--duration=50ms"), 0);
    assert_true(settings.runs.duration_ns == 50000000 && settings.runs.warmup_limit_ns == 0);
}

TEST(the_ring_is_modern_but_for_virtual_machines)
{
    assert_int_equal(RECOMMEND(NULL), 0);
    assert_true(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--io-uring-ring=plain"), 0);
    assert_false(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--emit=qemu"), 0);
    assert_false(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--emit=kubevirt", "--io-uring-ring=modern"), 0);
    assert_true(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--emit=libvirt", "--io-uring-cooperative"), 0);
    assert_true(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--emit=postgresql"), 0);
    assert_true(settings_wants_modern_ring(&settings));
    assert_int_equal(RECOMMEND("--io-uring-ring=plain", "--io-uring-cooperative"), -EINVAL);
    assert_string_equal(err.text, "--io-uring-cooperative: is given beside --io-uring-ring, which sets the "
                                  "same; keep one");
}

TEST(doctor_has_a_small_file_unless_another_is_asked_for)
{
    assert_int_equal(PARSE(OPTIONS_DOCTOR, "--quiet"), 0);
    assert_true(settings.file.size_bytes == 128ULL << 20 && !settings.file.size_given);
    assert_int_equal(PARSE(OPTIONS_DOCTOR, "--file-size=2g"), 0);
    assert_true(settings.file.size_bytes == 2ULL << 30 && settings.file.size_given);
    assert_int_equal(PARSE(OPTIONS_DOCTOR, "--pattern=read"), -EINVAL);
}

/* The value behind a row, whatever its type, as bytes. */
static size_t size_of_place(const struct option_row *row)
{
    if (row->set == options_set_count)
        return sizeof(uint32_t);
    if (row->set == options_set_choice || row->set == options_set_format)
        return sizeof(unsigned);
    if (row->set == options_set_text || row->set == options_set_path || row->set == options_set_name ||
        row->set == options_set_design)
        return strlen(row->default_text) + 1;
    return sizeof(uint64_t);
}

TEST(defaults_that_help_states_are_those_that_settings_hold)
{
    static const char *const in_words[] = {"required", "chosen from the budget", "none", "as long as a run",
                                           "the request size"};
    struct settings defaults, stated;
    size_t n_compared = 0;
    settings_init(&defaults);
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        bool is_word =
            row->default_text[0] == '\0' || row->set == options_set_seed || row->set == options_set_current;
        for (size_t w = 0; w < N_OF(in_words); w++)
            is_word |= strcmp(row->default_text, in_words[w]) == 0;
        if (is_word)
            continue;
        memset(&stated, 0xA5, sizeof(stated));
        stated.experiment.on = stated.prediction.on = stated.file.one_more = false;
        assert_int_equal(options_set(&stated, row, row->default_text, &err), 0);
        if (row->set == options_set_levels)
            continue;
        assert_memory_equal((char *)&stated + row->place, (char *)&defaults + row->place, size_of_place(row));
        n_compared++;
    }
    assert_int_equal(n_compared, 48);
}

TEST(defaults_are_those_of_the_parts_that_they_are_for)
{
    settings_init(&settings);
    assert_close(settings.runs.warmup_coef_share, WARMUP_COEF_DEFAULT, 0.0);
    assert_int_equal(settings.runs.warmup_window, WARMUP_WINDOW_DEFAULT);
    assert_int_equal(settings.runs.batch_requests, WARMUP_BATCH_DEFAULT);
    assert_int_equal(settings.file.size_bytes, TARGET_SIZE_DEFAULT_BYTES);
    assert_int_equal(settings.workload.cache, MEASURE_CACHE_COLD);
    assert_int_equal(settings.prediction.mode, CAWL_NOSYNC);
    assert_true(settings.search.objective == OBJECTIVE_THROUGHPUT &&
                settings.search.profile == PROFILE_MAX_THROUGHPUT);
}

TEST(every_row_is_whole_and_unique)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        assert_non_null(row->range);
        assert_non_null(row->default_text);
        assert_true(strlen(row->help) > 0);
        assert_non_null(row->set);
        for (unsigned command = 1; command <= OPTIONS_ADVISE; command *= 2) {
            if ((row->commands & command) != 0)
                assert_ptr_equal(options_find(row->name, command), row);
        }
        if (row->alias_of != NULL && strcmp(row->name, "json") != 0)
            assert_non_null(options_find(row->alias_of, row->commands));
        for (const char *at = row->needs; at != NULL && *at != '\0'; at += *at == ',') {
            char name[64];
            size_t length = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            assert_non_null(options_find(name, row->commands));
            at += length;
        }
    }
}

TEST(numbers_of_every_kind_are_read)
{
    assert_int_equal(RECOMMEND("--file-size", "2G", "--budget=1.5h", "--tolerance", "5%",
                               "--confidence=0.999", "--seed=9223372036854775807"),
                     0);
    assert_true(settings.file.size_bytes == 2ULL << 30 && settings.file.size_given);
    assert_true(settings.limits.budget_ns == 5400 * NS_PER_S);
    assert_close(settings.search.tolerance_share, 0.05, 0.0);
    assert_close(settings.runs.confidence_share, 0.999, 0.0);
    assert_true(settings.seed == INT64_MAX && settings.seed_given);
    assert_int_equal(MEASURE("--replays=1000", "--warmup-window", "64", "--batch=1", "--warmup-coef=100%"),
                     0);
    assert_int_equal(settings.runs.replays, 1000);
    assert_int_equal(settings.runs.warmup_window, 64);
    assert_int_equal(settings.runs.batch_requests, 1);
    assert_close(settings.runs.warmup_coef_share, 1.0, 0.0);
    assert_int_equal(
        RECOMMEND("--max-latency-p99=5ms", "--max-write=0", "--prepare=s", "--prepare-timeout=2m"), 0);
    assert_int_equal(settings.search.max_latency_p99_ns, 5000000);
    assert_true(settings.limits.max_write_bytes == 0 && settings.limits.max_write_given);
    assert_int_equal(settings.file.prepare_timeout_ns, 120 * NS_PER_S);
}

TEST(words_and_flags_are_read)
{
    assert_int_equal(RECOMMEND("--pattern=rw", "--objective=latency", "--method", "grid", "--cache=warm",
                               "--path", "/x y"),
                     0);
    assert_true(settings.workload.pattern_given && settings.workload.cache_given);
    assert_string_equal(settings.workload.pattern.name, "rw:50");
    assert_int_equal(settings.search.objective, OBJECTIVE_LATENCY);
    assert_string_equal(settings.search.method, "grid");
    assert_int_equal(settings.workload.cache, MEASURE_CACHE_WARM);
    assert_string_equal(settings.file.path, "/x y");
    assert_int_equal(RECOMMEND("--json", "--quiet", "--dry-run", "--overwrite", "--advise", "--shared-region",
                               "--shared-file", "--no-lock", "--existing=f", "--clients=1..4"),
                     0);
    assert_true(settings.json && settings.quiet && settings.dry_run && settings.file.overwrite);
    assert_true(settings.workload.advise && settings.workload.shared_region && settings.file.shared &&
                settings.file.no_lock && settings.workload.clients.value[2] == 4);
}

TEST(range_holds_the_powers_of_two)
{
    assert_int_equal(RECOMMEND("--request-size=4k..1m", "--queue-depth=1..8", "--threads=2..2"), 0);
    assert_levels(FACTOR_REQUEST_SIZE, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576);
    assert_levels(FACTOR_QUEUE_DEPTH, 1, 2, 4, 8);
    assert_levels(FACTOR_THREADS, 2);
    assert_int_equal(RECOMMEND("--request-size=512..512m"), 0);
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].n, 21);
}

TEST(lists_become_ascending_and_distinct)
{
    assert_int_equal(RECOMMEND("--request-size=1m,4k,64k,4096", "--queue-depth=3,1..4", "--direct=1,0",
                               "--api=io_uring,psync", "--sync=each,none"),
                     0);
    assert_levels(FACTOR_REQUEST_SIZE, 4096, 65536, 1048576);
    assert_levels(FACTOR_QUEUE_DEPTH, 1, 2, 3, 4);
    assert_levels(FACTOR_DIRECT, 0, 1);
    assert_levels(FACTOR_API, API_PSYNC, API_IO_URING);
    assert_levels(FACTOR_SYNC, SYNC_NONE, SYNC_EACH);
}

TEST(at_most_64_levels_fit)
{
    char list[512] = "--queue-depth=1";
    for (int i = 2; i <= 64; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%d", i);
    assert_int_equal(RECOMMEND(list), 0);
    assert_int_equal(settings.workload.levels[FACTOR_QUEUE_DEPTH].n, 64);
    snprintf(list + strlen(list), sizeof(list) - strlen(list), ",65");
    assert_int_equal(RECOMMEND(list), -EINVAL);
    assert_string_equal(err.text, "--queue-depth: too many values; give at most 64");
}

TEST(loads_beside_are_read_and_collected)
{
    const struct settings_beside *beside = &settings.beside;
    assert_int_equal(RECOMMEND("--beside", "write:8k,queue_depth=2,sync=each,rate=5m", "--beside",
                               "randrw:70:4k,direct=1", "--beside-limit=p99=5ms"),
                     0);
    assert_int_equal(beside->n, 2);
    assert_string_equal(beside->load[0].pattern.name, "write");
    assert_true(beside->load[0].request_bytes == 8192 && beside->load[0].queue_depth == 2 &&
                beside->load[0].sync_each && !beside->load[0].direct && beside->load[0].rate_bps == 5 << 20);
    assert_string_equal(beside->load[1].pattern.name, "randrw:70");
    assert_true(beside->load[1].request_bytes == 4096 && beside->load[1].queue_depth == 1 &&
                !beside->load[1].sync_each && beside->load[1].direct && beside->load[1].rate_bps == 0);
    assert_string_equal(beside->text[1], "randrw:70:4k,direct=1");
    assert_int_equal(beside->limit_p99_ns, 5000000);
    assert_int_equal(RECOMMEND("--beside-limit=p99=5ms"), -EINVAL);
}

TEST(current_names_single_values)
{
    assert_int_equal(RECOMMEND("--current=request_size=64k,direct=1,api=libaio"), 0);
    assert_true(settings.search.current_given);
    assert_true(settings.search.current.given[FACTOR_REQUEST_SIZE] &&
                settings.search.current.given[FACTOR_DIRECT]);
    assert_false(settings.search.current.given[FACTOR_QUEUE_DEPTH]);
    assert_int_equal(settings.search.current.value[FACTOR_REQUEST_SIZE], 65536);
    assert_int_equal(settings.search.current.value[FACTOR_DIRECT], 1);
    assert_int_equal(settings.search.current.value[FACTOR_API], API_LIBAIO);
}

/* What every parser refuses, by option. */
static const struct {
    const char *option;
    const char *garbage[16];
} garbage_of[] = {
    {"request-size",
     {"4q", "-1", "1e99k", "", " 4k", "4k ", "4k..", "..4k", "..", "1m..4k", "4k,,8k", ",4k", "4k,", "6k..1m",
      "18446744073709551616", "4k...8k"}},
    {"request-size",
     {"0", "511", "513m", "5000", "4k..6k", "99999999999t", "0x1000", "4kb", "4k;8k", "4.5k", "+4k"}},
    {"queue-depth",
     {"0", "1025", "-1", "4k", "", "1..1025", "0..8", "3..8", "8..1", "1e2", "99999999999999999999"}},
    {"threads", {"0", "65", "", "1.0", "two"}},
    {"direct", {"2", "", "yes", "0..1", "00x", "true", "-0"}},
    {"api", {"", "PSYNC", "psync,", "aio", "psync..pool", "io-uring"}},
    {"sync", {"", "end,,each", "fsync", "0"}},
    {"pattern", {"", "rnadwrite", "rw:101", "read:50", "seq-read=40", "rw:"}},
    {"file-size", {"", "0", "1023k", "1001t", "1.5g", "g", "-1g"}},
    {"budget",
     {"", "60", "0s", "999ms", "169h", "60 s", "1e3s", "-5s", "60S", "10min", "999999999999999999h"}},
    {"duration", {"", "49ms", "61m", "2", "h"}},
    {"prepare-timeout", {"", "25h", "10"}},
    {"tolerance", {"", "3", "0", "0%", "50.1%", "0.51", "-3%", "1e-2", "3 %", "101%", "nan", ".03"}},
    {"confidence", {"", "95", "49%", "99.95%", "1.0"}},
    {"warmup-coef", {"", "0%", "15", "101%"}},
    {"max-latency-p99", {"", "0ms", "5", "999ns", "5m"}},
    {"max-write", {"", "-1", "1001t", "64gb"}},
    {"replays", {"", "0", "1001", "5.0", "4294967301", "five"}},
    {"warmup-window", {"1", "65", "4294967304"}},
    {"batch", {"0", "1001", "4294967306"}},
    {"seed", {"", "-1", "9223372036854775808", "0x10", "1.0"}},
    {"objective", {"", "latenc", "throughput|iops", "IOPS", "p999", "|"}},
    {"profile", {"", "low", "balanced|low-latency", "max_throughput", "|"}},
    {"rate-floor", {"", "0%", "25", "101%"}},
    {"cache", {"", "hot", "coldwarm"}},
    {"method", {"", "GP", "auto|", "bayes"}},
    {"path", {""}},
    {"accept",
     {"", "nothing", "not_cold,", ",not_cold", "not_cold not_settled", "NOT_COLD", "not_cold;steal"}},
    {"existing", {""}},
    {"destroy-device", {"", "0", "511", "-1", "64mb", "all"}},
    {"beside",
     {"", "write", "write:", ":8k", "write:8k,", "write:8k,,rate=1m", "write:500", "writ:8k", "write:8k,rate",
      "write:8k,rate=", "write:8k,queue_depth=0", "write:8k,queue_depth=65", "write:8k,api=psync",
      "read:8k,sync=each", "write:8k,sync=end"}},
    {"beside-limit", {"", "5ms", "p99=", "p99=5", "p99=0ms", "p50=5ms"}},
    {"set-dirty-limits", {"64m", "64m,64m", "1m,2m,3m", "1k,2m", ""}},
    {"target-version", {"", "0", "9.", "9..2", "v9", "9.2-rc1", "99999", "1.2.3.4", "-1"}},
    {"current",
     {"", "request_size", "request_size=", "request-size=4k", "request_size=4k..8k", "direct=0,direct=1",
      "budget=60s", "=4k", "request_size=5000", "direct=0,", "queue_depth=0"}},
};

TEST(garbage_is_refused_and_changes_nothing)
{
    struct settings before;
    settings_init(&before);
    for (size_t i = 0; i < N_OF(garbage_of); i++) {
        const struct option_row *row = options_find(garbage_of[i].option, ~0U);
        unsigned command = row->commands & -row->commands; /* the first that knows it */
        for (size_t g = 0; g < N_OF(garbage_of[i].garbage) && garbage_of[i].garbage[g]; g++) {
            char argument[128], prefix[64];
            snprintf(argument, sizeof(argument), "--%s=%s", row->name, garbage_of[i].garbage[g]);
            snprintf(prefix, sizeof(prefix), "--%s: ", row->name);
            int r = PARSE(command, argument);
            if (r != -EINVAL || strncmp(err.text, prefix, strlen(prefix)) != 0)
                fail_msg("%s: %d \"%s\"", argument, r, err.text);
            assert_memory_equal(&settings, &before, sizeof(settings));
        }
    }
}

TEST(text_that_does_not_fit_is_refused)
{
    static char argument[SETTINGS_TEXT_SIZE + 16] = "--path=";
    memset(argument + 7, 'x', SETTINGS_TEXT_SIZE - 1);
    assert_int_equal(RECOMMEND(argument), 0);
    assert_int_equal(strlen(settings.file.path), SETTINGS_TEXT_SIZE - 1);
    argument[7 + SETTINGS_TEXT_SIZE - 1] = 'x';
    assert_int_equal(RECOMMEND(argument), -EINVAL);
    assert_string_equal(settings.file.path, ".");
}

/* The commoner ones are in tests/golden/expected/wrong. */
TEST(errors_say_what_to_write)
{
    static const struct {
        const char *argument, *text;
    } errors[] = {
        {"--budget=soon", "--budget: 'soon' is not a duration; write a number with us, ms, s, m or h"},
        {"--budget=10min", "--budget: '10min' is not how a duration is written; write 10m"},
        {"--file-size=10GB",
         "--file-size: '10GB' is not how a size is written; write 10g (k, m, g and t are powers of 1024)"},
        {"--request-size=4k,64kB",
         "--request-size: '64kB' is not how a size is written; write 64k (k, m, g and t are powers of 1024)"},
        {"--current=request_size=4KiB", "--current: request_size: '4KiB' is not how a size is written; write "
                                        "4k (k, m, g and t are powers of 1024)"},
        {"--tolerance=1.5", "--tolerance: '1.5' can be misread; write 1.5% or 0.015"},
        {"--request-size=6k..1m",
         "--request-size: '6k..1m': 6k is not a power of two; a range begins and ends with one"},
        {"--request-size=4k..", "--request-size: '4k..' lacks an end; write both, as LOW..HIGH"},
        {"--request-size=4k,,8k",
         "--request-size: a value is missing; write values with single commas between"},
        {"--current=request_size=5000",
         "--current: request_size: 5000 is not a multiple of 512; use 4608 or 5120"},
        {"--current=direct=0,direct=0", "--current: direct is given twice; keep one"},
        {"--request_size=4k", "--request_size: unknown option; did you mean --request-size?"},
        {"--req=4k", "--req: unknown option; did you mean --request-size?"},
        {"--path", "--path: the value is missing; write --path=DIR"},
        {"--", "'--' is not an option; options are --NAME VALUE, see --help"},
        {"--overwrite", "--overwrite: does nothing without --existing"},
        {"--rate-floor=50%", "--rate-floor: does nothing without --profile or --profiles"},
        {"--bus=nvme", "--bus: does nothing without --emit"},
    };
    for (size_t i = 0; i < N_OF(errors); i++) {
        assert_int_equal(RECOMMEND(errors[i].argument), -EINVAL);
        assert_string_equal(err.text, errors[i].text);
        assert_int_equal(err.code, -EINVAL);
    }
}

TEST(with_any_of_those_that_it_needs_an_option_is_taken)
{
    assert_int_equal(RECOMMEND("--overwrite", "--existing", "f"), 0);
    assert_int_equal(RECOMMEND("--rate-floor", "50%", "--profiles"), 0);
    assert_int_equal(RECOMMEND("--rate-floor", "50%", "--profile", "low-latency"), 0);
    /* A command that does not know what an option needs takes it alone. */
    assert_int_equal(PARSE(OPTIONS_EMIT, "--bus", "nvme"), 0);
}

TEST(endless_names_are_refused)
{
    char argument[400] = "--";
    memset(argument + 2, 'b', sizeof(argument) - 3);
    assert_int_equal(RECOMMEND(argument), -EINVAL);
    assert_non_null(strstr(err.text, "unknown option"));
}

TEST(option_in_the_place_of_a_value_is_not_eaten)
{
    assert_int_equal(RECOMMEND("--path", "--json"), -EINVAL);
    assert_int_equal(RECOMMEND("--path=--json"), 0);
    assert_string_equal(settings.file.path, "--json");
}

TEST(what_takes_one_value_is_refused_twice)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        unsigned command = row->commands & -row->commands;
        char argument[128];
        const char *value = row->set == options_set_files    ? "f"
                            : row->set == options_set_beside ? "read:4k"
                                                             : options_default_text(row, command);
        snprintf(argument, sizeof argument, "--%s%s%s", row->name, row->argument != NULL ? "=" : "",
                 row->argument != NULL ? value : "");
        /* The defaults that are words cannot be written. */
        if (row->argument != NULL && PARSE(command, argument) < 0 &&
            strstr(err.text, "nothing without") == NULL)
            continue;
        int r = PARSE(command, argument, argument);
        bool collects = row->set == options_set_files || row->set == options_set_beside ||
                        (command == OPTIONS_RECOMMEND &&
                         (row->set == options_set_path || row->set == options_set_existing));
        if (collects ? r != 0 : r != -EINVAL || strstr(err.text, ": is given twice; keep one") == NULL)
            fail_msg("%s: %d \"%s\"", argument, r, err.text);
    }
    assert_int_equal(RECOMMEND("--budget=10s", "--request-size=8k", "--budget", "20s"), -EINVAL);
    assert_string_equal(err.text, "--budget: is given twice; keep one");
}

TEST(json_is_a_name_of_the_format_json)
{
    assert_int_equal(RECOMMEND("--json"), 0);
    assert_true(settings.json && settings.format == FORMAT_JSON);
    assert_int_equal(RECOMMEND("--format=json"), 0);
    assert_true(settings.json && settings.format == FORMAT_JSON);
    for (enum settings_format format = FORMAT_TEXT; format <= FORMAT_CSV; format++) {
        assert_int_equal(RECOMMEND("--format", settings_format_names[format]), 0);
        assert_true(settings.format == format && settings.json == (format == FORMAT_JSON));
    }
    assert_int_equal(RECOMMEND("--format=csv", "--json"), -EINVAL);
    assert_string_equal(err.text, "--json: is given beside --format, which sets the same; keep one");
    assert_int_equal(RECOMMEND("--json", "--format=csv"), -EINVAL);
    assert_int_equal(RECOMMEND("--format=erofeev"), -EINVAL);
    assert_int_equal(PARSE(OPTIONS_HISTORY, "--format=markdown"), -EINVAL);
    assert_int_equal(PARSE(OPTIONS_EXPERIMENT, "--format=csv-matrix"), 0);
    assert_int_equal(settings.format, FORMAT_CSV_MATRIX);
}

TEST(measure_takes_one_value_a_factor)
{
    assert_int_equal(MEASURE("--sync=end,none"), -EINVAL);
    assert_non_null(strstr(err.text, "--sync: "));
    assert_int_equal(MEASURE("--request-size=4k", "--queue-depth=32", "--direct=1", "--api=io_uring"), 0);
    assert_levels(FACTOR_QUEUE_DEPTH, 32);
    assert_int_equal(settings.workload.levels[FACTOR_THREADS].n, 0);
}

TEST(errors_need_no_place)
{
    char *argv[] = {(char *)"recommend", (char *)"--budget=60"};
    settings_init(&settings);
    assert_int_equal(options_parse(&settings, OPTIONS_RECOMMEND, 2, argv, NULL), -EINVAL);
}

TEST(nearest_name_is_near)
{
    static const char *const names[] = {"recommend", "measure", "retune", "patch"};
    static const char *const pairs[][2] = {{"recomend", "recommend"},
                                           {"recommned", "recommend"},
                                           {"mesure", "measure"},
                                           {"ret", "retune"},
                                           {"measure", "measure"},
                                           {"aptch", "patch"},
                                           {"xyzzy", NULL},
                                           {"", NULL},
                                           {"re", NULL}};
    for (size_t i = 0; i < N_OF(pairs); i++) {
        const char *nearest = options_nearest(pairs[i][0], names, N_OF(names));
        assert_string_equal(nearest ? nearest : "none", pairs[i][1] ? pairs[i][1] : "none");
    }
    assert_null(options_nearest("measure", names, 0));
}

TEST(names_are_found_with_dashes_or_underscores)
{
    assert_non_null(options_find("max-latency-p99", OPTIONS_RECOMMEND));
    assert_ptr_equal(options_find("max_latency_p99", OPTIONS_RECOMMEND),
                     options_find("max-latency-p99", OPTIONS_RECOMMEND));
    assert_null(options_find("max-latency_p99", ~0U));
    assert_null(options_find("max-latency-p9", ~0U));
    assert_null(options_find("max-latency-p999", ~0U));
    assert_null(options_find("", ~0U));
    assert_null(options_find("replays", OPTIONS_RECOMMEND));
}

TEST(what_follows_two_dashes_is_a_program_and_none_of_our_options)
{
    /* The words are borrowed, so they have to outlive the parser. */
    char words[][16] = {"cost", "--runs=3", "--", "sleep", "--help", "--runs=9"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], words[5], NULL};
    settings_init(&settings);
    assert_int_equal(options_parse(&settings, OPTIONS_COST, 6, argv, &err), 0);
    assert_int_equal(settings.cost.runs, 3);
    assert_non_null(settings.program);
    assert_string_equal(settings.program[0], "sleep");
    assert_string_equal(settings.program[1], "--help");
    assert_int_equal(PARSE(OPTIONS_COST, "--runs=3"), 0);
    assert_null(settings.program);
    assert_int_equal(PARSE(OPTIONS_RECOMMEND, "--pattern=read", "--", "sleep"), -EINVAL);
}
