/* Tests of tuner/nightly/retune_online_config: what is read, what is refused, and what a file of values
 * holds. */
#include "tests/tuner/nightly/online_rig.h"

static char example[8192];

/* The example is copied, because who may write to the place of the sources is not known. */
FIXTURE(enter)
{
    FILE *file = fopen("configs/online.conf", "re");
    if (file == NULL)
        return -1;
    example[fread(example, 1, sizeof example - 1, file)] = '\0';
    fclose(file);
    return rig_enter(test_state);
}

GROUP(enter, rig_leave);

static int read_text(const char *text)
{
    rig_write("o.conf", "%s", text);
    memset(&err, 0, sizeof err);
    return retune_online_config_read(&config, "o.conf", &err);
}

static void check_file(struct online_setting setting, const char *expected)
{
    AUTO(auto_free) char *text = retune_online_config_text(&config, &setting);
    assert_string_equal(text, expected);
}

TEST(the_example_is_read)
{
    if (read_text(example) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(config.n_factors, 2);
    assert_string_equal(config.factors[0].name, "block");
    assert_int_equal(config.factors[0].n, 4);
    assert_int_equal(config.factors[0].first, 1);
    assert_true(config.factors[0].is_ordered);
    assert_false(config.factors[1].is_ordered);
    assert_true(config.slice_ns == 1000000000ULL && config.settle_ns == 100000000ULL);
    assert_close(config.regret_share, 0.03, 1e-12);
    check_file(retune_online_config_first(&config), "block=64k\nflush=end\n");
}

TEST(what_is_left_out_has_a_default)
{
    read_config("");
    assert_true(config.slice_ns == SLICE_NS && config.settle_ns == 0 && config.duration_ns == 0);
    assert_true(config.hook_timeout_ns == 10 * SLICE_NS);
    assert_close(config.regret_share, 0.03, 1e-12);
    assert_string_equal(config.history, "");
}

TEST(a_template_has_the_values_where_their_names_stand)
{
    read_config("template = \"{ {x} {block}{block} {\\n\";");
    check_file((struct online_setting){{4}}, "{ {x} 1m1m {\n");
}

TEST(integers_and_durations_are_values_too)
{
    assert_int_equal(read_text("value_file = \"/x/v\"; counter_command = \"echo 1\"; settings = ( { name = "
                               "\"n\"; values = [1, 2, 10]; first = 10; }, { name = \"t\"; values = "
                               "[\"5ms\", \"1s\"]; first = \"1s\"; } );"),
                     0);
    assert_true(config.factors[0].is_ordered && config.factors[1].is_ordered);
    check_file(retune_online_config_first(&config), "n=10\nt=1s\n");
}

TEST(letters_of_every_language_are_values_too)
{
    assert_int_equal(
        read_text("value_file = \"/x/v\"; counter = \"/x/c\"; settings = ( { name = \"n\"; values "
                  "= [\"gr\xc3\xbcn\", \"b\"]; first = \"gr\xc3\xbcn\"; } );"),
        0);
    check_file(retune_online_config_first(&config), "n=gr\xc3\xbcn\n");
}

TEST(words_of_a_setting_are_read_back)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    struct online_setting setting = {{0}};
    assert_int_equal(read_text(example), 0);
    assert_string_equal(retune_online_config_write(&config, &(struct online_setting){{3, 2}}, words),
                        "block=1m,flush=each");
    assert_int_equal(retune_online_config_parse(&config, words, &setting), 0);
    assert_close(setting.values[0], 3, 0);
    assert_close(setting.values[1], 2, 0);
    static const char *const wrong[] = {"",
                                        "block=1m",
                                        "block=1m,flush",
                                        "block=1m,flush=each,x=1",
                                        "block=2m,flush=each",
                                        "flush=each,block=1m",
                                        "block=1m,flush=each,"};
    for (size_t i = 0; i < N_OF(wrong); i++)
        assert_int_equal(retune_online_config_parse(&config, wrong[i], &setting), -EINVAL);
}

#define FILES            "value_file = \"/x/v\"; counter = \"/x/c\";\n"
#define GROUP_OF(inside) FILES "settings = (\n{ " inside " } );"

