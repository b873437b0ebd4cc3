/* bench/profile/group: a walk over cgroup.procs. */
#include "bench/profile/group.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEMBERS "cgroup.procs"

int group_find(const char *name, char *path, size_t size, struct err *err)
{
    static const char *const roots[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/",
                                        "/sys/fs/cgroup/systemd/"};
    char members[PATH_MAX];
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        int n = snprintf(path, size, "%s%s", roots[i], name);
        if (n > 0 && (size_t)n < size && snprintf(members, sizeof members, "%s/" MEMBERS, path) < PATH_MAX &&
            access(members, R_OK) == 0)
            return 0;
    }
    return err_set(err, -ENOENT,
                   "%.200s is no control group; name it as systemd-cgls or /proc/PID/cgroup does", name);
}

static int each_member(const char *path, int (*take)(void *data, pid_t pid, struct err *err), void *data,
                       struct err *err)
{
    int pid, code = 0;
    FILE *in = fopen(path, "re");
    /* A group below may end meanwhile. */
    while (in != NULL && code == 0 && fscanf(in, "%9d", &pid) == 1)
        code = take(data, pid, err);
    if (in != NULL)
        fclose(in);
    return code;
}

int group_each(const char *path, int (*take)(void *data, pid_t pid, struct err *err), void *data,
               struct err *err)
{
    char root[PATH_MAX];
    char *const roots[] = {root, NULL};
    snprintf(root, sizeof root, "%s/.", path);
    if (access(root, X_OK) != 0)
        return err_sys(err, -errno, "%.300s", path);
    snprintf(root, sizeof root, "%s", path);
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return err_sys(err, -errno, "%.300s", path);
    int code = 0;
    for (FTSENT *entry = fts_read(walk); entry != NULL && code == 0; entry = fts_read(walk)) {
        if (strcmp(entry->fts_name, MEMBERS) == 0)
            code = each_member(entry->fts_path, take, data, err);
    }
    fts_close(walk);
    return code;
}
