/* Tests of tuner/picture/live_text: the lines of known figures. */
#include "tests/test.h"
#include "tuner/base/utf8.h"
#include "tuner/picture/live_text.h"

static char text[8192];

static const struct look_rates now = {.seconds = 1,
                                      .requests = {[SUMMARY_SEQ_WRITE] = 320, [SUMMARY_RAND_READ] = 12345},
                                      .all_requests = 12665,
                                      .bps = {50.6e6, 21e6},
                                      .flushes = 40,
                                      .share = {[SUMMARY_SEQ_WRITE] = 0.025, [SUMMARY_RAND_READ] = 0.975},
                                      .direct_share = 0.975,
                                      .depth = 7.96,
                                      .size = {4096, 65536}};
static const struct look_rates mean = {.seconds = 72,
                                       .requests = {[SUMMARY_RAND_READ] = 11800},
                                       .all_requests = 11800,
                                       .bps = {48.3e6, 0},
                                       .share = {[SUMMARY_RAND_READ] = 1},
                                       .direct_share = 1,
                                       .depth = 8,
                                       .size = {4096, 0}};
static const struct look_rates idle = {
    .seconds = 1, .share = {NAN, NAN, NAN, NAN}, .direct_share = NAN, .depth = NAN};
static const struct look counts = {
    .n = {[SUMMARY_RAND_READ] = 850000}, .n_unjudged = 3, .n_lost = 4, .bytes = {3481600000, 21000000}};
static const double kind_bps[SUMMARY_N_KINDS] = {[SUMMARY_SEQ_WRITE] = 21e6, [SUMMARY_RAND_READ] = 50.6e6},
                    kind_mean_bps[SUMMARY_N_KINDS] = {
                        [SUMMARY_RAND_READ] = 48.3e6, [SUMMARY_RAND_WRITE] = NAN};
static const double history[] = {0, 1e6, 25e6, 50e6};
static const struct look_stream busiest[] = {
    {.direction = PROFILE_READ, .n = {[STREAM_RANDOM] = 12345}, .n_bytes = 50600000, .size_bytes = 4096},
    {.direction = PROFILE_WRITE, .n = {[STREAM_SEQUENTIAL] = 320}, .n_bytes = 21000000, .size_bytes = 65536},
    {.direction = PROFILE_READ,
     .n = {[STREAM_STRIDED] = 2},
     .n_bytes = 8192,
     .size_bytes = 4096,
     .stride_bytes = -1048576}};
static char names[3][STORE_NAME_SIZE] = {"/srv/a/long/way/to/the/data/base/5/16384", "/srv/log\033[2J", ""};

static struct live_figures figures = {.what = "postgres -D data",
                                      .last = &counts,
                                      .seconds = 72,
                                      .now = &now,
                                      .mean = &mean,
                                      .kind_bps = kind_bps,
                                      .kind_mean_bps = kind_mean_bps,
                                      .history_bps = history,
                                      .n_history = 4,
                                      .busiest = busiest,
                                      .busiest_name = names,
                                      .n_busiest = 3,
                                      .has_blocks = true};

static const char *view(size_t rows, size_t columns)
{
    live_text_view(&figures, rows, columns, text, sizeof text);
    return text;
}

static size_t n_lines(void)
{
    size_t n = 0;
    for (const char *c = text; *c != '\0'; c++)
        n += *c == '\n';
    return n;
}

TEST(a_terminal_of_24_rows_shows_all)
{
    assert_string_equal(view(24, 80),
                        "1m 12s, 850 k requests, 3.50 GB: postgres -D data\n"
                        "\n"
                        "requests               now/s    mean/s    bytes/s       mean   share    mean\n"
                        "read, in sequence          0         0      0 B/s      0 B/s     0 %     0 %\n"
                        "read, at random       12.3 k    11.8 k  50.6 MB/s  48.3 MB/s    98 %   100 %\n"
                        "write, in sequence       320         0  21.0 MB/s      0 B/s     2 %     0 %\n"
                        "write, at random           0         0      0 B/s          -     0 %     0 %\n"
                        "all                   12.7 k    11.8 k  71.6 MB/s  48.3 MB/s\n"
                        "\n"
                        "bytes                  now/s    mean/s     in all               size   usual\n"
                        "read               50.6 MB/s 48.3 MB/s    3.48 GB                 4k      4k\n"
                        "write              21.0 MB/s     0 B/s    21.0 MB                64k       -\n"
                        "\n"
                        "depth 8.0 (mean 8.0)   flushes/s 40 (mean 0)   direct 100 %   lost 7\n"
                        "| ▁▄█| up to 50.0 MB/s\n"
                        "\n"
                        "busiest now                                 now/s    bytes/s  size  order\n"
                        "/long/way/to/the/data/base/5/16384 read    12.3 k  50.6 MB/s    4k  100 % rand\n"
                        "/srv/log?[2J                       write      320  21.0 MB/s   64k  100 % seq\n"
                        "(name unknown)                     read         2  8.19 kB/s    4k  steps -1m\n");
}

TEST(a_small_terminal_leaves_the_least_important_out)
{
    for (size_t rows = 1; rows <= 30; rows++) {
        view(rows, 80);
        assert_true(n_lines() >= 1 && n_lines() + 1 <= (rows < 2 ? 2 : rows) && n_lines() < 24);
    }
    assert_string_equal(view(5, 40), "1m 12s, 850 k requests, 3.50 GB: postgr\n"
                                     "all                   12.7 k    11.8 k \n"
                                     "read               50.6 MB/s 48.3 MB/s \n"
                                     "write              21.0 MB/s     0 B/s \n");
}

TEST(without_blocks_letters_tell_the_rate)
{
    figures.has_blocks = false;
    assert_non_null(strstr(view(24, 80), "| .=@| up to 50.0 MB/s\n"));
    figures.has_blocks = true;
}

TEST(a_line_is_cut_at_whole_characters)
{
    for (size_t columns = 2; columns < 90; columns++) {
        size_t n = 0;
        for (const char *c = view(24, columns); *c != '\0'; c += utf8_length(c)) {
            assert_true(utf8_length(c) > 0);
            n = *c == '\n' ? 0 : n + 1;
            assert_true(n < columns && n < 80);
        }
    }
}

TEST(what_has_no_figure_is_a_dash)
{
    figures.now = &idle;
    live_text_line(&figures, sizeof text, text, sizeof text);
    assert_string_equal(text, "1m 12s: 0/s, 0 B/s, depth -, 0 flushes/s, 850 k requests, 7 lost: -");
    figures.now = &now;
}

TEST(a_line_has_the_rates_of_the_last_second_and_the_last_line_the_sums)
{
    live_text_line(&figures, 1000, text, sizeof text);
    assert_string_equal(text, "1m 12s: 12.7 k/s, 71.6 MB/s, depth 8.0, 40 flushes/s, 850 k requests, 7 lost: "
                              "seq-write=3,rand-read=97");
    figures.has_ended = true;
    live_text_line(&figures, 1000, text, sizeof text);
    assert_string_equal(text, "  mean: 11.8 k/s, 48.3 MB/s, depth 8.0, 0 flushes/s, 850 k requests, 3.50 GB, "
                              "7 lost: randread");
    figures.has_ended = false;
}
