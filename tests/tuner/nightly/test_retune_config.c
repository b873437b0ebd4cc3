/* Tests of tuner/nightly/retune_config: targets, defaults, and what is refused with its line. */
#include "tests/tuner/rig.h"
#include "tuner/emit/snippet.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/options/options.h"

#include <errno.h>

static struct retune_config config;
static struct err err;

static int read_text(const char *text)
{
    retune_config_done(&config);
    memset(&err, 0, sizeof err);
    rig_write("n.conf", "%s", text);
    return retune_config_read(&config, "n.conf", &err);
}

FIXTURE(leave)
{
    retune_config_done(&config);
    return rig_leave(test_state);
}

GROUP(rig_enter, leave);

TEST(a_target_needs_a_name_and_a_pattern_only)
{
    assert_int_equal(read_text("targets = ( { name = \"vm1\"; pattern = \"randread\"; } );"), 0);
    assert_int_equal(config.n_targets, 1);
    const struct retune_target *target = retune_config_find(&config, "vm1");
    assert_non_null(target);
    assert_null(retune_config_find(&config, "vm2"));
    assert_string_equal(target->settings.file.path, ".");
    assert_true(target->settings.limits.budget_ns == 120000000000ULL);
    assert_true(target->first_budget_ns == 600000000000ULL);
    assert_true(target->settings.limits.max_write_bytes == 8ULL << 30);
    assert_true(target->hook_timeout_ns == 60000000000ULL);
    assert_int_equal(target->nights, 2);
    assert_close(target->alarm_share, 0.10, 1e-12);
    assert_close(target->settings.search.tolerance_share, 0.03, 1e-12);
    assert_false(target->keep_file);
    assert_string_equal(target->snippet, "");
}

/* What fstune watch found is told in tests/tuner/profile/test_watch.c. */
TEST(a_target_may_take_its_pattern_from_a_profile)
{
    rig_write("p.json", "%s",
              "{\"schema\": \"fstune/profile/1\", \"seconds\": 1, \"pattern\": {\"name\": \"randrw:70\"}, "
              "\"fixed\": {\"request_size\": \"8k\"}, \"current\": {\"direct\": \"1\"}}");
    assert_int_equal(read_text("targets = ( { name = \"a\"; for = \"p.json\"; } );"), 0);
    assert_string_equal(config.targets[0].settings.workload.pattern.name, "randrw:70");
    assert_int_equal(config.targets[0].settings.workload.levels[FACTOR_REQUEST_SIZE].value[0], 8192);
    assert_int_equal(config.targets[0].settings.search.current.value[FACTOR_DIRECT], 1);
    assert_int_equal(read_text("targets = ( { name = \"a\"; for = \"p.json\"; pattern = \"read\"; } );"), 0);
    assert_string_equal(config.targets[0].settings.workload.pattern.name, "read");
    assert_int_equal(read_text("targets = ( { name = \"a\"; for = \"absent\"; } );"), -ENOENT);
    assert_non_null(strstr(err.text, "n.conf:1: target a: --for absent: "));
}

TEST(every_key_is_read)
{
    assert_int_equal(
        read_text("db = \"/x/h.db\";\nprometheus = \"/x/f.prom\";\njson = true;\n"
                  "targets = ( { name = \"a.b_c-1\"; path = \"/srv\"; pattern = \"read\"; request_size = "
                  "\"4k..64k\";\n"
                  "queue_depth = [1, 4]; direct = true; current = \"request_size=64k\"; emit = \"shell\";\n"
                  "snippet = \"/etc/x.conf\"; check = \"true\"; apply = \"a\"; rollback = \"b\"; "
                  "hook_timeout = \"5s\";\n"
                  "first_budget = \"3m\"; budget = \"30s\"; max_write = \"1g\"; tolerance = \"5%\"; alarm = "
                  "\"20%\";\n"
                  "nights = 3; keep_file = true; max_latency_p99 = \"10ms\"; max_io_pressure = \"off\";\n"
                  "max_cpu_pressure = \"1%\"; max_load = \"50%\"; max_dirty = \"off\"; min_uptime = \"1h\"; "
                  "on_battery = true;\n"
                  "image = \"/d.img\"; }, { name = \"b\"; pattern = \"read\"; existing_file = \"/f\"; } );"),
        0);
    const struct retune_target *target = &config.targets[0];
    assert_string_equal(config.command.history.db, "/x/h.db");
    assert_string_equal(config.command.retune.prometheus, "/x/f.prom");
    assert_true(config.command.json);
    assert_string_equal(target->name, "a.b_c-1");
    assert_string_equal(target->snippet, "/etc/x.conf");
    assert_string_equal(target->check, "true");
    assert_string_equal(target->apply, "a");
    assert_string_equal(target->rollback, "b");
    assert_int_equal(target->settings.workload.levels[FACTOR_REQUEST_SIZE].n, 5);
    assert_int_equal(target->settings.workload.levels[FACTOR_QUEUE_DEPTH].n, 2);
    assert_true(target->settings.search.current_given);
    assert_int_equal(target->nights, 3);
    assert_true(target->keep_file);
    assert_true(isinf(target->limits.io_pressure_share) && isinf(target->limits.dirty_bytes));
    assert_close(target->limits.cpu_pressure_share, 0.01, 1e-12);
    assert_close(target->limits.load_share, 0.5, 1e-12);
    assert_close(target->limits.uptime_seconds, 3600, 1e-9);
    assert_true(target->limits.on_battery);
    assert_string_equal(config.targets[1].settings.file.existing, "/f");
}

