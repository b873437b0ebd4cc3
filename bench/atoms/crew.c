/* Threads that wait for work, each at a semaphore of its own. */
#include "bench/atoms/crew.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

struct worker {
    struct crew *crew;
    pthread_t thread;
    sem_t may_start;
    void *state;
    int result;
};

struct crew {
    struct worker workers[CREW_MAX]; /* [n_threads] */
    uint32_t n_threads;              /* beside the caller */
    sem_t is_done;
    int (*work)(void *state, uint64_t n); /* NULL: there is no more */
    uint64_t n_activities;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

static void *serve(void *context)
{
    struct worker *worker = context;
    struct crew *crew = worker->crew;
    for (;;) {
        wait_for(&worker->may_start);
        if (crew->work == NULL)
            return NULL;
        worker->result = crew->work(worker->state, crew->n_activities);
        sem_post(&crew->is_done);
    }
}

/* Signals are the caller's. */
static int start(struct worker *worker)
{
    sigset_t all, before;
    sem_init(&worker->may_start, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&worker->thread, NULL, serve, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result < 0)
        sem_destroy(&worker->may_start);
    return result;
}

int crew_open(uint32_t n_workers, struct crew **ret_crew)
{
    struct crew *crew = calloc(1, sizeof *crew);
    int result = crew != NULL ? 0 : -ENOMEM;
    if (crew != NULL)
        sem_init(&crew->is_done, 0, 0);
    for (uint32_t k = 0; result == 0 && k < n_workers - 1; k++) {
        crew->workers[k].crew = crew;
        result = start(&crew->workers[k]);
        crew->n_threads += result == 0;
    }
    if (result < 0)
        crew_close(crew);
    else
        *ret_crew = crew;
    return result;
}

int crew_run(struct crew *crew, int (*work)(void *state, uint64_t n), void *const *states, uint64_t n)
{
    crew->work = work;
    crew->n_activities = n;
    for (uint32_t k = 0; k < crew->n_threads; k++) {
        crew->workers[k].state = states[k + 1];
        sem_post(&crew->workers[k].may_start);
    }
    int result = work(states[0], n);
    for (uint32_t k = 0; k < crew->n_threads; k++)
        wait_for(&crew->is_done);
    for (uint32_t k = 0; k < crew->n_threads && result == 0; k++)
        result = crew->workers[k].result;
    return result;
}

void crew_close(struct crew *crew)
{
    if (crew == NULL)
        return;
    crew->work = NULL;
    for (uint32_t k = 0; k < crew->n_threads; k++) {
        sem_post(&crew->workers[k].may_start);
        pthread_join(crew->workers[k].thread, NULL);
        sem_destroy(&crew->workers[k].may_start);
    }
    sem_destroy(&crew->is_done);
    free(crew);
}
