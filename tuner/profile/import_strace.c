/* tuner/profile/import_strace: what strace -f -ttt -T -y prints. A line is
 *   PID TIME NAME(ARGUMENTS) = RESULT ... <SECONDS>
 * or, when another thread's call came in between, its beginning up to "<unfinished ...>" and later
 *   PID TIME <... NAME resumed>REST. */
#include "tuner/profile/import_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNFINISHED   "<unfinished ...>"
#define LIBRARY_READ ", \"\\177ELF"
#define MOST_WAITING 256  /* threads that are inside a call */
#define HEAD_BYTES   2048 /* of a call that is not finished: descriptor and offset stand in it or behind it */
#define TAIL_BYTES   65536
#define STRACE_FILES 8192
#define WAYS         8 /* of a set, whose member that was not used for longest makes room */

/* What the descriptors in a trace are, and where they stand. A descriptor is its number and its path, as
 * strace -y prints them together: threads and children share it. */
struct strace_file {
    uint64_t key; /* of number and path; 0: free */
    uint64_t file, position, used;
    uint32_t handle;
    unsigned flags; /* PROFILE_DIRECT, PROFILE_DURABLE */
    bool appends;
};

struct strace_files {
    struct strace_file slot[STRACE_FILES];
    uint64_t clock;
};

struct waiting {
    uint64_t thread, start_ns;
    bool is_used, has_begun;
    char head[HEAD_BYTES];
};

struct strace {
    struct strace_files files;
    struct waiting waiting[MOST_WAITING];
    char joined[HEAD_BYTES + TAIL_BYTES];
};

struct call {
    uint64_t thread, start_ns, spent_ns;
    bool has_begun;         /* counted as in flight when its first half was read */
    char *name, *arguments; /* zero-terminated; the arguments up to the closing bracket */
    uint64_t result;
    char *result_text; /* behind " = " */
};

enum form { PLACED, PLACED_WITH_FLAGS, MOVING };

/* Calls that move bytes. */
static const struct transfer {
    const char *name;
    enum profile_direction direction;
    enum form form;
} transfers[] = {
    {"read", PROFILE_READ, MOVING},
    {"write", PROFILE_WRITE, MOVING},
    {"pread64", PROFILE_READ, PLACED},
    {"pwrite64", PROFILE_WRITE, PLACED},
    {"readv", PROFILE_READ, MOVING},
    {"writev", PROFILE_WRITE, MOVING},
    {"preadv", PROFILE_READ, PLACED},
    {"pwritev", PROFILE_WRITE, PLACED},
    {"preadv2", PROFILE_READ, PLACED_WITH_FLAGS},
    {"pwritev2", PROFILE_WRITE, PLACED_WITH_FLAGS},
};

static bool is_file(const char *path)
{
    static const char *const others[] = {"/proc/",    "/sys/",        "/dev/pts/",   "/dev/tty", "/dev/null",
                                         "/dev/zero", "/dev/urandom", "/dev/random", "/memfd:"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    }
    return path[0] == '/';
}

static struct strace_file *find_slot(struct strace_files *files, uint64_t key)
{
    struct strace_file *set = &files->slot[key % (STRACE_FILES / WAYS) * WAYS], *oldest = set;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    return oldest;
}

/* "3</path>" at *at, which moves behind it; made where it is new. NULL: no descriptor, or one of no file. */
static struct strace_file *strace_files_find(struct strace_files *files, struct import_feed *feed, char **at)
{
    uint64_t number;
    char *path = *at;
    if (!import_feed_number(&path, &number) || *path != '<')
        return NULL;
    path++;
    size_t length = strcspn(path, ">");
    if (path[length] != '>')
        return NULL;
    *at = path + length + 1;
    if (!is_file(path))
        return NULL;
    uint64_t name = import_feed_file(feed, path, length), key = name ^ (number + 1) * 0x9e3779b97f4a7c15ULL;
    struct strace_file *file = find_slot(files, key + (key == 0));
    if (file->key != key + (key == 0)) {
        *file = (struct strace_file){.key = key + (key == 0), .file = name};
        file->handle = store_new_handle(feed->store);
    }
    file->used = ++files->clock;
    return file;
}