TEST(what_stands_at_the_top_is_the_default_wherever_it_stands)
{
    assert_int_equal(
        read_text("pattern = \"read\"; nights = 5;\n"
                  "targets = ( { name = \"a\"; }, { name = \"b\"; nights = 1; } );\nbudget = \"1m\";"),
        0);
    assert_int_equal(config.targets[0].nights, 5);
    assert_int_equal(config.targets[1].nights, 1);
    assert_true(config.targets[0].settings.limits.budget_ns == 60000000000ULL);
    assert_true(config.targets[1].settings.limits.budget_ns == 60000000000ULL);
}

TEST(a_device_that_is_written_has_a_name_that_stays)
{
    static const char *const names[] = {"/dev/disk/by-id/ata-x", "/dev/mapper/disk", "/srv/file"};
    for (size_t i = 0; i < N_OF(names); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "targets = ( { name = \"a\"; pattern = \"write\"; existing = \"%s\"; overwrite = true; } );",
                 names[i]);
        assert_int_equal(read_text(text), 0);
    }
    /* What is only read may have any name. */
    assert_int_equal(read_text("targets = ( { name = \"a\"; pattern = \"read\"; existing = \"/dev/x\"; } );"),
                     0);
}

#define IN_TARGET(text) "targets = (\n{ name = \"a\"; pattern = \"read\";\n" text "\n} );"

static const struct {
    const char *text, *words;
} refused[] = {
    {"", "targets has to be a list"},
    {"targets = ();", "targets has to be a list"},
    {"targets = { };", "targets has to be a list"},
    {"targets = ( \"a\" );", "n.conf:1: targets: a target is a group"},
    {"targets = (\n{ pattern = \"read\"; } );", "n.conf:2: target without a name: name is missing"},
    {"targets = (\n{ name = \"a\"; } );", "n.conf:2: target a: pattern is missing"},
    {"targets = ( { name = \"a\"; pattern = \"read\"; },\n{ name = \"a\"; pattern = \"read\"; } );",
     "n.conf:2: target a: the name stands in line 1 already"},
    {"emit = \"shell\"; pattern = \"read\";\n"
     "targets = ( { name = \"a\"; snippet = \"/x\"; },\n{ name = \"b\"; snippet = \"/x\"; } );",
     "n.conf:3: target b: snippet: target a writes the same file"},
    {IN_TARGET("tolerence = \"3%\";"), "n.conf:3: tolerence: unknown setting; did you mean tolerance?"},
    {IN_TARGET("snipet = \"/x\";"), "n.conf:3: snipet: unknown setting; did you mean snippet?"},
    {IN_TARGET("hook-timeout = \"3s\";"),
     "n.conf:3: hook-timeout: unknown setting; did you mean hook_timeout?"},
    {IN_TARGET("request_size = 5000;"), "n.conf:3: request_size: 5000 is not a multiple of 512"},
    {IN_TARGET("max_write = 9999999999;"), "n.conf:3: max_write"},
    {IN_TARGET("nights = 0;"), "n.conf:3: nights: "},
    {IN_TARGET("alarm = 10;"), "n.conf:3: alarm: "},
    {IN_TARGET("budget = 60;"), "n.conf:3: budget: "},
    {IN_TARGET("snippet = \"x.conf\";"), "n.conf:3: snippet: 'x.conf' is no absolute path"},
    {IN_TARGET("snippet = \"/etc/\";"), "n.conf:3: snippet: '/etc/' is no absolute path"},
    {IN_TARGET("snippet = \"/etc/x\";"), "target a: snippet: the format is missing"},
    {IN_TARGET("apply = \"true\";"), "target a: check, apply and rollback are about a file"},
    {IN_TARGET("emit = \"shel\";"), "n.conf:3: emit: 'shel' is no format; did you mean shell?"},
    {IN_TARGET("json = true;"), "n.conf:3: json: stands at the top"},
    {IN_TARGET("resume = \"j\";"), "n.conf:3: resume: has no meaning for a night"},
    {IN_TARGET("existing_file = \"/f\";\nexisting = \"/g\";"),
     "n.conf:3: existing_file: is the same as existing"},
    {"existing = \"/g\"; existing_file = \"/f\"; targets = ( { name = \"a\"; pattern = \"read\"; } );",
     "n.conf:1: existing_file: is the same as existing"},
    {IN_TARGET("snippet = \"/x/y\"; emit = \"seastar\";"), "target a: emit = \"seastar\": "},
    {IN_TARGET("snippet = \"/x/y\"; emit = \"libvirt\"; image = \"a.img\";"), "absolute paths only"},
    {IN_TARGET("snippet = \"/x/y\"; emit = \"proxmox\"; bus = \"nvme\";"), "has no such disks"},
    {IN_TARGET("snippet = \"/x/y\"; emit = \"udev\"; simulate = \"s\";"), "simulated surface"},
    {IN_TARGET("keep_file = true; existing_file = \"/f\";"), "exclude each other"},
    {IN_TARGET("pattern = \"write\";"), "n.conf:3: the setting is repeated"},
    {IN_TARGET("max_load = \"high\";"), "n.conf:3: max_load: "},
    {"targets = ( { name = \"a\"; pattern = \"write\"; keep_file = true; } );",
     "keep_file: pattern write writes"},
    {"targets = ( { name = \"a\"; pattern = \"write\"; existing_file = \"/f\"; } );",
     "would destroy its contents"},
    {"targets = ( { name = \"a\"; pattern = \"write\"; existing = \"/dev/no-such-disk\"; overwrite = true; } "
     ");",
     "/dev/no-such-disk may stand for another disk after the next start"},
    {"targets = ( { name = \"a\"; pattern = \"write\"; existing = \"/dev/nowhere/disk\"; overwrite = true; } "
     ");",
     "name the device by a link in /dev/disk/by-id"},
    {IN_TARGET("rate = \"5m\";"), "n.conf:3: rate: is for recommend alone"},
    {"targets = ( { name = \"../x\"; pattern = \"read\"; } );", "n.conf:1: name: '../x' is no name"},
    {"targets = ( { name = \"a b\"; pattern = \"read\"; } );", "'a b' is no name"},
    {"targets = ( { name = \"\"; pattern = \"read\"; } );", "n.conf:1: name: "},
    {"name = \"a\";\ntargets = ( { pattern = \"read\"; } );", "n.conf:1: name: belongs to one target"},
    {"overwrite = true;\ntargets = ( { name = \"a\"; pattern = \"write\"; existing_file = \"/f\"; } );",
     "n.conf:1: overwrite: belongs to one target"},
    {"destroy_device = 4096;\ntargets = ( { name = \"a\"; pattern = \"read\"; } );",
     "n.conf:1: destroy_device: belongs to one target"},
    {"ignore_signature = true;\ntargets = ( { name = \"a\"; pattern = \"read\"; } );",
     "n.conf:1: ignore_signature: belongs to one target"},
    {"force = true;\ntargets = ( { name = \"a\"; pattern = \"read\"; } );", "n.conf:1: force: cannot stand"},
    {"target = \"a\";\ntargets = ( { name = \"a\"; pattern = \"read\"; } );",
     "n.conf:1: target: cannot stand"},
};

