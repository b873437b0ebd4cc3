/* tests/folder: fixtures of a group of tests whose files stand in a folder of their own, where they work. */
#pragma once

#include "tests/test.h"

#include <dirent.h>
#include <unistd.h>

static char test_folder[] = "/tmp/fstune-test-XXXXXX";

FIXTURE(enter_folder)
{
    return mkdtemp(test_folder) == NULL || chdir(test_folder) != 0;
}

/* Its files go with it. */
FIXTURE(remove_folder)
{
    DIR *folder = opendir(test_folder);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        unlink(entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return chdir("/") != 0 || rmdir(test_folder) != 0;
}
