/* Tests of what doctor says of a device that is made of others (LVM, dm-crypt, md). */
#include "tuner/doctor/doctor.h"

#include "tests/tuner/rig.h"

#include <stdio.h>
#include <string.h>

static struct hostinfo host;
static struct doctor_facts facts;
static struct doctor_report report;

static void add_text(const char *key, const char *text)
{
    struct hostinfo_fact *fact = &host.facts[host.n++];
    fact->kind = HOSTINFO_TEXT;
    snprintf(fact->key, sizeof fact->key, "%s", key);
    snprintf(fact->text, sizeof fact->text, "%s", text);
}

static const struct doctor_item *item(const char *name)
{
    for (size_t i = 0; i < report.n; i++) {
        if (strcmp(report.items[i].name, name) == 0)
            return &report.items[i];
    }
    return NULL;
}

/* What the kernel says of dm-0 on a disk that turns. */
FIXTURE(make_rotating_disk)
{
    memset(&host, 0, sizeof host);
    facts = (struct doctor_facts){.host = &host};
    add_text("device_whole", "dm-0");
    add_text("scheduler", "none");
    host.facts[host.n++] = (struct hostinfo_fact){.key = "rotational", .kind = HOSTINFO_NUMBER, .number = 1};
    return 0;
}

EACH_TEST(make_rotating_disk, NULL);

TEST(a_rotating_disk_without_a_scheduler_is_said)
{
    doctor_examine(&facts, &report);
    assert_non_null(item("scheduler"));
    assert_null(item("device_stack"));
}

TEST(the_scheduler_of_a_device_made_of_others_means_nothing)
{
    add_text("device_below", "sda sdb");
    doctor_examine(&facts, &report);
    assert_null(item("scheduler"));
    assert_int_equal(item("device_stack")->severity, DOCTOR_NOTE);
    assert_non_null(strstr(item("device_stack")->found, "dm-0 is made of sda sdb"));
}
