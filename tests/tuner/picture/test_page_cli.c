/* fstune report as a user runs it; whole pages stand in tests/golden (html-*). */
#include "tests/tuner/rig.h"

#include <sys/stat.h>

static struct rig_run run;

#define SEARCH "recommend --quiet --pattern randwrite --simulate peak.conf --budget 20s --seed 1 --json "

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_run_line(&run, SEARCH);
    rig_write("answer.json", "%s", run.out);
    rig_free(&run);
    rig_write("broken.json", "{");
    return mkdir("dir", 0755);
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

TEST(the_same_answers_give_the_same_page)
{
    rig_ends("report --html one.html --from answer.json --from answer.json", 0, "");
    rig_ends("report --html two.html answer.json answer.json", 0, "");
    assert_int_equal(system("cmp -s one.html two.html"), 0);
    assert_int_equal(system("grep -q '\"nights.*\"when.*\"when' one.html"), 0);
}

TEST(a_run_of_the_history_is_shown_with_those_before_it)
{
    rig_ends(SEARCH "--save kept.db", 0, "");
    rig_ends(SEARCH "--save kept.db", 0, "");
    rig_ends("report --html second.html --db kept.db", 0, "");
    rig_ends("report --html first.html --db kept.db --run 1", 0, "");
    assert_int_equal(system("grep -q '\"nights.*\"when.*\"when' second.html"), 0);
    assert_int_not_equal(system("grep -q '\"nights.*\"when.*\"when' first.html"), 0);
}

TEST(what_the_history_does_not_hold_is_refused)
{
    rig_ends(SEARCH "--save other.db", 0, "");
    rig_ends("report --html none.html --db other.db --run 99", 2, "there is no run 99");
    rig_ends("report --html none.html --db other.db --from answer.json", 2, "give one of them");
    rig_ends("report --html none.html --db other.db answer.json", 2, "");
}

TEST(a_profile_has_a_page_of_its_own)
{
    rig_write("calls", "%s", "fio version 2 iolog\n/srv/table read 0 512\n");
    rig_ends("profile --import fio-iolog calls --output profile.json", 5, "");
    rig_ends("report --html profile.html profile.json", 0, "");
    assert_int_equal(system("grep -q 'Too little seen: 1 reads' profile.html"), 0);
    rig_ends("report --html none.html profile.json answer.json", 2, "give it alone");
    rig_ends("report --html none.html answer.json --from profile.json", 2, "give it alone");
    rig_ends("report --html none.html profile.json --journal calls", 2, "leave it out");
    rig_write("old.json", "{\"schema\": \"fstune/profile/1\", \"seconds\": 1}");
    rig_ends("report --html none.html old.json", 5, "record it again");
    assert_int_not_equal(system("test -e none.html"), 0);
}

TEST(wrong_command_lines_are_refused_in_one_line)
{
    static const struct {
        const char *line, *part;
    } cases[] = {
        {"report --from answer.json", "--html is missing"},
        {"report --html dir --from answer.json", "a directory"},
        {"report --html /dev/null --from answer.json", "no regular file"},
        {"report --html page.html --from absent.json", "absent.json"},
        {"report --html page.html --from broken.json", "broken.json: no JSON document"},
        {"report --html page.html --from broken.json",
         "`measure` or `experiment` printed with --json, or `fstune "
         "profile --output` wrote"},
        {"report --html page.html --from answer.json --journal answer.json", "answer.json"},
        {"report --html absent/page.html --from answer.json", "absent/page.html"},
        {"report --htm page.html", "did you mean --html?"},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        rig_refused(cases[i].line, 2, cases[i].part);
}