TEST(what_is_wrong_is_refused_with_its_line)
{
    for (size_t i = 0; i < N_OF(refused); i++) {
        int result = read_text(refused[i].text);
        if (result != -EINVAL || strstr(err.text, refused[i].words) == NULL)
            fail_msg("case %zu: %d, '%s' lacks '%s'", i, result, err.text, refused[i].words);
        assert_null(config.targets);
    }
}

/* Its commands would run as us. */
TEST(a_file_that_others_could_write_is_refused)
{
    static const struct {
        const char *set_up;
        int result;
        const char *words;
    } cases[] = {
        {"mkdir -m 755 etc", -ENOENT, ""},
        {"cp n.conf etc; chmod 644 etc/n.conf", 0, ""},
        {"chmod 664 etc/n.conf", -EPERM, "etc/n.conf: others than its owner may write to it"},
        {"chmod 646 etc/n.conf", -EPERM, "etc/n.conf: others than its owner may write to it"},
        {"chmod 644 etc/n.conf; chmod 1777 etc", -EPERM, ""},
        /* Needs root. */
        {"chmod 755 etc; chown 65534:65534 etc/n.conf", -EPERM, "belongs to user 65534"},
    };
    assert_int_equal(read_text("targets = ( { name = \"vm1\"; pattern = \"randread\"; } );"), 0);
    for (size_t i = 0; i < N_OF(cases) - (geteuid() != 0); i++) {
        assert_int_equal(system(cases[i].set_up), 0);
        retune_config_done(&config);
        int result = retune_config_read(&config, "etc/n.conf", &err);
        if (result != cases[i].result || strstr(err.text, cases[i].words) == NULL)
            fail_msg("%s: %d: %s", cases[i].set_up, result, err.text);
    }
}

TEST(the_texts_of_the_table_are_values)
{
    static struct retune_target target;
    const struct option_row *row;
    for (size_t i = 0; (row = retune_config_key(i)) != NULL; i++) {
        if (strcmp(row->default_text, "none") != 0 && strcmp(row->default_text, "required") != 0)
            assert_int_equal(options_set(&target.settings, row, row->default_text, &err), 0);
    }
}

TEST(every_format_that_takes_one_answer_is_accepted)
{
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "targets = ( { name = \"a\"; pattern = \"randwrite\"; snippet = \"/x/y\"; emit = \"%s\"; } );",
            ops->name);
        if (read_text(text) != (strcmp(ops->name, "seastar") != 0 ? 0 : -EINVAL)) /* it takes two */
            fail_msg("%s: %s", ops->name, err.text);
    }
}
