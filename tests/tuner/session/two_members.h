/* tests/tuner/session/two_members: a session of the places "one" and "two". */
#pragma once

#include "tuner/session/session.h"

#include <string.h>

static inline void two_members_init(struct session *session, struct settings *settings)
{
    settings_init(settings);
    strcpy(settings->file.path, "one");
    strcpy(settings->file.more_paths.place[0], "two");
    settings->file.more_paths.n = 1;
    session->settings = settings;
    session->members.n = 2;
}
