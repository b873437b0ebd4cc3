/* The leader and the files: of each client, or one of all. */
#include "tuner/search/leader.h"

#include <errno.h>
#include <stdio.h>

#define FILL_NS (600 * CLOCK_NS_PER_S) /* longer than the leader's own filling */

/* The file that all share, still empty. */
static int make_shared(struct session *session, struct clients_command *command, struct err *err)
{
    const struct settings *settings = session->settings;
    const struct session_clients *clients = session->clients;
    int fd, result = session_estimate(session, &command->region_bytes, err);
    if (result == 0)
        result = target_shared_make(settings_place(settings), clients->n_here < clients->n, &command->shared,
                                    &fd, err);
    if (result < 0)
        return result;
    command->distance_bytes = session_clients_distance_bytes(settings, command->region_bytes);
    clients_take_region(session, command, fd);
    return 0;
}

/* All have opened the file when the others hear the last word here, and nobody has begun to fill it. */
static int prepare_shared(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    struct clients_command command = {.what = CLIENTS_PREPARE};
    const char *directory = settings_place(session->settings);
    int result = make_shared(session, &command, err), made = result;
    int told = leader_tell_all(clients, &command, result == 0 ? err : NULL);
    result = result == 0 ? told : result;
    int gathered = leader_gather(clients, result == 0 ? err : NULL);
    result = result == 0 ? gathered : result;
    if (made == 0) {
        int unnamed = target_shared_unname(directory, &command.shared, result == 0 ? err : NULL);
        result = result == 0 ? unnamed : result;
    }
    if (result == 0)
        result = target_shared_check(directory, clients->seen.region.fd, err);
    return leader_start_all(clients, result, 0, err);
}

int leader_files_prepare(struct session *session, struct err *err)
{
    if (session->settings->file.shared)
        return prepare_shared(session, err);
    return leader_tell_all(clients_of(session), &(struct clients_command){.what = CLIENTS_PREPARE}, err);
}

/* The files of others: what is true of all of them. */
static void take_file(struct session *session, uint32_t rank, const struct clients_file *file,
                      struct clients_command *common)
{
    struct target *own = &session->target;
    const char *host = clients_of(session)->hello[rank].host;
    common->fill_bps += file->fill_bps / session->clients->n;
    if (file->size_bytes < common->size_bytes)
        common->size_bytes = file->size_bytes;
    if (file->direct_align_bytes > own->direct_offset_align_bytes)
        own->direct_offset_align_bytes = file->direct_align_bytes;
    bool less = false;
    if (own->direct_read == TARGET_DIRECT_PROVED && file->direct_read != TARGET_DIRECT_PROVED) {
        own->direct_read = file->direct_read;
        less = true;
    }
    if (own->direct_write == TARGET_DIRECT_PROVED && file->direct_write != TARGET_DIRECT_PROVED) {
        own->direct_write = file->direct_write;
        less = true;
    }
    if (less)
        snprintf(own->direct_why, sizeof own->direct_why, "at client %u on %.40s: %.90s", rank, host,
                 file->direct_why);
}

int leader_files_join(struct session *session, int result, struct err *err)
{
    struct clients *clients = clients_of(session);
    struct clients_command common = {.what = CLIENTS_SIZE, .size_bytes = session->target.size_bytes};
    common.fill_bps = session->target.fill_bps / clients->seen.n;
    const uint64_t until_ns = clock_now_ns(&clock_monotonic) + FILL_NS;
    for (uint32_t i = 1; i < clients->seen.n; i++) {
        struct clients_file file;
        /* What is only another's consequence gives way to the reason. */
        const bool open = result == 0 || result == -ECANCELED;
        struct err *why = open ? err : NULL;
        int heard = leader_hear(clients, i, CLIENTS_FILE, &file, sizeof file, until_ns, why);
        if (heard == 0)
            session->bytes_written += file.written_bytes;
        if (heard == 0 && file.code < 0 && (result == 0 || file.code != -ECANCELED))
            heard = leader_pass_on(clients, i, file.code, file.text, why);
        if (heard == 0 && result == 0)
            take_file(session, i, &file, &common);
        result = open && heard < 0 ? heard : result;
    }
    if (result < 0)
        common.size_bytes = 0;
    int told = leader_tell_all(clients, &common, result == 0 ? err : NULL);
    (void)clients_take_size(session, &common);
    return result == 0 ? told : result;
}
