/* tuner/search/clients: several processes that load one file system together, each with a file of its own or
 * with a region of one that they share.
 *
 * The leader (rank 0) decides and asks; the others follow. A run is: the leader sends the plan; each client
 * prepares and says when it is ready; clocks are compared; the leader names the time at which all begin; each
 * measures, and sends what it saw; the leader sums up. Nothing is sent while requests are in flight. */
#pragma once

#include "bench/run/measure.h"
#include "bench/target/target_shared.h"
#include "tuner/search/combine.h"
#include "tuner/session/session.h"

#define CLIENTS_HOST_SIZE 65

/* Kinds of messages. Of the leader: COMMAND, and CALL while all are on their way to a common start. */
enum {
    CLIENTS_HELLO = 1,
    CLIENTS_COMMAND,
    CLIENTS_CALL,
    CLIENTS_READY,
    CLIENTS_CLOCK,
    CLIENTS_FILE,
    CLIENTS_RESULT,
    CLIENTS_HERE
};

struct clients_hello {
    char version[32];
    uint64_t report_bytes; /* of one build with ours? */
    char host[CLIENTS_HOST_SIZE];
    int32_t pid;
    int32_t code; /* of opening the session, with words */
    char text[ERR_TEXT_SIZE];
};

enum clients_what { CLIENTS_PREPARE, CLIENTS_SIZE, CLIENTS_RUN, CLIENTS_ROLL_CALL, CLIENTS_END };

struct clients_command {
    enum clients_what what;
    uint64_t size_bytes; /* CLIENTS_SIZE: of every file; 0: somebody has none, and all give theirs up */
    double fill_bps;     /* the mean */
    /* CLIENTS_PREPARE with --shared-file: the file, inode 0 where none could be made, and its regions. */
    struct target_shared shared;
    uint64_t region_bytes, distance_bytes;
    struct measure_plan plan; /* CLIENTS_RUN */
};

enum clients_word { CLIENTS_PING, CLIENTS_GO, CLIENTS_VOID };

struct clients_call {
    enum clients_word word;
    uint64_t start_ns; /* of the follower's clock */
};

/* The file of a client. */
struct clients_file {
    int32_t code;
    char text[ERR_TEXT_SIZE];
    uint64_t size_bytes, written_bytes;
    double fill_bps;
    enum target_proof direct_read, direct_write;
    uint32_t direct_align_bytes;
    char direct_why[160];
};

/* One run of a setting: what each client reached. */
struct clients_run {
    struct point point;
    double *rates_bps; /* n */
};

/* The length that a setting's runs need here, where it is not the planned one. */
struct clients_length {
    struct point point;
    double factor;
};

struct clients {
    struct session_clients seen; /* what the session sees; the first member */
    bool opened, ended;
    /* Of the leader, by rank: */
    struct clients_hello *hello;
    bool *is_lost;                /* died or stalls */
    uint32_t first_lost;          /* by whom all is blamed; 0: nobody is lost */
    bool blames_nobody;           /* it may be another: mpirun, which knows, has begun to end all */
    uint32_t n_active;            /* these make the present run, the others wait; n between runs */
    struct clock_offset *offset;  /* of the last meeting */
    struct client_report *report; /* of the last run */
    uint64_t clock_error_ns;      /* the largest of all meetings */
    struct clients_run *runs;
    size_t n_runs, n_runs_most;
    uint64_t n_disturbed; /* of the session, when the last of them was noted */
    struct clients_length *lengths;
    size_t n_lengths, n_void; /* runs that were void, in a row */
    uint64_t start_ns;        /* of the run under way: when all began */
    /* Of the run under way, and of making the file: this client has told the others of its part. */
    bool has_met, has_joined;
    /* Of a follower: the file that it was asked to prepare. */
    struct clients_command asked;
};

/* Makes this process one of n clients, for the sessions that it opens. 0 or -ENOMEM. clients_done accepts a
 * zeroed one. */
int clients_init(struct clients *clients, uint32_t rank, uint32_t n, uint32_t n_here, bool is_first_here);
void clients_done(struct clients *clients);

/* Says who is lost, "client 2 (process 77 on h) died or stalls ..."; NULL where nobody is. */
const char *clients_name_lost(const struct clients *clients, char text[ERR_TEXT_SIZE]);

/* The end of the command. Of the leader: lets the others go; true when all went. Of a follower whose session
 * could not be opened: waits for that, and tells why (code and text, 0 for nothing) to a leader that asks;
 * false when the leader is silent. */
bool clients_end(struct clients *clients, int code, const char *text);

/* The roles, as in tuner/session/session_clients. */
extern const struct session_clients clients_leads, clients_follows;

static inline struct clients *clients_of(const struct session *session)
{
    return (struct clients *)session->clients;
}

/* --- shared by leader.c and follower.c --- */

bool clients_follow_to_end(struct clients *clients, int code, const char *text);

void clients_say_hello(struct clients_hello *hello, int code, const char *text);
void clients_describe_file(const struct session *session, int result, const struct err *err,
                           struct clients_file *file);
/* The part of this client of a shared file, of which it has this descriptor. */
void clients_take_region(struct session *session, const struct clients_command *command, int fd);
/* Takes the common size; unpacks -ECANCELED where it is 0. */
int clients_take_size(struct session *session, const struct clients_command *command);
/* The run of session->job on this machine, with its limits and warnings. */
void clients_measure_own(struct session *session, int (*meet)(void *, uint64_t *, struct err *),
                         struct client_report *report);