static const struct {
    const char *text, *words;
} refused[] = {
    {"", "o.conf: value_file is missing"},
    {"value_file = \"v\";", "o.conf:1: value_file: 'v' is no absolute path"},
    {"value_file = \"/x/v\";", "o.conf: counter is missing"},
    {FILES "counter_command = \"true\";", "o.conf: counter and counter_command exclude each other"},
    {FILES, "o.conf: settings is missing"},
    {FILES "settings = ();", "o.conf:2: settings: has to be a list of 1 to 8 groups"},
    {FILES "settings = 1;", "o.conf:2: settings: has to be a list of 1 to 8 groups"},
    {FILES "settings = ( 1 );", "o.conf:2: settings: a setting is a group"},
    {GROUP_OF("values = [1, 2]; first = 1;"), "o.conf:3: settings: name is missing"},
    {GROUP_OF("name = \"a b\"; values = [1, 2]; first = 1;"), "o.conf:3: settings: 'a b' is no name"},
    {GROUP_OF("name = \"a\"; first = 1;"), "o.conf:3: settings: values has to be a list of 2 to 32"},
    {GROUP_OF("name = \"a\"; values = [1]; first = 1;"), "values has to be a list of 2 to 32"},
    {GROUP_OF("name = \"a\"; values = [1, 1]; first = 1;"), "the value 1 stands there twice"},
    {GROUP_OF("name = \"a\"; values = [1, 2];"), "first is missing"},
    {GROUP_OF("name = \"a\"; values = [1, 2]; first = 3;"), "first: 3 is none of its values"},
    {GROUP_OF("name = \"a\"; values = [1.5, 2.5]; first = 1;"), "a value is a text in quotes or an integer"},
    {GROUP_OF("name = \"a\"; values = [\"\", \"b\"]; first = \"b\";"), "a value has 1 to 63 characters"},
    {GROUP_OF("name = \"a\"; values = [\"a,b\", \"b\"]; first = \"b\";"), "'a,b' has a comma"},
    {GROUP_OF("name = \"a\"; values = [\"a\\n\", \"b\"]; first = \"b\";"), "or a control character"},
    {GROUP_OF("name = \"a\"; values = [\"a\xc2\x85\", \"b\"]; first = \"b\";"), "or a control character"},
    {GROUP_OF("name = \"a\"; values = [\"gr\xfc\", \"b\"]; first = \"b\";"),
     "is no UTF-8, which every value"},
    {GROUP_OF("name = \"a\"; vales = [1, 2]; first = 1;"),
     "'vales' is no key of a setting; did you mean values?"},
    {FILES
     "settings = ( { name = \"a\"; values = [1, 2]; first = 1; },\n{ name = \"a\"; values = [1, 2]; first "
     "= 1; } );",
     "o.conf:3: settings: the name a stands there twice"},
    {GROUP_OF("name = \"a\"; values = [1, 2]; first = 1;") "template = \"x\";", "template: {a} is missing"},
    {FILES "slise = \"1s\";", "o.conf:2: slise: 'slise' is no key here; did you mean slice?"},
    {FILES "value-file = \"/x\";", "o.conf:2: value-file: "},
    {FILES "slice = 1;", "o.conf:2: slice: "},
    {FILES "regret = \"60%\";", "o.conf:2: regret: '60%' is out of range"},
    {FILES "targets = ();", "o.conf:2: targets: 'targets' is no key here"},
};

TEST(what_is_wrong_is_refused_with_its_line)
{
    for (size_t i = 0; i < N_OF(refused); i++) {
        if (read_text(refused[i].text) != -EINVAL || strstr(err.text, refused[i].words) == NULL)
            fail_msg("%s\n'%s' is not in: %s", refused[i].text, refused[i].words, err.text);
    }
}

TEST(too_many_combinations_are_refused)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "%s", FILES "settings = (");
    for (int i = 0; i < 7; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{ name = \"s%d\"; values = [1, 2, 3]; first = 1; }", i > 0 ? ", " : "", i);
    snprintf(text + n, sizeof text - (size_t)n, " );");
    assert_int_equal(read_text(text), -EINVAL);
    assert_non_null(strstr(err.text, "there are more than 1000 combinations"));
}

TEST(a_configuration_that_others_may_write_to_is_refused)
{
    rig_write("o.conf", "%s", RIG_CONFIG);
    assert_int_equal(system("chmod 666 o.conf"), 0);
    assert_int_equal(retune_online_config_read(&config, "o.conf", &err), -EPERM);
    assert_int_equal(system("rm o.conf"), 0);
}
