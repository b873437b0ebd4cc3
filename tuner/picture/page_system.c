/* tuner/picture/page: where it was measured, and what could not be. */
#include "tuner/picture/page_inside.h"

#include <stdlib.h>
#include <string.h>

bool page_has_system(const struct page *page)
{
    return json_object_size(json_object_get(page->document, "system")) > 0;
}

static void print_value(struct page *page, const json_t *value)
{
    if (json_is_string(value)) {
        page_text(page->out, json_string_value(value));
    } else if (json_is_null(value)) {
        fputs("not known", page->out);
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
        page_text(page->out, text != NULL ? text : "");
        free(text);
    }
}

static void print_facts(struct page *page)
{
    json_t *system = json_object_get(page->document, "system");
    const char *key;
    json_t *value;
    fputs("<div class=\"scroll\" role=\"region\" aria-label=\"Recorded system\" tabindex=\"0\"><table "
          "class=\"facts\"><caption>As it was recorded when the measurement began.</caption><thead><tr>"
          "<th scope=\"col\">Fact</th><th scope=\"col\">Value</th></tr></thead>\n<tbody>\n",
          page->out);
    json_object_foreach(system, key, value)
    {
        fputs("<tr><th scope=\"row\">", page->out);
        page_text(page->out, key);
        fputs("</th><td>", page->out);
        print_value(page, value);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table></div>\n", page->out);
}

static void print_dropped(struct page *page)
{
    const json_t *dropped = json_object_get(page->document, "dropped");
    if (json_array_size(dropped) == 0)
        return;
    fputs("<h3>Not measured</h3>\n<ul>\n", page->out);
    for (size_t i = 0; i < json_array_size(dropped); i++) {
        fputs("<li><b>", page->out);
        page_member(page->out, json_array_get(dropped, i), "what");
        fputs("</b>: ", page->out);
        page_member(page->out, json_array_get(dropped, i), "why");
        fputs("</li>\n", page->out);
    }
    fputs("</ul>\n", page->out);
}

void page_system(struct page *page)
{
    print_facts(page);
    print_dropped(page);
}
