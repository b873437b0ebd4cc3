/* bench/target/target_files: a target whose data are spread over several files. */
#include "bench/target/target_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors that are left for everything else that the program opens. */
#define OTHER_DESCRIPTORS 64

uint32_t target_n_files(const struct target *target)
{
    return target->n_files > 1 ? target->n_files : 1;
}

uint64_t target_file_bytes(const struct target *target)
{
    return target->size_bytes / target_n_files(target);
}

const int *target_fds(const struct target *target)
{
    return target->n_files > 1 ? target->fds : &target->fd;
}

struct target target_one(const struct target *target, uint32_t file)
{
    struct target one = *target;
    one.fd = target_fds(target)[file];
    one.size_bytes = target_file_bytes(target);
    one.n_files = 1;
    one.fds = NULL;
    return one;
}

void target_allow_descriptors(uint64_t n)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    rlim_t wanted = n + OTHER_DESCRIPTORS;
    if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max)
        wanted = limit.rlim_max;
    if (wanted <= limit.rlim_cur)
        return;
    limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int target_create_others(struct target *target, const struct target_plan *plan, int dir_fd, struct err *err)
{
    bool tmpfile;
    if (plan->n_files <= 1)
        return 0;
    target_allow_descriptors(plan->n_files);
    target->fds = calloc(plan->n_files, sizeof *target->fds);
    if (target->fds == NULL)
        return err_set(err, -ENOMEM, "%s: no memory for %u files", target->name, plan->n_files);
    target->fds[0] = target->fd;
    target->n_files = 1;
    for (uint32_t i = 1; i < plan->n_files; i++) {
        int code = target_create_nameless(dir_fd, plan->directory, &target->fds[i], &tmpfile, err);
        if (code == -EMFILE)
            return err_set(err, code,
                           "%s: %u files cannot be open at a time; raise the limit (ulimit -n) or lower "
                           "--files",
                           target->name, plan->n_files);
        if (code != 0)
            return code;
        target->n_files = i + 1;
    }
    return 0;
}

void target_close_others(struct target *target)
{
    for (uint32_t i = 1; target->fds != NULL && i < target->n_files; i++)
        close(target->fds[i]);
    free(target->fds);
    target->fds = NULL;
    target->n_files = 0;
}
