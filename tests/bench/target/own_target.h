/* tests/bench/target/own_target: the target of each test, made and filled by fstune, closed behind it. */
#pragma once

#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

static struct target target;
static struct err err;

FIXTURE(fresh)
{
    target = (struct target){0};
    err = (struct err){0};
    return 0;
}

FIXTURE(leave)
{
    target_close(&target);
    return 0;
}

EACH_TEST(fresh, leave);

static void make(struct target *made, uint64_t size_bytes)
{
    struct target_plan plan = rig_plan(directory, size_bytes);
    if (target_create(made, &plan, &err) != 0)
        fail_msg("%s", err.text);
}
