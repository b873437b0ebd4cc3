/* tests/tuner/rig: a folder, surfaces and the program under test. */
#include "tests/tuner/rig.h"

#include "bench/base/factors.h"
#include "tuner/options/options.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/store/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_ARGUMENTS 48
#define PATIENCE_S    120

static char folder[64];
static char before[PATH_MAX];
static char path_before[4096];

int rig_enter(void **state)
{
    (void)state;
    const char *path = getenv("PATH");
    snprintf(path_before, sizeof path_before, "%s", path != NULL ? path : "");
    umask(022); /* files that a group may write are refused in places */
    snprintf(folder, sizeof folder, "/tmp/fstune-test-XXXXXX");
    if (getcwd(before, sizeof before) == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    /* A script's background, where SIGINT is ignored, may be where the tests run. */
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    return chmod(folder, 0755); /* tests that drop their privileges look into it */
}

int rig_leave(void **state)
{
    (void)state;
    char command[sizeof folder + 16];
    setenv("PATH", path_before, 1);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir(before) != 0 || system(command) != 0 ? -1 : 0;
}

void rig_play(const char *program, const char *script)
{
    char file[128], path[sizeof path_before + sizeof folder + 8];
    assert_true(mkdir("bin", 0755) == 0 || errno == EEXIST);
    snprintf(file, sizeof file, "bin/%s", program);
    rig_write(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(chmod(file, 0755), 0);
    snprintf(path, sizeof path, "%s/bin:%s", folder, path_before);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

void rig_write_bytes(const char *name, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

void rig_write(const char *name, const char *format, ...)
{
    FILE *file = fopen(name, "w");
    va_list arguments;
    assert_non_null(file);
    va_start(arguments, format);
    assert_true(vfprintf(file, format, arguments) >= 0);
    va_end(arguments);
    assert_int_equal(fclose(file), 0);
}

void rig_write_blocks(const char *name, size_t n_bytes)
{
    unsigned char block[4096];
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (unsigned char)(i * 2654435761U >> 7);
    for (size_t done = 0; done < n_bytes; done += sizeof block)
        assert_int_equal(fwrite(block, 1, sizeof block, file), sizeof block);
    assert_int_equal(fclose(file), 0);
}

bool rig_exists(const char *name)
{
    return access(name, F_OK) == 0;
}

size_t rig_count_entries(const char *path)
{
    DIR *entries = opendir(path);
    size_t n = 0;
    assert_non_null(entries);
    while (readdir(entries) != NULL)
        n++;
    closedir(entries);
    return n - 2; /* . and .. */
}

double rig_flat_bps(const struct point *point)
{
    (void)point;
    return 500e6;
}

double rig_peak_bps(const struct point *point)
{
    double size = log2((double)point->request_size_bytes) - 16, depth = log2((double)point->queue_depth) - 2;
    double api = point->api == API_IO_URING ? 1 : 0.8, direct = point->direct ? 1 : 0.8;
    return 2e9 * api * direct * exp(-0.1 * size * size - 0.1 * depth * depth);
}

void rig_simulator(const char *name, const char *noise, double (*bps)(const struct point *point))
{
    static const unsigned sizes[] = {4096, 16384, 65536, 262144}, depths[] = {1, 4, 16};
    static const enum api apis[] = {API_PSYNC, API_IO_URING};
    char file[64];
    snprintf(file, sizeof file, "%s.conf", name);
    rig_write(file, "name = \"%s\"; points = \"%s.csv\"; noise = { %s };\n", name, name, noise);
    snprintf(file, sizeof file, "%s.csv", name);
    FILE *table = fopen(file, "w");
    assert_non_null(table);
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n", table);
    for (unsigned i = 0; i < 4 * 3 * 2 * 2; i++) {
        struct point point = {.request_size_bytes = sizes[i % 4],
                              .queue_depth = depths[i / 4 % 3],
                              .direct = i / 12 % 2,
                              .api = apis[i / 24],
                              .threads = 1};
        if (point.api == API_IO_URING || point.queue_depth == 1)
            fprintf(table, "randwrite,%u,%u,%u,%s,1,%.17g\n", sizes[i % 4], point.queue_depth, point.direct,
                    api_names[point.api], bps(&point));
    }
    assert_int_equal(fclose(table), 0);
}

/* Collects the arguments up to NULL; returns how many. */
static int collect(va_list list, const char **arguments)
{
    int n = 0;
    while ((arguments[n] = va_arg(list, const char *)) != NULL)
        assert_true(++n < MAX_ARGUMENTS - 1);
    return n;
}

static void parse_settings(struct settings *settings, const char *const *arguments, int n)
{
    struct err err = {0};
    settings_init(settings);
    /* The parser does not write to the arguments. */
    if (options_parse(settings, OPTIONS_RECOMMEND, n, (char **)arguments, &err) != 0)
        fail_msg("%s", err.text);
}

void rig_settings(struct settings *settings, ...)
{
    const char *arguments[MAX_ARGUMENTS] = {"recommend"};
    va_list list;
    va_start(list, settings);
    int n = collect(list, arguments + 1) + 1;
    va_end(list);
    parse_settings(settings, arguments, n);
}

/* Writes the words of a line to arguments, and NULL behind them; returns how many. */
static int split_line(const char *line, char *words, size_t size, const char **arguments)
{
    int n = 0;
    assert_true((size_t)snprintf(words, size, "%s", line) < size);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        arguments[n++] = word;
        assert_true(n < MAX_ARGUMENTS - 1);
    }
    arguments[n] = NULL;
    return n;
}

void rig_settings_line(struct settings *settings, const char *line)
{
    char words[2048];
    const char *arguments[MAX_ARGUMENTS] = {"recommend"};
    parse_settings(settings, arguments, 1 + split_line(line, words, sizeof words, arguments + 1));
}

struct session *rig_open_session(const struct settings *settings)
{
    struct err err = {0};
    struct session *session = malloc(sizeof *session);
    assert_non_null(session);
    if (session_open(session, settings, &err) != 0)
        fail_msg("%s", err.text);
    return session;
}

void rig_close_session(struct session *session)
{
    resume_close(session);
    prior_close(session);
    save_close(session);
    session_close(session);
    free(session);
}

/* Opened before the tests leave the folder they were started in; by descriptor, a child without privileges
 * runs it even where it may not search the folders above. */
static int program_fd = -1;

bool rig_find_program(void)
{
    const char *path = getenv("FSTUNE");
    if (path == NULL)
        path = "build/release/fstune";
    program_fd = open(path, O_PATH | O_CLOEXEC);
    if (program_fd < 0)
        print_message("skipped: %s is not there; build it, or name another in FSTUNE\n", path);
    return program_fd >= 0;
}

static void become_program(const struct rig_run *run, bool (*in_child)(void), const char *const *arguments)
{
    char *argv[MAX_ARGUMENTS + 1] = {(char *)"fstune"};
    for (size_t i = 0; arguments[i] != NULL; i++)
        argv[i + 1] = (char *)arguments[i];
    if (dup2(run->out_fd, STDOUT_FILENO) < 0 || dup2(run->err_fd, STDERR_FILENO) < 0)
        _exit(98);
    if (in_child != NULL && !in_child())
        _exit(99);
    alarm(PATIENCE_S);
    fexecve(program_fd, argv, environ);
    _exit(97);
}

void rig_start(struct rig_run *run, bool (*in_child)(void), const char *const *arguments)
{
    *run = (struct rig_run){.out_fd = memfd_create("out", MFD_CLOEXEC),
                            .err_fd = memfd_create("err", MFD_CLOEXEC)};
    assert_true(run->out_fd >= 0 && run->err_fd >= 0);
    run->pid = fork();
    assert_true(run->pid >= 0);
    if (run->pid == 0)
        become_program(run, in_child, arguments);
}

static char *read_all(int fd, size_t *ret_size)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    close(fd);
    *ret_size = (size_t)size;
    return text;
}

bool rig_stop_and_go_on(const struct rig_run *run)
{
    siginfo_t ended = {0};
    kill(run->pid, SIGSTOP);
    usleep(100000);
    kill(run->pid, SIGCONT);
    usleep(400000);
    waitid(P_PID, (id_t)run->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid != 0;
}

void rig_finish(struct rig_run *run)
{
    int status = 0;
    size_t err_size = 0;
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    run->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    run->out = read_all(run->out_fd, &run->out_size);
    run->err = read_all(run->err_fd, &err_size);
}

void rig_run(struct rig_run *run, bool (*in_child)(void), ...)
{
    const char *arguments[MAX_ARGUMENTS];
    va_list list;
    va_start(list, in_child);
    collect(list, arguments);
    va_end(list);
    rig_start(run, in_child, arguments);
    rig_finish(run);
}

void rig_run_line(struct rig_run *run, const char *line)
{
    rig_run_line_as(run, NULL, line);
}

void rig_run_line_as(struct rig_run *run, bool (*in_child)(void), const char *line)
{
    char words[512];
    const char *arguments[MAX_ARGUMENTS];
    split_line(line, words, sizeof words, arguments);
    rig_start(run, in_child, arguments);
    rig_finish(run);
}

void rig_free(struct rig_run *run)
{
    free(run->out);
    free(run->err);
    run->out = run->err = NULL;
}

json_t *rig_json(const struct rig_run *run)
{
    json_error_t error;
    json_t *document = json_loadb(run->out, run->out_size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL)
        fail_msg("line %d: %s; exit code %d, stderr: %s", error.line, error.text, run->code, run->err);
    return document;
}

/* Nothing, or for who asks for JSON the same in a document. */
static bool prints_no_more(const struct rig_run *run)
{
    if (run->out_size == 0)
        return true;
    json_t *document = rig_json(run);
    const char *schema = json_string_value(json_object_get(document, "schema")),
               *text = json_string_value(json_object_get(document, "error"));
    bool same = schema != NULL && text != NULL && strcmp(schema, "fstune/error/1") == 0 &&
                strncmp(run->err + strlen("fstune: "), text, strlen(text)) == 0 &&
                json_integer_value(json_object_get(document, "exit_code")) == run->code;
    json_decref(document);
    return same;
}

void rig_check_error(const struct rig_run *run, int code, const char *part)
{
    const char *newline = strchr(run->err, '\n');
    if (run->code != code || strncmp(run->err, "fstune: ", 8) != 0 || newline == NULL || newline[1] != '\0' ||
        strstr(run->err, part) == NULL || !prints_no_more(run))
        fail_msg("exit code %d instead of %d, wanted one line with '%s', got: %s%s", run->code, code, part,
                 run->err, run->out);
}

json_t *rig_document(const char *line)
{
    struct rig_run run;
    rig_run_line(&run, line);
    if (run.code != 0)
        fail_msg("exit code %d: %s", run.code, run.err);
    json_t *document = rig_json(&run);
    rig_free(&run);
    return document;
}

void rig_refused(const char *line, int code, const char *part)
{
    struct rig_run run;
    rig_run_line(&run, line);
    rig_check_error(&run, code, part);
    rig_free(&run);
}

void rig_ends(const char *line, int code, const char *part)
{
    struct rig_run run;
    rig_run_line(&run, line);
    if (run.code != code || strstr(code == 0 ? run.out : run.err, part) == NULL)
        fail_msg("%d instead of %d, wanted '%s': %s%s", run.code, code, part, run.out, run.err);
    rig_free(&run);
}