/* It was opened with these flags, as strace prints them. */
static void strace_files_opened(struct strace_file *file, struct import_feed *feed, const char *flags)
{
    file->position = 0;
    file->handle = store_new_handle(feed->store);
    file->appends = strstr(flags, "O_APPEND") != NULL;
    const char *direct = strstr(flags, "O_DIRECT");
    file->flags = direct != NULL && direct[strlen("O_DIRECT")] != 'O' ? PROFILE_DIRECT : 0;
    if (strstr(flags, "O_SYNC") != NULL || strstr(flags, "O_DSYNC") != NULL)
        file->flags |= PROFILE_DURABLE;
}

static const struct transfer *find_transfer(const char *name)
{
    for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
        if (strcmp(transfers[i].name, name) == 0)
            return &transfers[i];
    }
    return NULL;
}

/* The n-th argument from the end, which are numbers and flags there. */
static char *argument_from_end(char *arguments, unsigned n)
{
    char *end = arguments + strlen(arguments);
    for (char *at = end; at > arguments; at--) {
        if (at[-1] == ',' && --n == 0)
            return at + strspn(at, " ");
    }
    return NULL;
}

static void end_flight(struct import_feed *feed, const struct call *call)
{
    if (!call->has_begun)
        import_feed_begin(feed);
    import_feed_end_at(feed, call->start_ns + call->spent_ns);
}

static void take_transfer(struct import_feed *feed, const struct call *call, const struct transfer *transfer)
{
    struct strace *strace = feed->state;
    char *at = call->arguments;
    struct strace_file *file = strace_files_find(&strace->files, feed, &at);
    /* The loader's look at a library is no act of the program. */
    if (file == NULL || strncmp(at, LIBRARY_READ, strlen(LIBRARY_READ)) == 0) {
        if (call->has_begun)
            import_feed_end_at(feed, feed->now_ns);
        return;
    }
    struct profile_request request = {.start_ns = call->start_ns,
                                      .file = file->file,
                                      .handle = file->handle,
                                      .thread = (uint32_t)call->thread,
                                      .offset_bytes = file->position,
                                      .n_bytes = call->result,
                                      .direction = transfer->direction,
                                      .flags = file->flags};
    char *offset =
        transfer->form == MOVING ? NULL : argument_from_end(at, transfer->form == PLACED_WITH_FLAGS ? 2 : 1);
    if (transfer->form == PLACED_WITH_FLAGS && strstr(at, "RWF_DSYNC") != NULL)
        request.flags |= PROFILE_DURABLE;
    if (offset == NULL || !import_feed_number(&offset, &request.offset_bytes))
        file->position += call->result;
    end_flight(feed, call);
    import_feed_take(feed, &request);
    store_took(feed->store, request.direction, call->spent_ns);
}

/* Those of one call begin together; which of them the kernel took stands in the result. */
static void take_submit(struct import_feed *feed, const struct call *call)
{
    struct strace *strace = feed->state;
    char *at = call->arguments;
    for (uint64_t i = 0; i < call->result && (at = strstr(at, "aio_lio_opcode=IOCB_CMD_P")) != NULL; i++) {
        at += strlen("aio_lio_opcode=IOCB_CMD_P");
        bool writes = *at == 'W';
        char *descriptor = strstr(at, "aio_fildes="), *bytes = strstr(at, "aio_nbytes="),
             *offset = strstr(at, "aio_offset=");
        if (descriptor == NULL || offset == NULL)
            return;
        descriptor += strlen("aio_fildes=");
        offset += strlen("aio_offset=");
        struct strace_file *file = strace_files_find(&strace->files, feed, &descriptor);
        struct profile_request request = {.start_ns = call->start_ns,
                                          .thread = (uint32_t)call->thread,
                                          .direction = writes ? PROFILE_WRITE : PROFILE_READ};
        if (bytes != NULL)
            bytes += strlen("aio_nbytes=");
        if (file == NULL || bytes == NULL || !import_feed_number(&offset, &request.offset_bytes) ||
            !import_feed_number(&bytes, &request.n_bytes)) {
            store_count(feed->store, STORE_LOST_REQUESTS, 1);
            continue;
        }
        request.file = file->file;
        request.handle = file->handle;
        request.flags = file->flags | PROFILE_ASYNC;
        import_feed_begin(feed);
        import_feed_take(feed, &request);
    }
}

