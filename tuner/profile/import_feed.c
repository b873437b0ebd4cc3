/* tuner/profile/import_feed: a heap of ends, and the reading of numbers. */
#include "tuner/profile/import_feed.h"

#include <string.h>

#define NS_PER_S     1000000000ULL
#define MOST_SECONDS 9000000000ULL /* beyond it nanoseconds have no room */
#define MOST_NS      (1ULL << 58)  /* nine years; later times are that */
#define MOST_BYTES   (1ULL << 40)  /* of a request */
#define MOST_OFFSET  (1ULL << 62)

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void push(struct import_feed *feed, uint64_t end_ns)
{
    size_t at = feed->n_ends++;
    feed->ends_ns[at] = end_ns;
    for (; at > 0 && feed->ends_ns[(at - 1) / 2] > feed->ends_ns[at]; at = (at - 1) / 2)
        swap(&feed->ends_ns[at], &feed->ends_ns[(at - 1) / 2]);
}

static uint64_t pop(struct import_feed *feed)
{
    uint64_t first = feed->ends_ns[0];
    feed->ends_ns[0] = feed->ends_ns[--feed->n_ends];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < feed->n_ends; child++)
            least = feed->ends_ns[child] < feed->ends_ns[least] ? child : least;
        if (least == at)
            return first;
        swap(&feed->ends_ns[at], &feed->ends_ns[least]);
        at = least;
    }
}

/* Times in the store count from the first, so that none is far from the beginning. */
static uint64_t since(const struct import_feed *feed, uint64_t time_ns)
{
    uint64_t passed_ns = time_ns > feed->base_ns ? time_ns - feed->base_ns : 0;
    return passed_ns < MOST_NS ? passed_ns : MOST_NS;
}

void import_feed_time(struct import_feed *feed, uint64_t now_ns)
{
    if (!feed->has_begun)
        feed->base_ns = now_ns;
    feed->has_begun = true;
    while (feed->n_ends > 0 && feed->ends_ns[0] <= now_ns)
        store_end(feed->store, since(feed, pop(feed)), 1);
    if (now_ns > feed->now_ns)
        feed->now_ns = now_ns;
}

void import_feed_begin(struct import_feed *feed)
{
    store_begin(feed->store, since(feed, feed->now_ns), 1);
}

void import_feed_end_at(struct import_feed *feed, uint64_t end_ns)
{
    if (end_ns <= feed->now_ns) {
        store_end(feed->store, since(feed, feed->now_ns), 1);
        return;
    }
    if (feed->n_ends == IMPORT_FEED_MOST_ENDS)
        store_end(feed->store, since(feed, pop(feed)), 1);
    push(feed, end_ns);
}

void import_feed_take(struct import_feed *feed, const struct profile_request *request)
{
    struct profile_request taken = *request;
    if (taken.n_bytes == 0 || taken.n_bytes > MOST_BYTES || taken.offset_bytes > MOST_OFFSET) {
        store_count(feed->store, taken.n_bytes == 0 ? STORE_EMPTY_READS : STORE_LOST_REQUESTS, 1);
        return;
    }
    taken.start_ns = since(feed, request->start_ns);
    store_take(feed->store, &taken);
    if (feed->tap != NULL)
        feed->tap(feed->tap_data, &taken);
    feed->n_rows++;
}

void import_feed_flush(struct import_feed *feed, uint64_t file, uint64_t spent_ns)
{
    store_flush(feed->store, file, since(feed, feed->now_ns), spent_ns);
    if (feed->tap != NULL)
        feed->tap(feed->tap_data, NULL);
    feed->n_rows++;
}

/* FNV-1a: names come in any length. */
uint64_t import_feed_file(struct import_feed *feed, const char *name, size_t length)
{
    char text[STORE_NAME_SIZE];
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ULL;
    hash += hash == 0;
    size_t skipped = length < sizeof text ? 0 : length - sizeof text + 1;
    memcpy(text, name + skipped, length - skipped);
    text[length - skipped] = '\0';
    store_name(feed->store, hash, text);
    return hash;
}

void import_feed_finish(struct import_feed *feed)
{
    while (feed->n_ends > 0)
        store_end(feed->store, since(feed, pop(feed)), 1);
}

bool import_feed_number(char **at, uint64_t *ret)
{
    uint64_t value = 0;
    char *c = *at;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    }
    if (c == *at)
        return false;
    *at = c;
    *ret = value;
    return true;
}

bool import_feed_seconds(char **at, uint64_t *ret_ns)
{
    uint64_t seconds, fraction = 0;
    if (!import_feed_number(at, &seconds) || seconds > MOST_SECONDS)
        return false;
    char *c = *at;
    uint64_t unit = NS_PER_S / 10;
    for (c += *c == '.'; *c >= '0' && *c <= '9'; c++, unit /= 10)
        fraction += unit * (uint64_t)(*c - '0');
    *at = c;
    *ret_ns = seconds * NS_PER_S + fraction;
    return true;
}

char *import_feed_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    if (*word == '\0')
        return NULL;
    char *end = word + strcspn(word, " \t");
    *at = end + (*end != '\0');
    *end = '\0';
    return word;
}
