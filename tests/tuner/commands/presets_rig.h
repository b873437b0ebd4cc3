/* tests/tuner/commands/presets_rig: the files of configs/presets, in a folder with an empty one, dir. */
#pragma once

#include "tests/tuner/commands/cli_rig.h"

#include <glob.h>
#include <sys/stat.h>

static glob_t presets;

FIXTURE(enter_all)
{
    char root[4096], pattern[4200];
    if (getcwd(root, sizeof root) == NULL)
        return -1;
    snprintf(pattern, sizeof pattern, "%s/configs/presets/*.conf", root);
    if (glob(pattern, 0, NULL, &presets) != 0)
        return -1;
    return rig_enter(test_state) != 0 || mkdir("dir", 0755) != 0 ? -1 : 0;
}

FIXTURE(leave_all)
{
    globfree(&presets);
    return rig_leave(test_state);
}

GROUP(enter_all, leave_all);
GROUP_NEEDS(rig_find_program);
