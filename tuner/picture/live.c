/* tuner/picture/live: looks at the store each second, and the place where they are shown. */
#include "tuner/picture/live.h"

#include "bench/base/clock.h"
#include "models/profile/look.h"
#include "models/profile/look_streams.h"
#include "tuner/base/terminal.h"
#include "tuner/base/words.h"
#include "tuner/picture/live_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS 1000000000ULL
#define TEXT_SIZE 8192
#define WHAT_SIZE 160

struct live {
    struct terminal_area area; /* out NULL: lines on standard error */
    FILE *own;                 /* /dev/tty; NULL: not opened */
    bool has_blocks;
    bool shares; /* standard error is a terminal, and the program's, too */
    char what[WHAT_SIZE];
    struct store *copy; /* of the store, which the program may write over at any time */
    size_t store_bytes;
    uint64_t due_ns;  /* 0: nothing was looked at; UINT64_MAX: nothing is */
    uint64_t over_ns; /* 0: it is recorded */
    struct look first, last, now;
    struct look_streams streams_last, streams_now;
    double history_bps[LIVE_SECONDS];
    size_t n_history;
};

/* As setlocale decides it: the first of these that is set. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static void choose_place(struct live *live, bool runs_command, bool output_to_stderr)
{
    bool shares = isatty(STDERR_FILENO) != 0 || (!output_to_stderr && isatty(STDOUT_FILENO) != 0);
    if (!runs_command) {
        live->area.out = terminal_has_cursor(STDERR_FILENO) ? stderr : NULL;
        return;
    }
    if (!shares)
        live->own = fopen("/dev/tty", "we");
    if (live->own != NULL && terminal_has_cursor(fileno(live->own)))
        live->area.out = live->own;
}

int live_open(struct live **ret_live, const char *const *command, pid_t pid, uint64_t store_bytes,
              bool output_to_stderr)
{
    struct live *live = calloc(1, sizeof *live);
    struct store *copy = malloc(store_bytes);
    if (live == NULL || copy == NULL) {
        free(live);
        free(copy);
        return -ENOMEM;
    }
    live->copy = copy;
    live->store_bytes = store_bytes;
    choose_place(live, command != NULL, output_to_stderr);
    live->has_blocks = is_utf8();
    live->shares = command != NULL && isatty(STDERR_FILENO) != 0;
    words_of_command(command, pid, live->what, sizeof live->what);
    *ret_live = live;
    return 0;
}

/* The program may begin anew (fst_profile_reset), and so do the figures. */
static void start(struct live *live, const struct store *store)
{
    look_start(&live->first, store);
    live->last = live->first;
    live->streams_last.n = 0;
}

/* Without memory for the streams nothing is shown. */
static void begin(struct live *live, const struct store *store)
{
    start(live, store);
    if (live->shares)
        fputs("fstune: a line each second, because the program prints here, too; with >LOG 2>&1 behind the "
              "command the figures stand in place\n",
              stderr);
    live->due_ns = store->start_ns + PERIOD_NS;
    if (look_streams_open(&live->streams_last, store) < 0 || look_streams_open(&live->streams_now, store) < 0)
        live->due_ns = UINT64_MAX;
}

static void remember(struct live *live, double bps)
{
    if (live->n_history == LIVE_SECONDS)
        memmove(live->history_bps, live->history_bps + 1, (LIVE_SECONDS - 1) * sizeof live->history_bps[0]);
    else
        live->n_history++;
    live->history_bps[live->n_history - 1] = bps;
}

static void show(struct live *live, const struct live_figures *figures)
{
    char text[TEXT_SIZE];
    struct terminal_size size =
        terminal_size(live->area.out != NULL ? fileno(live->area.out) : STDERR_FILENO);
    if (live->area.out == NULL) {
        live_text_line(figures, isatty(STDERR_FILENO) != 0 ? size.columns : sizeof text, text, sizeof text);
        if (terminal_takes(STDERR_FILENO))
            fprintf(stderr, "%s\n", text);
        return;
    }
    live_text_view(figures, size.rows, size.columns, text, sizeof text);
    terminal_draw(&live->area, text);
}

