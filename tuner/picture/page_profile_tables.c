/* The tables of a profile's page: files, phases, marks and what the processor counted. */
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/markup.h"
#include "tuner/picture/page_profile.h"

#include <math.h>

#define N_KINDS     4
#define LEAST_SHARE 0.005 /* what is less is not told as 0 % */

static void put_percent(FILE *out, double share)
{
    if (isnan(share))
        fputs("<td>-</td>", out);
    else if (share > 0 && share < LEAST_SHARE)
        fputs("<td>&lt;1 %</td>", out);
    else
        fprintf(out, "<td>%.0f %%</td>", 100 * share);
}

/* Steps are told where they are more than chance. */
static void put_steps(FILE *out, const json_t *stream)
{
    double stride_bytes = json_read_number(stream, "stride_bytes");
    if (isnan(stride_bytes))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td>%.0f %% of %.0f bytes</td>", 100 * json_read_number(stream, "strided_share"),
                stride_bytes);
}

static void put_stream(FILE *out, const json_t *stream, double n_all)
{
    char text[UNITS_TEXT_SIZE];
    fputs("<tr><th scope=\"row\" class=\"words\">", out);
    markup_put(out, json_read_text(stream, "file", "(name unknown)"));
    fputs("</th><td class=\"words\">", out);
    markup_member(out, stream, "direction");
    fputs("</td>", out);
    put_percent(out, json_read_number(stream, "requests") / n_all);
    fprintf(out, "<td>%s</td>", page_profile_count(stream, "requests", text));
    fprintf(out, "<td>%s</td>", page_profile_bytes(json_read_number(stream, "bytes"), text));
    fprintf(out, "<td>%s</td>", page_profile_size(json_read_number(stream, "request_size"), text));
    put_percent(out, json_read_number(stream, "sequential_share"));
    put_percent(out, json_read_number(stream, "random_share"));
    put_steps(out, stream);
    fputs("</tr>\n", out);
}

static void put_streams(FILE *out, const json_t *document)
{
    const json_t *stream, *streams = json_object_get(document, "streams");
    size_t i;
    markup_section(out, "Files", "files");
    if (json_array_size(streams) == 0)
        fputs("<p>No file was read or written.</p>\n", out);
    else
        markup_begin_table(out,
                           "Each file and direction, most requests first (16 at most); the end of its path.",
                           "File|<Direction|Of all|Requests|Bytes|Size|In sequence|At random|In steps");
    json_array_foreach(streams, i, stream)
    {
        put_stream(out, stream, json_read_number(document, "events"));
    }
    if (json_array_size(streams) > 0)
        markup_end_table(out);
    fputs("</section>\n", out);
}

static void put_shares(FILE *out, const json_t *object)
{
    const json_t *shares = json_object_get(object, "shares");
    for (size_t i = 0; i < N_KINDS; i++) {
        const json_t *share = json_array_get(shares, i);
        put_percent(out, json_is_number(share) ? json_number_value(share) : NAN);
    }
}

static void put_phases(FILE *out, const json_t *document)
{
    const json_t *phase, *phases = json_object_get(document, "phases");
    char text[UNITS_TEXT_SIZE];
    size_t i;
    markup_section(out, "Phases", "phases");
    if (json_array_size(phases) < 2) {
        fputs(json_array_size(phases) == 1 ? "<p>One mix of requests from beginning to end.</p>\n</section>\n"
                                           : "<p>None is known.</p>\n</section>\n",
              out);
        return;
    }
    markup_begin_table(out, "Parts with a mix of requests of their own.",
                       "Phase|From|To|<Pattern|Requests|Bytes|Read in sequence|Write in sequence|Read at "
                       "random|Write at random");
    json_array_foreach(phases, i, phase)
    {
        fprintf(out, "<tr><th scope=\"row\">%zu</th><td>%.4g s</td><td>%.4g s</td><td class=\"words\">",
                i + 1, json_read_number(phase, "start_s"), json_read_number(phase, "end_s"));
        markup_put(out, json_read_text(phase, "pattern", "flushes alone"));
        fprintf(out, "</td><td>%s</td>", page_profile_count(phase, "requests", text));
        fprintf(out, "<td>%s</td>", page_profile_bytes(json_read_number(phase, "bytes"), text));
        put_shares(out, phase);
        fputs("</tr>\n", out);
    }
    markup_end_table(out);
    fputs("</section>\n", out);
}

