/* Runs the checks; each group is a file of its own. */
#include "tuner/impact/doctor.h"

#include <stdarg.h>

static const struct doctor_group *const groups[] = {&doctor_ability, &doctor_storage, &doctor_quiet};

void doctor_examine(const struct doctor_facts *facts, struct doctor_report *ret_report)
{
    *ret_report = (struct doctor_report){0};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        for (size_t i = 0; i < groups[g]->n; i++) {
            ret_report->group = groups[g]->title;
            ret_report->name = groups[g]->checks[i].name;
            groups[g]->checks[i].run(facts, ret_report);
        }
    }
}

void doctor_say(struct doctor_report *report, enum doctor_severity severity, const char *recommendation,
                const char *format, ...)
{
    if (report->n == DOCTOR_MAX)
        return;
    struct doctor_item *item = &report->items[report->n++];
    *item = (struct doctor_item){
        .name = report->name, .group = report->group, .severity = severity, .recommendation = recommendation};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item->found, sizeof item->found, format, arguments);
    va_end(arguments);
    report->n_findings += severity == DOCTOR_FINDING;
}