/* Shows the rates from `since` to now. */
static void tell(struct live *live, const struct store *store, const struct look *since, bool has_ended)
{
    static const struct look_streams none;
    struct look_rates now, mean;
    double kind_bps[SUMMARY_N_KINDS], kind_mean_bps[SUMMARY_N_KINDS];
    struct look_stream busiest[LOOK_BUSIEST];
    char names[LOOK_BUSIEST][STORE_NAME_SIZE] = {""};
    size_t n = look_streams_busiest(&live->streams_last, &live->streams_now, busiest);
    look_compare(since, &live->now, &now);
    look_compare(&live->first, &live->now, &mean);
    look_streams_rates(&live->streams_last, &live->streams_now, &now, kind_bps);
    look_streams_rates(&none, &live->streams_now, &mean, kind_mean_bps);
    for (size_t i = 0; i < n; i++)
        store_find_name(store, busiest[i].file, names[i]);
    const struct live_figures figures = {.what = live->what,
                                         .last = &live->now,
                                         .seconds = mean.seconds,
                                         .now = &now,
                                         .mean = &mean,
                                         .kind_bps = kind_bps,
                                         .kind_mean_bps = kind_mean_bps,
                                         .history_bps = live->history_bps,
                                         .n_history = live->n_history,
                                         .busiest = busiest,
                                         .busiest_name = names,
                                         .n_busiest = n,
                                         .has_blocks = live->has_blocks,
                                         .has_ended = has_ended};
    show(live, &figures);
}

static void count(struct live *live, const struct store *store, uint64_t n_lost, uint64_t now_ns)
{
    if (store->start_ns != live->first.at_ns)
        start(live, store);
    look_take(&live->now, store, now_ns);
    live->now.n_lost += n_lost;
    look_streams_take(&live->streams_now, store);
}

static void tell_second(struct live *live, uint64_t n_lost, uint64_t now_ns)
{
    const struct store *store = live->copy;
    struct look_rates now;
    /* After a stop of the whole program the seconds that were missed are not made up. */
    while (live->due_ns <= now_ns)
        live->due_ns += PERIOD_NS;
    count(live, store, n_lost, now_ns);
    look_compare(&live->last, &live->now, &now);
    remember(live, now.bps[PROFILE_READ] + now.bps[PROFILE_WRITE]);
    tell(live, store, &live->last, false);
    live->last = live->now;
    const struct look_streams streams = live->streams_last;
    live->streams_last = live->streams_now;
    live->streams_now = streams;
}

void live_look(void *data, const struct store *store, uint64_t n_lost)
{
    struct live *live = data;
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (live->over_ns == 0 && (__atomic_load_n(&store->is_stopped, __ATOMIC_RELAXED) & STORE_OVER) != 0)
        live->over_ns = now_ns;
    if (live->over_ns != 0 || now_ns < live->due_ns)
        return;
    memcpy(live->copy, store, live->store_bytes);
    if (!store_is_sound(live->copy, live->store_bytes))
        live->due_ns = UINT64_MAX;
    else if (live->due_ns == 0)
        begin(live, live->copy);
    if (now_ns >= live->due_ns)
        tell_second(live, n_lost, now_ns);
}

void live_end(struct live *live, const struct store *store)
{
    if (live == NULL)
        return;
    if (live->area.out != NULL) {
        terminal_clear(&live->area);
    } else if (live->due_ns > 0 && live->due_ns < UINT64_MAX && store != NULL) {
        count(live, store, 0, live->over_ns != 0 ? live->over_ns : clock_now_ns(&clock_monotonic));
        tell(live, store, &live->last, true);
    }
}

void live_close(struct live *live)
{
    if (live == NULL)
        return;
    look_streams_close(&live->streams_last);
    look_streams_close(&live->streams_now);
    if (live->own != NULL)
        fclose(live->own);
    free(live->copy);
    free(live);
}
