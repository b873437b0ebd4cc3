/* tuner/base/trust: a walk along a path, one component after the other, as the kernel would go. */
#include "tuner/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN      100
#define MOST_LINKS 40 /* as the kernel follows */
#define FOR_LOOKS  (O_PATH | O_NOFOLLOW | O_CLOEXEC)
#define OTHERS     (S_IWGRP | S_IWOTH)

struct walk {
    int fd;                                /* what was reached */
    struct stat status;                    /* of that */
    struct stat parent;                    /* of the directory that it was found in */
    uid_t other;                           /* the only owner so far beside root and us; 0: none */
    unsigned n_links;                      /* followed */
    const char *path;                      /* as it was given, for messages */
    char at[NAME_MAX + 1], rest[PATH_MAX]; /* the name of what was reached, and the rest of the way */
};

int trust_check_mode(const struct stat *status, const char *name, struct err *err)
{
    if ((status->st_mode & OTHERS) == 0)
        return 0;
    return err_set(
        err, -EPERM,
        "%.*s: others than its owner may write to it (mode %04o); see what is there, then take that "
        "away with chmod go-w",
        SHOWN, name, status->st_mode & 07777U);
}

static int check_owner(struct walk *walk, const struct stat *status, const char *name, struct err *err)
{
    if (status->st_uid == 0 || status->st_uid == geteuid() || status->st_uid == walk->other)
        return 0;
    if (walk->other == 0) {
        walk->other = status->st_uid;
        return 0;
    }
    return err_set(err, -EPERM,
                   "%.*s: its parts belong to several users (%.*s to user %u); choose another place", SHOWN,
                   walk->path, SHOWN, name, (unsigned)status->st_uid);
}

/* The owner of what was found may own the way to it; a stranger on the way could lead us anywhere. */
static int check_end(const struct walk *walk, struct err *err)
{
    if (walk->other == 0 || walk->other == walk->status.st_uid)
        return 0;
    return err_set(err, -EPERM, "%.*s: a part of the way there belongs to user %u; choose another place",
                   SHOWN, walk->path, (unsigned)walk->other);
}

static void arrive(struct walk *walk, int fd, const struct stat *status, const char *name)
{
    if (walk->fd >= 0)
        close(walk->fd);
    walk->parent = walk->status;
    walk->fd = fd;
    walk->status = *status;
    snprintf(walk->at, sizeof walk->at, "%s", name);
}

static int go_to_root(struct walk *walk, struct err *err)
{
    struct stat status;
    int fd = open("/", FOR_LOOKS | O_DIRECTORY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int result = err_sys(err, -errno, "/: cannot be examined");
        if (fd >= 0)
            close(fd);
        return result;
    }
    arrive(walk, fd, &status, "/");
    return check_owner(walk, &status, "/", err);
}

/* What the link says comes before the rest of the way. */
static int follow_link(struct walk *walk, int link_fd, struct err *err)
{
    char text[PATH_MAX], way[2 * PATH_MAX];
    ssize_t n = readlinkat(link_fd, "", text, sizeof text - 1);
    if (n < 0 || walk->n_links++ == MOST_LINKS)
        return err_sys(err, n < 0 ? -errno : -ELOOP, "%.*s: cannot be followed", SHOWN, walk->path);
    text[n] = '\0';
    int length = snprintf(way, sizeof way, "%s/%s", text, walk->rest);
    if (length < 0 || (size_t)length >= sizeof walk->rest)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, walk->path);
    memcpy(walk->rest, way, (size_t)length + 1);
    return text[0] == '/' ? go_to_root(walk, err) : 0;
}

/* With O_DIRECTORY first: it alone has an automounter mount. */
static int open_entry(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, FOR_LOOKS | O_DIRECTORY);
    return fd >= 0 || errno != ENOTDIR ? fd : openat(dir_fd, name, FOR_LOOKS);
}