static void take_flush(struct import_feed *feed, const struct call *call, bool of_all)
{
    struct strace *strace = feed->state;
    char *at = call->arguments;
    const struct strace_file *file = of_all ? NULL : strace_files_find(&strace->files, feed, &at);
    if (of_all || file != NULL)
        import_feed_flush(feed, of_all ? 0 : file->file, call->spent_ns);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

/* What changes descriptors without moving bytes. */
static void take_other(struct import_feed *feed, const struct call *call)
{
    static const char *const opens[] = {"open", "openat", "openat2", "creat", NULL};
    struct strace *strace = feed->state;
    char *at = call->result_text;
    struct strace_file *file;
    if (is_one_of(call->name, opens) && (file = strace_files_find(&strace->files, feed, &at)) != NULL)
        strace_files_opened(file, feed, call->arguments);
    at = call->arguments;
    if (strcmp(call->name, "lseek") == 0 && (file = strace_files_find(&strace->files, feed, &at)) != NULL)
        file->position = call->result;
    if (strcmp(call->name, "close") == 0 && (file = strace_files_find(&strace->files, feed, &at)) != NULL)
        store_close(feed->store, file->file, file->handle);
}

static void take_call(struct import_feed *feed, const struct call *call)
{
    static const char *const flushes[] = {"fsync", "fdatasync", NULL}, *const all[] = {"sync", "syncfs",
                                                                                       NULL};
    static const char *const reaps[] = {"io_getevents", "io_pgetevents", NULL};
    const struct transfer *transfer = find_transfer(call->name);
    if (transfer != NULL)
        take_transfer(feed, call, transfer);
    else if (strcmp(call->name, "io_submit") == 0)
        take_submit(feed, call);
    else if (is_one_of(call->name, reaps))
        store_end(feed->store, call->start_ns + call->spent_ns - feed->base_ns, (uint32_t)call->result);
    else if (is_one_of(call->name, flushes) || is_one_of(call->name, all))
        take_flush(feed, call, is_one_of(call->name, all));
    else
        take_other(feed, call);
}

/* From "name(arguments) = result <seconds>"; false where the call failed or says nothing. */
static bool read_call(char *text, struct call *call)
{
    char *open = strchr(text, '('), *close = NULL;
    if (open == NULL)
        return false;
    /* Texts in the arguments may hold anything: the last one counts. */
    for (char *at = open; (at = strstr(at, ") ")) != NULL; at++) {
        if (strncmp(at + 1 + strspn(at + 1, " "), "= ", 2) == 0)
            close = at;
    }
    if (close == NULL)
        return false;
    *open = *close = '\0';
    call->name = text;
    call->arguments = open + 1;
    call->result_text = close + 1 + strspn(close + 1, " ") + 2;
    char *at = call->result_text, *spent = strrchr(at, '<');
    if (spent != NULL) {
        spent++;
        import_feed_seconds(&spent, &call->spent_ns);
    }
    return import_feed_number(&at, &call->result);
}

static struct waiting *find_waiting(struct strace *strace, uint64_t thread)
{
    for (size_t i = 0; i < MOST_WAITING; i++) {
        if (strace->waiting[i].is_used && strace->waiting[i].thread == thread)
            return &strace->waiting[i];
    }
    return NULL;
}

/* The first half of a call: what moves bytes of a file is in flight from here on. */
static int keep_half(struct import_feed *feed, const struct call *call, char *text)
{
    struct strace *strace = feed->state;
    struct waiting *waiting = find_waiting(strace, call->thread);
    for (size_t i = 0; i < MOST_WAITING && waiting == NULL; i++)
        waiting = strace->waiting[i].is_used ? NULL : &strace->waiting[i];
    if (waiting == NULL || strlen(text) >= HEAD_BYTES)
        return -EINVAL;
    *waiting = (struct waiting){.thread = call->thread, .start_ns = call->start_ns, .is_used = true};
    memcpy(waiting->head, text, strlen(text) + 1);
    char *bracket = strchr(text, '('), *at = bracket != NULL ? bracket + 1 : text;
    if (bracket != NULL)
        *bracket = '\0';
    waiting->has_begun = find_transfer(text) != NULL && strace_files_find(&strace->files, feed, &at) != NULL;
    if (waiting->has_begun)
        import_feed_begin(feed);
    return 0;
}

static int take_text(struct import_feed *feed, struct call *call, char *text)
{
    bool is_call = read_call(text, call);
    /* It was in flight, and failed. */
    if (!is_call && call->has_begun)
        import_feed_end_at(feed, feed->now_ns);
    if (is_call)
        take_call(feed, call);
    return 0;
}

static int take_resumed(struct import_feed *feed, struct call *call, const char *rest)
{
    struct strace *strace = feed->state;
    struct waiting *waiting = find_waiting(strace, call->thread);
    if (waiting == NULL || strlen(rest) >= TAIL_BYTES)
        return -EINVAL;
    size_t length = strlen(waiting->head);
    memcpy(strace->joined, waiting->head, length);
    memcpy(strace->joined + length, rest, strlen(rest) + 1);
    call->start_ns = waiting->start_ns;
    call->has_begun = waiting->has_begun;
    waiting->is_used = false;
    return take_text(feed, call, strace->joined);
}

/* "PID " is there with -f and several processes, "[pid N] " on a terminal. */
static bool read_head(char **at, struct call *call)
{
    char *c = *at;
    if (strncmp(c, "[pid", 4) == 0) {
        c += 4 + strspn(c + 4, " ");
        if (!import_feed_number(&c, &call->thread) || *c != ']')
            return false;
        c++;
    } else {
        char *number = c;
        if (import_feed_number(&number, &call->thread) && *number == ' ')
            c = number;
        else
            call->thread = 1;
    }
    c += strspn(c, " ");
    if (!import_feed_seconds(&c, &call->start_ns) || *c != ' ')
        return false;
    *at = c + 1;
    return true;
}

static int take_line(struct import_feed *feed, char *line)
{
    struct call call = {0};
    char *text = line;
    if (!read_head(&text, &call))
        return -EINVAL;
    import_feed_time(feed, call.start_ns);
    if (strncmp(text, "+++", 3) == 0 || strncmp(text, "---", 3) == 0)
        return 0;
    if (strncmp(text, "<... ", 5) == 0) {
        const char *rest = strstr(text, " resumed>");
        return rest != NULL ? take_resumed(feed, &call, rest + strlen(" resumed>")) : -EINVAL;
    }
    /* The words may stand in a text, too. */
    size_t length = strlen(text), n = strlen(UNFINISHED);
    if (length < n || strcmp(text + length - n, UNFINISHED) != 0)
        return take_text(feed, &call, text);
    text[length - n] = '\0';
    return keep_half(feed, &call, text);
}

const struct import_format import_strace = {.name = "strace",
                                            .state_size = sizeof(struct strace),
                                            .knows_calls = true,
                                            .knows_flushes = true,
                                            .take_line = take_line};
