/* tuner/profile/import: the lines of a file. */
#include "tuner/profile/import.h"

#include "tuner/base/interrupt.h"
#include "tuner/profile/import_feed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer lines are refused: io_submit of 256 requests fits. */
#define LINE_BYTES 65536

static const struct import_format *find_format(const char *name)
{
    static const struct import_format *const formats[] = {&import_iolog, &import_blkparse, &import_strace,
                                                          &import_msr, &import_alibaba};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}

static void skip_rest(FILE *in)
{
    int c;
    do {
        c = getc_unlocked(in);
    } while (c != EOF && c != '\n');
}

/* Without its end. False at the end of the file. */
static bool next_line(FILE *in, char *line, bool *ret_fits)
{
    if (fgets(line, LINE_BYTES, in) == NULL)
        return false;
    size_t length = strlen(line);
    *ret_fits = length + 1 < LINE_BYTES || line[length - 1] == '\n';
    if (!*ret_fits)
        skip_rest(in);
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

static void take_lines(FILE *in, const struct import_format *format, struct import_feed *feed, char *line)
{
    bool fits;
    while (next_line(in, line, &fits) && atomic_load(&interrupt_signal) == 0) {
        if (!fits || format->take_line(feed, line) < 0)
            feed->n_refused++;
    }
    import_feed_finish(feed);
}

static int check_rows(const struct import_feed *feed, const struct import_format *format, struct err *err)
{
    if (feed->n_rows > 0)
        return 0;
    return err_set(err, -EINVAL, "no line of it tells of a request in the format %s", format->name);
}

static int take_file(FILE *in, const struct import_format *format, struct recording *recording,
                     struct err *err)
{
    struct import_feed *feed = calloc(1, sizeof *feed);
    char *line = malloc(LINE_BYTES);
    int code = 0;
    if (feed != NULL)
        feed->state = calloc(1, format->state_size);
    if (feed == NULL || line == NULL || feed->state == NULL) {
        code = err_set(err, -ENOMEM, "no memory");
        goto out;
    }
    feed->store = recording->store;
    feed->tap = recording->tap;
    feed->tap_data = recording->tap_data;
    take_lines(in, format, feed, line);
    recording->n_refused = feed->n_refused;
    code = ferror(in) ? err_sys(err, -EIO, "cannot be read") : check_rows(feed, format, err);
out:
    free(feed != NULL ? feed->state : NULL);
    free(feed);
    free(line);
    return code;
}

int import_file(struct recording *recording, const char *name, const char *path, uint64_t store_bytes,
                struct err *err)
{
    const struct import_format *format = find_format(name);
    bool is_input = strcmp(path, "-") == 0;
    if (format == NULL)
        return err_set(err, -EINVAL, "'%.30s' is no format of an import", name);
    FILE *in = is_input ? stdin : fopen(path, "re");
    if (in == NULL)
        return err_sys(err, -errno, "%.200s", path);
    recording->source = format->name;
    recording->overhead_share = NAN;
    recording->knows_calls = format->knows_calls;
    recording->knows_flushes = format->knows_flushes;
    int code = record_open(recording, store_bytes, 0, err);
    if (code == 0)
        code = take_file(in, format, recording, err);
    if (!is_input)
        fclose(in);
    return code < 0 ? err_prefix(err, "%.200s, read as %s", is_input ? "standard input" : path, name) : 0;
}
