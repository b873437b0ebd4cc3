/* fstune-mpi: fstune with several clients, which mpirun starts. */
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/commands/command.h"
#include "tuner/search/clients.h"
#include "tuner/search/link_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What mpirun takes to pass an answer on. */
#define FORWARD_NS 200000000ULL

static bool knows(const char *word)
{
    static const char *const words[] = {"recommend", "measure", "--help", "-h", "--version"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && !knows(argv[1]))
        return fail_with(EXIT_USAGE, "several clients can recommend and measure; for \"%s\" use fstune",
                         argv[1]);
    return program_run(argc, argv);
}

/* The leader speaks for all. What the others want to say goes to it; only that it is lost they say
 * themselves. Returns a descriptor for that. */
static int fall_silent(void)
{
    int voice = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (none >= 0) {
        dup2(none, STDOUT_FILENO);
        dup2(none, STDERR_FILENO);
        close(none);
    }
    return voice;
}

static int lead(struct clients *clients, int argc, char **argv)
{
    char lost[ERR_TEXT_SIZE];
    int code = run(argc, argv);
    bool all_left = clients_end(clients, 0, "");
    if (!all_left && clients_name_lost(clients, lost) != NULL && strcmp(fail_text(), lost) != 0)
        code = fail_with(EXIT_FAILED, "%s", lost);
    fflush(stdout);
    /* After a signal mpirun ends with its last process, and does not wait for what is on its way to it. */
    if (atomic_load(&interrupt_signal) != 0)
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + FORWARD_NS);
    if (!all_left)
        _exit(code);
    return code;
}

static int follow(struct clients *clients, int argc, char **argv)
{
    int voice = fall_silent(), code = run(argc, argv);
    bool led = clients_end(clients, code == EXIT_DONE ? 0 : -EINVAL, fail_text());
    /* One of them is enough to say it. */
    if (!led && clients->seen.rank == 1)
        dprintf(voice,
                "fstune: client 0, which leads, died or stalls, and there is no answer; start again\n");
    if (!led) {
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + FORWARD_NS);
        _exit(EXIT_FAILED);
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    static struct clients clients;
    struct link link;
    int result = link_open(&argc, &argv, &link);
    if (result < 0)
        return fail_with(EXIT_FAILED, "MPI does not start; start with mpirun -n CLIENTS fstune-mpi ...");
    if (link.n > 1)
        result = clients_init(&clients, link.rank, link.n, link.n_here, link.is_first_here);
    /* Open MPI passes this one on at once; after others it kills by its own clock. */
    if (result < 0 || interrupt_catch_too(SIGUSR1) < 0)
        return fail_with(EXIT_FAILED, "no memory for %u clients, or no signals", link.n);
    int code = link.n == 1              ? run(argc, argv)
               : clients.seen.rank == 0 ? lead(&clients, argc, argv)
                                        : follow(&clients, argc, argv);
    link_close();
    clients_done(&clients);
    return code;
}
