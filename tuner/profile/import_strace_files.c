/* tuner/profile/import_strace_files: a table that forgets what was not used for long. */
#include "tuner/profile/import_strace_files.h"

#include <string.h>

#define WAYS 8

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

struct strace_file *strace_files_find(struct strace_files *files, struct import_feed *feed, char **at)
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

void strace_files_opened(struct strace_file *file, struct import_feed *feed, const char *flags)
{
    file->position = 0;
    file->handle = store_new_handle(feed->store);
    file->appends = strstr(flags, "O_APPEND") != NULL;
    const char *direct = strstr(flags, "O_DIRECT");
    file->flags = direct != NULL && direct[strlen("O_DIRECT")] != 'O' ? PROFILE_DIRECT : 0;
    if (strstr(flags, "O_SYNC") != NULL || strstr(flags, "O_DSYNC") != NULL)
        file->flags |= PROFILE_DURABLE;
}
