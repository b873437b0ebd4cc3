/* tuner/base/markup: escaped texts, and what stands around them. */
#include "tuner/base/markup.h"

#include "tuner/base/json.h"

#include <stdbool.h>
#include <string.h>

void markup_begin_page(FILE *out, const char *head, const char *title)
{
    static const char title_begin[] = "<title>", title_end[] = "</title>", head_end[] = "</head>";
    const char *begin = strstr(head, title_begin) + strlen(title_begin), *end = strstr(begin, title_end),
               *body = strstr(end, head_end) + strlen(head_end);
    fwrite(head, 1, (size_t)(begin - head), out);
    fputs(title, out);
    fwrite(end, 1, (size_t)(body - end), out);
    fprintf(out,
            "\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the tables</a>\n<header>\n<h1>%s</h1>\n<p "
            "class=\"origin\">",
            title);
}

void markup_begin_main(FILE *out, const struct markup_link *links)
{
    fputs("</p>\n</header>\n<nav aria-label=\"Sections\">\n<ul>", out);
    for (; links->id != NULL; links++)
        fprintf(out, "<li><a href=\"#%s\">%s</a></li>", links->id, links->title);
    fputs("</ul>\n</nav>\n<main id=\"main\" tabindex=\"-1\">\n", out);
}

void markup_end_page(FILE *out)
{
    fputs("</main>\n<footer>\n<p>Made by fstune " FSTUNE_VERSION
          ". This page holds everything it shows and loads nothing.</p>\n</footer>\n</body>\n</html>\n",
          out);
}

static void put_character(FILE *out, unsigned char c)
{
    if (c == '&' || c == '<' || c == '>' || c == '"')
        fprintf(out, "&#%d;", c);
    else
        fputc(c < ' ' || c >= 127 ? '?' : c, out);
}

void markup_put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        put_character(out, (unsigned char)*text);
}

void markup_member(FILE *out, const json_t *object, const char *key)
{
    markup_put(out, json_read_text(object, key, ""));
}

void markup_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,.:/+%@";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            put_character(out, (unsigned char)*word);
    }
    fputc('\'', out);
}

void markup_section(FILE *out, const char *title, const char *id)
{
    fprintf(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">", id, id, id);
    markup_put(out, title);
    fputs("</h2>\n", out);
}

void markup_begin_table(FILE *out, const char *caption, const char *const *columns)
{
    fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    markup_put(out, caption);
    fputs("\"><table><caption>", out);
    markup_put(out, caption);
    fputs("</caption>\n<thead><tr>", out);
    for (; *columns != NULL; columns++) {
        bool is_words = (*columns)[0] == '<';
        fprintf(out, "<th scope=\"col\"%s>%s</th>", is_words ? " class=\"words\"" : "", *columns + is_words);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void markup_end_table(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}
