/* tuner/profile/import_csv: block traces as tables: MSR Cambridge (SNIA) and Alibaba. */
#include "tuner/profile/import_feed.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* Parts the line at its commas. Returns how many fields there are, at most `room`. */
static size_t split(char *line, char **fields, size_t room)
{
    size_t n = 0;
    for (char *at = line; at != NULL && n < room;) {
        fields[n++] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    return n;
}

/* A whole field, from which units of `scale` become another unit. */
static bool number(char *field, uint64_t scale, uint64_t *ret)
{
    return import_feed_number(&field, ret) && *field == '\0' && !__builtin_mul_overflow(*ret, scale, ret);
}

static bool direction(const char *field, enum profile_direction *ret)
{
    bool reads = strcasecmp(field, "Read") == 0 || strcasecmp(field, "R") == 0;
    bool writes = strcasecmp(field, "Write") == 0 || strcasecmp(field, "W") == 0;
    *ret = writes ? PROFILE_WRITE : PROFILE_READ;
    return reads || writes;
}

/* A line of names above the table. */
static bool is_head(const char *line)
{
    return strncasecmp(line, "timestamp,", 10) == 0 || strncasecmp(line, "device_id,", 10) == 0;
}

/* Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime; times in 100 ns, the first since 1601. */
static int take_msr(struct import_feed *feed, char *line)
{
    enum { TIME, HOST, DISK, TYPE, OFFSET, SIZE, RESPONSE, N };
    struct profile_request request = {.handle = 1, .thread = 1};
    char *field[N + 1];
    uint64_t response_ns;
    if (is_head(line))
        return 0;
    if (split(line, field, N + 1) != N || !number(field[TIME], 1, &request.start_ns) ||
        !direction(field[TYPE], &request.direction) || !number(field[OFFSET], 1, &request.offset_bytes) ||
        !number(field[SIZE], 1, &request.n_bytes) || !number(field[RESPONSE], 100, &response_ns))
        return -EINVAL;
    uint64_t *first = feed->state;
    /* So many ticks since 1601 do not fit as nanoseconds: they count from the first line. */
    if (*first == 0)
        *first = request.start_ns;
    if (request.start_ns < *first)
        request.start_ns = *first;
    if (__builtin_mul_overflow(request.start_ns - *first, 100U, &request.start_ns))
        return -EINVAL;
    /* Host and disk stand side by side, with a zero between them since they were parted. */
    field[HOST][strlen(field[HOST])] = ',';
    request.file = import_feed_file(feed, field[HOST], strlen(field[HOST]));
    import_feed_time(feed, request.start_ns);
    import_feed_begin(feed);
    import_feed_take(feed, &request);
    import_feed_end_at(feed, request.start_ns + response_ns);
    store_took(feed->store, request.direction, response_ns);
    return 0;
}

/* device_id,opcode,offset,length,timestamp; microseconds, and no ends. */
static int take_alibaba(struct import_feed *feed, char *line)
{
    enum { DEVICE, OPCODE, OFFSET, LENGTH, TIME, N };
    struct profile_request request = {.handle = 1, .thread = 1};
    char *field[N + 1];
    if (is_head(line))
        return 0;
    if (split(line, field, N + 1) != N || !direction(field[OPCODE], &request.direction) ||
        !number(field[OFFSET], 1, &request.offset_bytes) || !number(field[LENGTH], 1, &request.n_bytes) ||
        !number(field[TIME], 1000, &request.start_ns))
        return -EINVAL;
    request.file = import_feed_file(feed, field[DEVICE], strlen(field[DEVICE]));
    import_feed_time(feed, request.start_ns);
    import_feed_take(feed, &request);
    return 0;
}

const struct import_format import_msr = {
    .name = "msr", .state_size = sizeof(uint64_t), .take_line = take_msr};
const struct import_format import_alibaba = {
    .name = "alibaba", .state_size = sizeof(uint64_t), .take_line = take_alibaba};
