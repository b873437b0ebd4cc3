/* tests/tuner/rig: what tests of tuner/ share: a folder of their own, surfaces in it, searches on them, and
 * the built program run as a user would. Whatever goes wrong here fails the test. */
#pragma once

#include "tests/tuner/json_check.h"
#include "tuner/options/settings.h"
#include "tuner/session/session.h"

#include <sys/types.h>

/* Setup and teardown of a group: a fresh folder becomes the working directory; it is removed at the end. */
int rig_enter(void **state);
int rig_leave(void **state);

void rig_write(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rig_write_bytes(const char *name, const void *bytes, size_t n_bytes);
/* From now on this shell script runs where `program` is asked for by its name; rig_leave ends that. */
void rig_play(const char *program, const char *script);
/* A file of random-looking blocks. */
void rig_write_blocks(const char *name, size_t n_bytes);
bool rig_exists(const char *name);
size_t rig_count_entries(const char *folder);

/* NAME.conf and NAME.csv: pattern randwrite, sizes 4k 16k 64k 256k, depths 1 4 16, direct 0 1, apis psync
 * (depth 1) and io_uring, with the throughput that bps gives; noise is the inside of the group noise. */
void rig_simulator(const char *name, const char *noise, double (*bps)(const struct point *point));

/* One hill: 64k x 4, direct, io_uring is best by 20 %, and every step away from it costs. */
double rig_peak_bps(const struct point *point);
double rig_flat_bps(const struct point *point);

/* Settings as the command `recommend` would make them of this command line; ends with NULL. */
void rig_settings(struct settings *settings, ...) __attribute__((sentinel));
/* The same with the words of a line as the command line. */
void rig_settings_line(struct settings *settings, const char *line);

/* An opened session on the heap; rig_close_session frees it. */
struct session *rig_open_session(const struct settings *settings);
void rig_close_session(struct session *session);

struct rig_run {
    pid_t pid;
    int out_fd, err_fd;
    int code; /* exit code, or minus the signal's number */
    char *out, *err;
    size_t out_size;
};

/* Finds the program under test (environment variable FSTUNE); prints why and returns false when it is not
 * built. The test program then ends with RIG_SKIPPED. */
#define RIG_SKIPPED 77
bool rig_find_program(void);

/* Runs it with these arguments (NULL at the end) and waits. in_child, unless NULL, is called between fork and
 * exec; false from it makes the exit code 99. A run that hangs is killed by SIGALRM after two minutes. */
void rig_run(struct rig_run *run, bool (*in_child)(void), ...) __attribute__((sentinel));
/* The same with the words of a line as arguments. */
void rig_run_line(struct rig_run *run, const char *line);
void rig_run_line_as(struct rig_run *run, bool (*in_child)(void), const char *line);
void rig_start(struct rig_run *run, bool (*in_child)(void), const char *const *arguments);
/* Stops it for a moment, as Ctrl-Z does. True: it has ended soon after it went on. */
bool rig_stop_and_go_on(const struct rig_run *run);
void rig_finish(struct rig_run *run);
void rig_free(struct rig_run *run);

/* The run's output as exactly one JSON document without repeated keys; the caller releases it. */
json_t *rig_json(const struct rig_run *run);

/* Exactly one line on stderr, and it begins with "fstune: " and holds this text; nothing on stdout. */
void rig_check_error(const struct rig_run *run, int code, const char *part);

/* The document of a command line that succeeds; and one that is refused as rig_check_error wants it. */
json_t *rig_document(const char *line);
void rig_refused(const char *line, int code, const char *part);
/* A command line that ends with this code, and of which the output, or else the error, holds this. */
void rig_ends(const char *line, int code, const char *part);
