/* tests/tuner/emit/events_rig: a database of events with one recording, in a folder of the group's own. */
#pragma once

#include "tests/folder.h"
#include "tuner/emit/analyse.h"

static struct events *events;
static struct events_run run;
static struct err err;

GROUP(enter_folder, remove_folder);

FIXTURE(begin)
{
    if (events_open(&events, "e.db", true, &err) < 0)
        return -1;
    return events_begin(events, "test", "preload", 1000000, &err);
}

FIXTURE(end)
{
    events_close(events);
    events = NULL;
    return 0;
}
