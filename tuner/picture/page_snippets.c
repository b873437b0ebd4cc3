/* tuner/picture/page: the answer for its consumers (tuner/emit/snippet). */
#include "tuner/emit/report_snippet.h"
#include "tuner/picture/page_inside.h"

#include <stdlib.h>

bool page_has_snippets(const struct page *page)
{
    return page->has_recommendation;
}

static void print_snippet(struct page *page, const struct snippet_ops *ops,
                          const struct snippet_request *request)
{
    struct err err = {0};
    char *text = NULL, *remarks = NULL;
    int result = snippet_make(ops, request, &text, &remarks, &err);
    fprintf(page->out, "<details class=\"snippet\"><summary><code>%s</code> ", ops->name);
    page_text(page->out, ops->title);
    if (result < 0) {
        fputs("</summary><p>Nothing: ", page->out);
        page_text(page->out, err.text);
        fputs("</p></details>\n", page->out);
        return;
    }
    fputs("</summary><figure class=\"code\"><pre tabindex=\"0\"><code>", page->out);
    page_text(page->out, text);
    fputs("</code></pre></figure>", page->out);
    if (remarks[0] != '\0') {
        fputs("<p class=\"remarks\">", page->out);
        page_text(page->out, remarks);
        fputs("</p>", page->out);
    }
    fputs("</details>\n", page->out);
    free(text);
    free(remarks);
}

void page_snippets(struct page *page)
{
    const struct snippet_request request =
        report_snippet_request(page->request->settings, &page->recommendation, 1);
    const struct snippet_ops *ops;
    fputs("<p>The setting as lines to paste; what a format cannot say stands in its comments.</p>\n",
          page->out);
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++)
        print_snippet(page, ops, &request);
}
