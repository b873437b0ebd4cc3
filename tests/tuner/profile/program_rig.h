/* tests/tuner/profile/program_rig: a test that is also the program that is recorded: it runs itself again, in
 * one of its roles. */
#pragma once

#include "bench/collector/profile.h"
#include "tests/tuner/profile/agent_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#define BLOCK    512
#define N_BLOCKS 128

static json_t *document;
static int fd;

static inline void need(bool is_so)
{
    if (!is_so)
        _exit(9);
}

static inline void read_at(int n)
{
    char block[BLOCK];
    for (int i = 0; i < n; i++)
        need(pread(fd, block, BLOCK, (off_t)(i * 7919 % N_BLOCKS) * BLOCK) == BLOCK);
}

struct rig_role {
    const char *name;
    void (*act)(void);
};

static inline void rig_act(const struct rig_role *roles, size_t n, const char *role)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(role, roles[i].name) == 0)
            roles[i].act();
    }
}

/* The test has it. */
static void act(const char *role);

__attribute__((constructor)) static void act_as_program(void)
{
    const char *role = getenv("PROFILE_TEST_ROLE");
    if (role == NULL)
        return;
    need(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    bool is_recorded = getenv("PROFILE_TEST_ALONE") == NULL;
    need(fst_profile_is_recording() == is_recorded);
    fd = open("blocks", O_RDONLY | O_CLOEXEC);
    need(fd >= 0);
    act(role);
    need(fst_profile_is_recording() == is_recorded);
    _exit(0);
}

static inline json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static inline json_int_t n_reads(const json_t *object)
{
    return number(json_object_get(object, "requests"), "read");
}

static inline json_t *mark(const char *name)
{
    json_t *found = json_find(json_object_get(document, "marks"), "name", name);
    if (found == NULL)
        fail_msg("there is no mark %s", name);
    return found;
}

/* Each role in a program that is not recorded. */
static inline void rig_run_alone(const struct rig_role *roles, size_t n)
{
    int status;
    rig_write_blocks("blocks", (size_t)N_BLOCKS * BLOCK);
    for (size_t i = 0; i < n; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("PROFILE_TEST_ROLE", roles[i].name, 1);
            setenv("PROFILE_TEST_ALONE", "1", 1);
            execl(program, program, NULL);
            _exit(9);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 77));
    }
}
