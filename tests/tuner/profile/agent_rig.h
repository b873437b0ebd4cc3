/* tests/tuner/profile/agent_rig: the test as a program that can be recorded, the agent, and what stands in
 * the events of e.db. */
#pragma once

#include "tests/tuner/rig.h"

#include <sqlite3.h>

static char program[4096], agent[4096 + 32]; /* program: this one */

static inline bool find_us(void)
{
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *fstune = getenv("FSTUNE"), *end = fstune != NULL ? strrchr(fstune, '/') : NULL;
    char folder[4096], whole[4096];
    snprintf(folder, sizeof folder, "%.*s", end != NULL ? (int)(end - fstune) : 0, fstune);
    if (end != NULL && realpath(folder, whole) != NULL)
        snprintf(agent, sizeof agent, "%s/fstune-agent", whole);
    return n > 0 && rig_find_program();
}

/* The first number that a question to e.db gives. */
static inline int rig_ask_events(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open("e.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    int n = sqlite3_column_int(rows, 0);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return n;
}