static int step(struct walk *walk, const char *name, struct err *err)
{
    struct stat status;
    if ((walk->status.st_mode & S_ISVTX) == 0 && trust_check_mode(&walk->status, walk->at, err) < 0) {
        err_prefix(err, "%.*s: on the way there", SHOWN, walk->path);
        return -EPERM;
    }
    int fd = open_entry(walk->fd, name);
    if (fd < 0)
        return err_sys(err, -errno, "%.*s: cannot be opened", SHOWN, walk->path);
    int result = fstat(fd, &status) == 0
                     ? check_owner(walk, &status, name, err)
                     : err_sys(err, -errno, "%.*s: cannot be examined", SHOWN, walk->path);
    if (result < 0 || S_ISLNK(status.st_mode)) {
        result = result < 0 ? result : follow_link(walk, fd, err);
        close(fd);
        return result;
    }
    arrive(walk, fd, &status, name);
    return 0;
}

static bool take_name(struct walk *walk, char name[NAME_MAX + 1], bool *ret_too_long)
{
    size_t start = strspn(walk->rest, "/"), n = strcspn(walk->rest + start, "/");
    *ret_too_long = n > NAME_MAX;
    if (n == 0 || *ret_too_long)
        return false;
    memcpy(name, walk->rest + start, n);
    name[n] = '\0';
    memmove(walk->rest, walk->rest + start + n, strlen(walk->rest + start + n) + 1);
    return true;
}

static int go(struct walk *walk, struct err *err)
{
    char name[NAME_MAX + 1];
    bool too_long = false;
    int result = go_to_root(walk, err);
    while (result == 0 && take_name(walk, name, &too_long))
        result = step(walk, name, err);
    if (result == 0 && too_long)
        result = err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, walk->path);
    return result;
}

/* A relative path begins at the root as well: whoever can move our directory is on the way too. */
static int begin(struct walk *walk, const char *path, struct err *err)
{
    char here[PATH_MAX] = "";
    *walk = (struct walk){.fd = -1, .path = path};
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return err_sys(err, -errno, "the working directory is not known");
    int length = snprintf(walk->rest, sizeof walk->rest, "%s/%s", here, path);
    if (length < 0 || (size_t)length >= sizeof walk->rest)
        return err_set(err, -ENAMETOOLONG, "%.*s: the path is too long", SHOWN, path);
    return 0;
}

static void end(struct walk *walk)
{
    if (walk->fd >= 0)
        close(walk->fd);
}

int trust_open_directory(const char *path, int *ret_fd, struct err *err)
{
    struct walk walk;
    int fd = -1, result = begin(&walk, path, err);
    if (result == 0)
        result = go(&walk, err);
    if (result == 0)
        result = check_end(&walk, err);
    if (result == 0)
        result = trust_check_mode(&walk.status, path, err);
    if (result == 0 && (fd = openat(walk.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        result = err_sys(err, -errno, "%.*s: the directory cannot be opened", SHOWN, path);
    end(&walk);
    if (result == 0)
        *ret_fd = fd;
    return result;
}

static int check_found(const struct walk *walk, bool by_owner, struct err *err)
{
    const uid_t owner = walk->status.st_uid;
    int result = check_end(walk, err);
    if (result == 0 && owner != 0 && owner != geteuid() && !(by_owner && owner == walk->parent.st_uid))
        result = err_set(err, -EPERM, "%.*s: belongs to user %u; give it to the one that fstune runs as",
                         SHOWN, walk->path, (unsigned)owner);
    return result < 0 ? result : trust_check_mode(&walk->status, walk->path, err);
}

int trust_check_file(const char *path, bool by_owner, struct err *err)
{
    struct walk walk;
    int result = begin(&walk, path, err);
    if (result == 0)
        result = go(&walk, err);
    bool is_missing = result == -ENOENT && walk.rest[strspn(walk.rest, "/")] == '\0';
    const struct stat *directory = is_missing ? &walk.status : &walk.parent;
    if (is_missing)
        result = check_end(&walk, err);
    else if (result == 0)
        result = check_found(&walk, by_owner, err);
    if (result == 0 && trust_check_mode(directory, "its directory", err) < 0) {
        err_prefix(err, "%.*s", SHOWN, path);
        result = -EPERM;
    }
    end(&walk);
    return result;
}
