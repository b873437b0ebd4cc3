/* bench/collector/program_calls: the function behind fstune/profile.h (profile.h), which the program finds by
 * its name. */
#include "bench/collector/collector.h"
#include "bench/collector/profile.h"

#include <errno.h>
#include <stddef.h>

__attribute__((visibility("default"))) int fst_profile_call(int what, const char *name);

static void obey(int what, const char *name)
{
    uint64_t now_ns = collector_now_ns();
    if (what == FST_PROFILE_START)
        sink_go_on(now_ns);
    else if (what == FST_PROFILE_STOP)
        sink_pause(now_ns);
    else if (what == FST_PROFILE_RESET)
        sink_renew(now_ns);
    else if (what == FST_PROFILE_MARK && name != NULL && name[0] != '\0' && sink_is_on())
        sink_mark(now_ns, collector_thread(), name);
}

int fst_profile_call(int what, const char *name)
{
    int saved = errno;
    if (collector_is_followed() && what != FST_PROFILE_IS_RECORDING)
        obey(what, name);
    errno = saved;
    return collector_is_on() && sink_is_heard();
}
