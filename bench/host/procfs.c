/* bench/host/procfs: small readers for the one-line files and escaped words of /proc and /sys. */
#include "bench/host/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Device models are padded with blanks on either side. */
static void trim(char *line)
{
    line[strcspn(line, "\n")] = '\0';
    size_t n = strlen(line);
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        line[--n] = '\0';
    size_t lead = strspn(line, " \t");
    memmove(line, line + lead, n - lead + 1);
}

int procfs_read_line(const char *path, char *buffer, size_t size)
{
    char line[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n;
    do {
        n = read(fd, line, sizeof(line) - 1);
    } while (n < 0 && errno == EINTR);
    int code = n < 0 ? -errno : 0;
    close(fd);
    if (code != 0)
        return code;
    line[n] = '\0'; /* one read: these files are shorter than a page and come whole */
    trim(line);
    if (line[0] == '\0' || size == 0)
        return -ENODATA;
    size_t kept = strnlen(line, size - 1);
    memcpy(buffer, line, kept);
    buffer[kept] = '\0';
    return 0;
}

int procfs_read_number(const char *path, double *ret_number)
{
    char line[128];
    int code = procfs_read_line(path, line, sizeof(line));
    if (code != 0)
        return code;
    /* Kernel files hold plain decimals; words that strtod also takes ("inf", "nan", hexadecimals) are not
     * numbers here. */
    if (line[strspn(line, "-")] < '0' || line[strspn(line, "-")] > '9')
        return -EINVAL;
    double number = strtod(line, NULL);
    if (!isfinite(number))
        return -EINVAL;
    *ret_number = number;
    return 0;
}

bool procfs_find_line(const char *path, const char *name, const char *separators, char *buffer, size_t size)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t line_size = 0, length = strlen(name);
    bool found = false;
    while (file != NULL && !found && getline(&line, &line_size, file) > 0) {
        size_t apart = strncmp(line, name, length) == 0 ? strspn(line + length, separators) : 0;
        if (apart == 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        const char *text = line + length + apart;
        snprintf(buffer, size, "%s", text + strspn(text, " \t"));
        found = true;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Never longer than before, so it works in place. */
void procfs_unescape(char *word)
{
    char *out = word;
    while (*word != '\0') {
        if (word[0] == '\\' && is_octal(word[1]) && is_octal(word[2]) && is_octal(word[3])) {
            *out++ = (char)((word[1] - '0') * 64 + (word[2] - '0') * 8 + (word[3] - '0'));
            word += 4;
        } else {
            *out++ = *word++;
        }
    }
    *out = '\0';
}

bool procfs_list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, word, n) == 0)
            return true;
        at += length;
        at += *at == ',';
    }
    return false;
}
