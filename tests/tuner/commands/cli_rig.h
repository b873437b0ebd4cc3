/* tests/tuner/commands/cli_rig: a line that a user types, and what came of it. The last run stays in `run`,
 * and its document is there, until the next ones. */
#pragma once

#include "tests/tuner/rig.h"

/* Of a search, which may be conclusive or not. */
#define CLI_ANY (-1)

static struct rig_run run;

/* Where the next line runs; what the last one printed is released. */
static inline struct rig_run *cli_next(void)
{
    rig_free(&run);
    return &run;
}

/* What ran last, which the next line leaves alone; the caller releases it. */
static inline struct rig_run cli_taken(void)
{
    const struct rig_run taken = run;
    run = (struct rig_run){0};
    return taken;
}

/* What ran last failed with this code and one line that has the part in it. */
static inline void cli_failed(int code, const char *part)
{
    rig_check_error(&run, code, part);
}

/* The same of a line. in_child may be NULL. */
static inline void cli_fails_as(bool (*in_child)(void), int code, const char *part, const char *line)
{
    rig_run_line_as(cli_next(), in_child, line);
    if (run.code != code)
        print_error("fstune %s\n", line);
    cli_failed(code, part);
}

static inline void cli_fails(int code, const char *part, const char *line)
{
    cli_fails_as(NULL, code, part, line);
}

/* A table of lines that fail. */
struct cli_failure {
    const char *line, *part;
};

static inline void cli_all_fail(int code, const struct cli_failure *failures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cli_fails(code, failures[i].part, failures[i].line);
}

#define CLI_ALL_FAIL(code, failures) cli_all_fail((code), (failures), N_OF(failures))

/* The line ends with this code and prints all parts, up to NULL. `alone`: and nothing on standard error. */
static inline void cli_check_parts(bool alone, int code, const char *line, const char *const *parts)
{
    rig_run_line(cli_next(), line);
    for (; *parts != NULL; parts++)
        if (strstr(run.out, *parts) == NULL)
            fail_msg("fstune %s: '%s' is not in: %s%s", line, *parts, run.out, run.err);
    if (run.code != code || (alone && run.err[0] != '\0'))
        fail_msg("fstune %s: exit code %d instead of %d: %s", line, run.code, code, run.err);
}

#define cli_prints(code, line, ...) cli_check_parts(false, (code), (line), (const char *const[]){__VA_ARGS__})
#define cli_prints_alone(code, line, ...)                                                                    \
    cli_check_parts(true, (code), (line), (const char *const[]){__VA_ARGS__})

/* The document of what ran last; the next one takes its place. */
static inline json_t *cli_document(void)
{
    static json_t *document;
    json_t *next = rig_json(&run);
    json_decref(document);
    return document = next;
}

/* The same of a line. */
static inline json_t *cli_json(int code, const char *line)
{
    rig_run_line(cli_next(), line);
    if (code != CLI_ANY && run.code != code)
        fail_msg("fstune %s: exit code %d instead of %d: %s", line, run.code, code, run.err);
    return cli_document();
}

/* Members by their paths, as "search.seed". */
static inline void cli_has_text(const json_t *document, const char *path, const char *text)
{
    const char *found = json_string_value(json_at(document, path));
    assert_string_equal(found != NULL ? found : "(none)", text);
}

static inline json_int_t cli_integer(const json_t *document, const char *path)
{
    return json_integer_value(json_at(document, path));
}

static inline double cli_number(const json_t *document, const char *path)
{
    return json_number_value(json_at(document, path));
}

/* In a child: as a user without privileges. */
static inline bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}
