/* Tests of bench/host/hostinfo_cgroup: the room that real control groups of version 1 leave. They need root.
 */
#include "bench/host/hostinfo.h"
#include "tests/bench/mount_rig.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define HIERARCHY "/sys/fs/cgroup/memory"

static char outer[128], inner[160];

static bool put(const char *group, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && good;
}

/* The room that a child finds which joins the inner group and does this first; NaN: it could not. */
static double room_there(bool (*first)(void))
{
    double *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    *shared = NAN;
    pid_t child = fork();
    if (child == 0) {
        struct hostinfo_memory_room room;
        if (put(inner, "cgroup.procs", "0") && (first == NULL || first())) {
            hostinfo_find_memory_room(&room);
            *shared = room.bytes;
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    double bytes = *shared;
    munmap(shared, 4096);
    return bytes;
}

static bool in_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* 16 MiB of a file in memory, which goes away with the child's mounts. */
static bool fill_memory(void)
{
    static const char block[4096] = "x";
    if (!in_own_mounts() || mount("none", "/tmp", "tmpfs", 0, "size=32m") != 0)
        return false;
    int fd = open("/tmp/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 4096; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            return false;
    return true;
}

/* As a container is set up that has no name space of groups: its own group is the root of what is mounted. */
static bool see_the_outer_group_alone(void)
{
    return in_own_mounts() && mount(outer, "/mnt", NULL, MS_BIND, NULL) == 0 &&
           umount2(HIERARCHY, MNT_DETACH) == 0 && mount("/mnt", HIERARCHY, NULL, MS_MOVE, NULL) == 0;
}

TEST(the_lowest_limit_of_the_groups_above_is_the_room)
{
    assert_true(put(outer, "memory.limit_in_bytes", "64m"));
    double bytes = room_there(NULL);
    assert_true(bytes > (double)(32 * MIB) && bytes <= (double)(64 * MIB));
    assert_true(put(inner, "memory.limit_in_bytes", "32m"));
    bytes = room_there(NULL);
    assert_true(bytes > (double)(16 * MIB) && bytes <= (double)(32 * MIB));
}

TEST(a_file_in_memory_takes_room)
{
    assert_true(put(inner, "memory.limit_in_bytes", "64m"));
    double bytes = room_there(fill_memory);
    rig_need(!isnan(bytes), "no tmpfs can be mounted here");
    assert_true(bytes > (double)(32 * MIB) && bytes <= (double)(48 * MIB));
}

TEST(a_group_is_found_below_the_group_that_is_mounted)
{
    assert_true(put(inner, "memory.limit_in_bytes", "48m"));
    double bytes = room_there(see_the_outer_group_alone);
    rig_need(!isnan(bytes), "nothing can be mounted here");
    assert_true(bytes <= (double)(48 * MIB));
}

FIXTURE(enter)
{
    snprintf(outer, sizeof outer, HIERARCHY "/fstune-test-%ld", (long)getpid());
    snprintf(inner, sizeof inner, "%s/inner", outer);
    return mkdir(outer, 0700) != 0 || mkdir(inner, 0700) != 0;
}

FIXTURE(leave)
{
    rmdir(inner);
    rmdir(outer);
    return 0;
}

EACH_TEST(enter, leave);

static bool find_what_is_needed(void)
{
    if (access(HIERARCHY "/memory.limit_in_bytes", W_OK) != 0) {
        printf("skipped: no control groups of memory (version 1) that may be changed here\n");
        return false;
    }
    return true;
}

GROUP_NEEDS(find_what_is_needed);
