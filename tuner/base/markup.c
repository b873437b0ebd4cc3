/* tuner/base/markup: escaped texts, and what stands around them. */
#include "tuner/base/markup.h"

#include "tuner/base/json.h"
#include "tuner/base/utf8.h"

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

/* The embeddings, overrides and isolates of Unicode: U+202A to U+202E, U+2066 to U+2069. */
static bool turns_direction(const char *text, size_t length)
{
    unsigned char last = length == 3 ? (unsigned char)text[2] : 0;
    return (last >= 0xaa && last <= 0xae && memcmp(text, "\xe2\x80", 2) == 0) ||
           (last >= 0xa6 && last <= 0xa9 && memcmp(text, "\xe2\x81", 2) == 0);
}

/* The first character of a text that has one. Returns its length, 1 where it is none. */
static size_t put_character(FILE *out, const char *text)
{
    size_t length = utf8_length(text);
    if (length == 0 || !utf8_is_plain(text, length) || turns_direction(text, length))
        fputc('?', out);
    else if (strchr("&<>\"", *text) != NULL)
        fprintf(out, "&#%d;", *text);
    else
        fwrite(text, 1, length, out);
    return length > 0 ? length : 1;
}

void markup_put(FILE *out, const char *text)
{
    while (*text != '\0')
        text += put_character(out, text);
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
    while (*word != '\0') {
        bool is_quote = *word == '\'';
        if (is_quote)
            fputs("'\\''", out);
        word += is_quote ? 1 : put_character(out, word);
    }
    fputc('\'', out);
}

void markup_section(FILE *out, const char *title, const char *id)
{
    fprintf(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">", id, id, id);
    markup_put(out, title);
    fputs("</h2>\n", out);
}

void markup_begin_table(FILE *out, const char *caption, const char *columns)
{
    fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    markup_put(out, caption);
    fputs("\"><table><caption>", out);
    markup_put(out, caption);
    fputs("</caption>\n<thead><tr>", out);
    for (size_t n; *columns != '\0'; columns += n + (columns[n] == '|')) {
        bool is_words = *columns == '<';
        n = strcspn(columns, "|");
        fprintf(out, "<th scope=\"col\"%s>%.*s</th>", is_words ? " class=\"words\"" : "", (int)n - is_words,
                columns + is_words);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void markup_end_table(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}
