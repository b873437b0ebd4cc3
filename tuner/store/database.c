/* tuner/store/database: headers and journals of SQLite's files. */
#include "tuner/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Of SQLite's file format. */
#define HEADER_SIZE           100
#define HEADER_MAGIC          "SQLite format 3"
#define HEADER_VERSION_AT     60
#define HEADER_APPLICATION_AT 68

int database_refuse_newer(const struct database_kind *kind, int64_t version, struct err *err)
{
    return err_set(err, -EINVAL,
                   "it was written by a newer fstune (schema %" PRId64
                   ", this one knows %d); update fstune or name another file",
                   version, kind->version);
}

/* Neither SQLite's permissions nor the umask decide who may read it. */
static int create(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
        return err_sys(err, -errno, "it cannot be made");
    if (fd >= 0)
        close(fd);
    return 0;
}

bool database_is_one(const char *path)
{
    char begin[sizeof HEADER_MAGIC] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_one = fd >= 0 && read(fd, begin, sizeof begin) == (ssize_t)sizeof begin &&
                  memcmp(begin, HEADER_MAGIC, sizeof begin) == 0;
    if (fd >= 0)
        close(fd);
    return is_one;
}

static uint32_t number_at(const unsigned char *header, size_t at)
{
    return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 | (uint32_t)header[at + 2] << 8 |
           header[at + 3];
}

static int judge_header(const struct database_kind *kind, const unsigned char *header, struct err *err)
{
    if (memcmp(header, HEADER_MAGIC, sizeof HEADER_MAGIC) != 0)
        return err_set(err, -EINVAL, "it is no %s; name another file", kind->what);
    if (number_at(header, HEADER_APPLICATION_AT) != kind->application)
        return err_set(err, -EINVAL, "it is a database of another program; name another file");
    uint32_t version = number_at(header, HEADER_VERSION_AT);
    return version > (uint32_t)kind->version ? database_refuse_newer(kind, version, err) : 0;
}

/* Looks at the first bytes. SQLite would make files beside a strange database by merely opening it; its own
 * handle reads them, because closing any other descriptor of a file drops all locks that this process has on
 * it. */
static int judge_file(const struct database_kind *kind, const char *path, struct err *err)
{
    unsigned char header[HEADER_SIZE];
    sqlite3 *db = NULL;
    sqlite3_file *file = NULL;
    int result;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file->pMethods == NULL)
        result = err_set(err, -EACCES, "it cannot be opened for reading");
    else if (file->pMethods->xRead(file, header, HEADER_SIZE, 0) != SQLITE_OK)
        result = err_set(err, -EINVAL, "it is no %s; name another file", kind->what);
    else
        result = judge_header(kind, header, err);
    sqlite3_close(db);
    return result;
}

int database_check(const struct database_kind *kind, const char *path, bool write, struct err *err)
{
    struct stat status;
    if (stat(path, &status) < 0) {
        if (errno != ENOENT)
            return err_sys(err, -errno, "cannot look at it");
        if (!write)
            return err_set(err, -ENOENT, "there is no such file");
        return create(path, err);
    }
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "it is not a regular file");
    if (status.st_size == 0)
        return write ? 0 : err_set(err, -EINVAL, "it is empty");
    return judge_file(kind, path, err);
}

/* A write-ahead log has its index in memory that all processes share, which those of several machines cannot.
 * FUSE: a network may be behind it. */
const char *database_journal_mode(uint32_t file_system)
{
    static const uint32_t shared[] = {
        0x6969,     /* nfs */
        0xff534d42, /* cifs */
        0xfe534d42, /* smb2 */
        0x517b,     /* smb */
        0x65735546, /* fuse */
        0x01021997, /* 9p */
        0x00c36400, /* ceph */
        0x5346414f, /* afs */
        0x6b414653, /* kafs */
        0x73757245, /* coda */
        0x7461636f, /* ocfs2 */
        0x01161970, /* gfs2 */
        0x0bd00bd0, /* lustre */
        0x786f4256, /* vboxsf */
    };
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        if (file_system == shared[i])
            return "PRAGMA journal_mode = DELETE";
    }
    return "PRAGMA journal_mode = WAL";
}

int database_set_journal(struct sql *db, const char *path, struct err *err)
{
    struct statfs status;
    if (statfs(path, &status) < 0)
        return err_sys(err, -errno, "cannot look at its file system");
    int result = sql_script(db, database_journal_mode((uint32_t)status.f_type), err);
    return result == -EBUSY ? 0 : result;
}