static void put_mark(FILE *out, const json_t *mark)
{
    const json_t *requests = json_object_get(mark, "requests"), *bytes = json_object_get(mark, "bytes");
    char text[UNITS_TEXT_SIZE];
    fputs("<tr><th scope=\"row\" class=\"words\">", out);
    markup_member(out, mark, "name");
    fprintf(out, "</th><td>%s</td>", page_profile_count(mark, "count", text));
    fprintf(out, "<td>%.4g s</td><td>%.4g s</td><td>%.4g s</td>", json_read_number(mark, "first_s"),
            json_read_number(mark, "last_s"), json_read_number(mark, "seconds"));
    fprintf(out, "<td>%s</td>", page_profile_count(requests, "read", text));
    fprintf(out, "<td>%s</td>", page_profile_bytes(json_read_number(bytes, "read"), text));
    fprintf(out, "<td>%s</td>", page_profile_count(requests, "write", text));
    fprintf(out, "<td>%s</td>", page_profile_bytes(json_read_number(bytes, "write"), text));
    fputs("</tr>\n", out);
}

static void put_marks(FILE *out, const json_t *document)
{
    const json_t *mark, *marks = json_object_get(document, "marks");
    char text[UNITS_TEXT_SIZE];
    size_t i;
    if (json_array_size(marks) == 0)
        return;
    markup_section(out, "Marks", "marks");
    markup_begin_table(out, "Moments that the program named, and what was done from each to the next mark.",
                       "Mark|Times|First|Last|Lasted|Reads|Bytes read|Writes|Bytes written");
    json_array_foreach(marks, i, mark)
    {
        put_mark(out, mark);
    }
    markup_end_table(out);
    if (json_read_number(document, "marks_lost") > 0)
        fprintf(out, "<p class=\"note\">%s more found no place.</p>\n",
                page_profile_count(document, "marks_lost", text));
    fputs("</section>\n", out);
}

static void put_event(FILE *out, const json_t *event)
{
    double running = json_read_number(event, "running_share");
    char text[UNITS_TEXT_SIZE];
    fputs("<tr><th scope=\"row\">", out);
    markup_member(out, event, "event");
    if (isnan(json_read_number(event, "count"))) {
        fputs(
            "</th><td>unknown</td><td>-</td><td>-</td><td class=\"words\">it never had a counter</td></tr>\n",
            out);
        return;
    }
    fprintf(out, "</th><td>%s</td>", units_format_count(json_read_number(event, "count"), text));
    fprintf(out, "<td>%s</td>", units_format_count(json_read_number(event, "per_request"), text));
    fprintf(out, "<td>%s</td><td class=\"words\">",
            units_format_count(json_read_number(event, "per_second"), text));
    if (!json_is_true(json_object_get(event, "kernel")))
        fputs("outside the kernel; ", out);
    if (running < 1)
        fprintf(out, "an estimate: counted in %.0f %% of the time", 100 * running);
    else
        fputs("counted all the time", out);
    fputs("</td></tr>\n", out);
}

static void put_hardware(FILE *out, const json_t *document)
{
    const json_t *event, *events = json_object_get(document, "hardware");
    size_t i;
    if (!json_is_array(events))
        return;
    markup_section(out, "Processor", "processor");
    if (json_array_size(events) == 0) {
        fputs("<p>This machine counts no events of its processor.</p>\n</section>\n", out);
        return;
    }
    markup_begin_table(out, "Events that the processor and the kernel counted while the program ran.",
                       "Event|Count|A request|A second|<How");
    json_array_foreach(events, i, event)
    {
        put_event(out, event);
    }
    markup_end_table(out);
    fputs("</section>\n", out);
}

void page_profile_tables(FILE *out, const json_t *document)
{
    put_streams(out, document);
    put_phases(out, document);
    put_marks(out, document);
    put_hardware(out, document);
}
