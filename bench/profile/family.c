/* bench/profile/family: what /proc says of a process. */
#include "bench/profile/family.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

size_t family_children(pid_t pid, pid_t *children, size_t room)
{
    char path[64];
    int child;
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *in = fopen(path, "re");
    while (in != NULL && n < room && fscanf(in, "%9d", &child) == 1)
        children[n++] = child;
    if (in != NULL)
        fclose(in);
    return n;
}

size_t family_threads(pid_t pid, pid_t *threads, size_t room)
{
    char path[64];
    struct dirent *entry;
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *directory = opendir(path);
    while (directory != NULL && n < room && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            threads[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    if (directory != NULL)
        closedir(directory);
    return n;
}
