/* What is refused of the settings of a session before anything is opened. */
#include "tuner/session/session_check.h"

#include "tuner/session/neighbour_costs.h"
#include "tuner/session/session_clients.h"
#include "tuner/session/session_members.h"

#include <errno.h>

/* Refuses pairs of options that exclude each other. */
static int check_pairs(const struct settings *settings, struct err *err)
{
    const bool simulated = settings->file.simulate[0] != '\0', existing = settings->file.existing[0] != '\0',
               checked = settings->runs.cross_check[0] != '\0', several = settings->file.n > 1,
               beside = settings->beside.n > 0, limited = neighbour_costs_are_wanted(settings),
               skewed = settings->workload.skew.kind != SKEW_NONE,
               shaped = !content_is_plain(&settings->workload.content),
               laid_out = several || settings->workload.alignment_bytes != 0;
    const char *content = settings->workload.content.zero_share > 0 ? "--compressible" : "--dedupe";
    const char *layout = several ? "--files" : "--alignment";
    const char *cost_option = settings->limits.max_cost_share > 0 ? "--max-cost" : "--neighbour-limit";
    const struct {
        bool is_there;
        const char *one, *other, *why;
    } pairs[] = {
        {settings->workload.verify && simulated, "--verify", "--simulate", "a surface has no data"},
        {settings->workload.verify && existing, "--verify", "--existing",
         "only what fstune itself wrote can be compared"},
        {settings->workload.verify && checked, "--verify", "--cross-check", "fio would write other data"},
        {beside && simulated, "--beside", "--simulate", "a surface has no room for other loads"},
        {beside && existing, "--beside", "--existing", "the loads' files would have to lie beside yours"},
        {beside && checked, "--beside", "--cross-check", "the loads do not run beside fio"},
        {beside && settings->burst.bytes > 0, "--beside", "--burst", "bursts are measured alone"},
        {limited && simulated, cost_option, "--simulate", "a surface has no neighbours"},
        {limited && existing, cost_option, "--existing",
         "the files of the reference would have to lie beside yours"},
        {limited && settings->search.resume[0] != '\0', cost_option, "--resume",
         "a journal does not hold what runs cost"},
        {laid_out && simulated, layout, "--simulate", "a surface has no file"},
        {existing && simulated, "--existing", "--simulate", "a surface has no file"},
        {settings->runs.replays_given && settings->runs.until_steady, "--replays", "--until-steady",
         "rounds are made until they are steady"},
        {several && existing, layout, "--existing", "that is one file"},
        {laid_out && checked, layout, "--cross-check", "fio is not told of it"},
        {laid_out && settings->runs.fio_job, layout, "--fio-job", "the job does not tell of it"},
        {skewed && simulated, "--skew", "--simulate", "a surface has no places"},
        {skewed && settings->workload.verify, "--skew", "--verify",
         "several writes to one place at a time leave open what is there"},
        {shaped && simulated, content, "--simulate", "a surface has no data"},
        {shaped && settings->workload.verify, content, "--verify", "the stamps would be what is written"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].is_there)
            return err_set(err, -EINVAL, "%s and %s exclude each other: %s", pairs[i].one, pairs[i].other,
                           pairs[i].why);
    }
    return 0;
}

static int check_shape(const struct settings *settings, const struct pattern *pattern, struct err *err)
{
    const struct content *content = &settings->workload.content;
    if (settings->workload.skew.kind != SKEW_NONE && !pattern_is_random(pattern))
        return err_set(
            err, -EINVAL,
            "--skew is about random requests, of which %s has none; give a pattern such as randread",
            pattern->name);
    if (!content_is_plain(content) && (pattern_reads(pattern) || !pattern_writes(pattern)))
        return err_set(err, -EINVAL,
                       "--%s is for patterns that only write, since a read puts other data into the buffers; "
                       "%s reads",
                       content->zero_share > 0 ? "compressible" : "dedupe", pattern->name);
    return 0;
}

/* Refuses shapes of the load that the pattern, or one of those of an experiment, has no requests for. */
static int check_shapes(const struct settings *settings, struct err *err)
{
    const struct settings_experiment *experiment = &settings->experiment;
    if (!experiment->on)
        return check_shape(settings, &settings->workload.pattern, err);
    int result = 0;
    for (size_t i = 0; i < experiment->n_patterns && result == 0; i++)
        result = check_shape(settings, &experiment->patterns[i], err);
    return result;
}

int session_check(const struct settings *settings, struct err *err)
{
    int result = session_members_check(settings, err);
    if (result == 0)
        result = session_clients_check(settings, err);
    if (result == 0)
        result = check_pairs(settings, err);
    return result == 0 ? check_shapes(settings, err) : result;
}
