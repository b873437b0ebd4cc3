/* tuner/picture/page: the commands that measure it again, and fio's job. */
#include "bench/base/units.h"
#include "tuner/emit/fio_job.h"
#include "tuner/picture/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* fio counts milliseconds. */
#define LEAST_SECONDS 1.0

static void begin_code(struct page *page, const char *title)
{
    fprintf(page->out, "<figure class=\"code\"><figcaption>%s</figcaption><pre tabindex=\"0\"><code>", title);
}

static void end_code(struct page *page)
{
    fputs("</code></pre></figure>\n", page->out);
}

/* As one word for a shell; what needs no quotes gets none. */
static void print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        page_text(out, word);
        return;
    }
    page_text(out, "'");
    for (const char *rest = word; *rest != '\0';) {
        size_t length = strcspn(rest, "'");
        page_format(out, "%.*s", (int)length, rest);
        rest += length;
        if (*rest == '\'') {
            page_text(out, "'\\''");
            rest++;
        }
    }
    page_text(out, "'");
}

static void print_option(struct page *page, const char *name, const char *value)
{
    fprintf(page->out, " --%s ", name);
    print_word(page->out, value);
}

/* Where: the directory; a surface is known by its name only. */
static void print_place(struct page *page)
{
    const json_t *system = json_object_get(page->document, "system");
    const char *path = json_string_value(json_object_get(system, "path"));
    const char *cache = json_string_value(json_object_get(system, "cache"));
    double bytes = page_number(system, "test_file_bytes");
    char text[UNITS_TEXT_SIZE];
    if (json_is_true(json_object_get(system, "simulated"))) {
        fputs(" --simulate SURFACE.conf", page->out);
        return;
    }
    if (path != NULL)
        print_option(page, "path", path);
    if (bytes >= 1 && bytes < 1e18)
        print_option(page, "file-size", units_format_size((uint64_t)bytes, text));
    if (cache != NULL && strcmp(cache, "warm") == 0)
        print_option(page, "cache", cache);
}

static const char *pattern_name(const struct page *page)
{
    const char *name = json_string_value(json_object_get(json_object_get(page->document, "pattern"), "name"));
    return name != NULL ? name : "PATTERN";
}

static void print_seed(struct page *page, const json_t *object)
{
    const json_t *seed = json_object_get(object, "seed");
    if (json_is_integer(seed))
        fprintf(page->out, " --seed %lld", (long long)json_integer_value(seed));
}

static void print_search(struct page *page)
{
    const json_t *search = json_object_get(page->document, "search");
    const char *method = json_string_value(json_object_get(search, "method_asked"));
    const char *objective =
        json_string_value(json_object_get(json_object_get(page->document, "objective"), "name"));
    double confidence = page_number(json_object_get(page->document, "throughput"), "confidence");
    double seconds = page_number(search, "seconds");
    begin_code(page, "The same search");
    fputs("fstune recommend", page->out);
    print_option(page, "pattern", pattern_name(page));
    print_place(page);
    if (isfinite(seconds) && seconds < 1e7)
        fprintf(page->out, " --budget %.0fs", ceil(seconds));
    if (objective != NULL && strcmp(objective, "throughput") != 0)
        print_option(page, "objective", objective);
    if (isfinite(confidence) && fabs(confidence - 0.95) > 1e-9)
        fprintf(page->out, " --confidence %g%%", 100 * confidence);
    if (method != NULL && strcmp(method, "auto") != 0)
        print_option(page, "method", method);
    print_seed(page, search);
    end_code(page);
    fputs(
        "<p>The budget is the time that the search took, rounded up. What else its command line said (pinned "
        "factors, "
        "limits) is not in the document.</p>\n",
        page->out);
}

static void print_measure(struct page *page, const struct point *point)
{
    char text[UNITS_TEXT_SIZE];
    begin_code(page, "One setting alone");
    fputs("fstune measure", page->out);
    print_option(page, "pattern", pattern_name(page));
    print_place(page);
    for (unsigned f = 0; f < FACTOR_N; f++) {
        char name[SETTINGS_NAME_SIZE];
        if (f == FACTOR_WRITE_SIZE && !factors_is_split(point))
            continue;
        snprintf(name, sizeof name, "%s", page_factor_keys[f]);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        print_option(page, name, page_factor_text(point, f, text));
    }
    print_seed(page, page->document);
    end_code(page);
}

/* The document's own where it has one, else made of its members. */
static char *fio_text(const struct page *page, const struct page_point *row)
{
    const json_t *system = json_object_get(page->document, "system");
    const char *own = json_string_value(json_object_get(page->document, "fio_job"));
    const char *cache = json_string_value(json_object_get(system, "cache"));
    double seconds = page_number(json_object_get(page->document, "search"), "run_seconds");
    double file = page_number(system, "test_file_bytes");
    char *text = NULL;
    if (own != NULL)
        return strdup(own);
    if (!(file >= 1 && file < 9e18) || !fio_job_has_equal(&row->point) || !page->has_recommendation)
        return NULL;
    double bytes = fmin(row->mean_bps * fmax(isfinite(seconds) ? seconds : 0, LEAST_SECONDS), file);
    struct fio_job job = {
        .pattern = &page->recommendation.pattern,
        .point = &row->point,
        .directory = page->recommendation.path,
        .file_bytes = (uint64_t)file,
        .io_bytes = bytes >= 1 ? (uint64_t)bytes : 1,
        .cold = cache == NULL || strcmp(cache, "warm") != 0,
    };
    return fio_job_text(&job, &text) == 0 ? text : NULL;
}

static void print_fio(struct page *page, const struct page_point *row)
{
    char *text = fio_text(page, row);
    if (text == NULL)
        return;
    begin_code(page, "The same with fio");
    page_text(page->out, text);
    end_code(page);
    free(text);
}

static const struct page_point *shown_point(const struct page *page)
{
    for (size_t i = 0; i < page->n_points; i++) {
        enum page_standing standing = page->points[i].standing;
        if (standing == PAGE_RECOMMENDED || standing == PAGE_RECOMMENDED_BEST)
            return &page->points[i];
    }
    return page->n_points == 1 ? &page->points[0] : NULL;
}

void page_reproduce(struct page *page)
{
    const struct page_point *point = shown_point(page);
    const json_t *search = json_object_get(page->document, "search");
    double seed = page_number(json_is_object(search) ? search : page->document, "seed");
    if (json_is_object(search))
        print_search(page);
    if (point != NULL)
        print_measure(page, &point->point);
    if (point != NULL)
        print_fio(page, point);
    if (isfinite(seed))
        fputs("<p>The seed fixes offsets and the order of runs; a disk answers differently all the "
              "same.</p>\n",
              page->out);
}
