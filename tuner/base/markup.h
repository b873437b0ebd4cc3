/* tuner/base/markup: the pieces that pages of HTML without a script are made of: sections, tables, and texts
 * that stay texts. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* A section's id and what the list of sections calls it. The last of a list has NULL. */
struct markup_link {
    const char *id, *title;
};

/* head: a page whose head this one has, too, with a title of its own. Behind it comes the line below the
 * title, which the caller writes. */
void markup_begin_page(FILE *out, const char *head, const char *title);
void markup_begin_main(FILE *out, const struct markup_link *links);
void markup_end_page(FILE *out);

/* A text of UTF-8, escaped; '?' stands for each byte that is none, and for each character that would leave
 * its line or turn the direction of what stands around it. */
void markup_put(FILE *out, const char *text);
/* The same of a text of a document; "" where there is none. */
void markup_member(FILE *out, const json_t *object, const char *key);
/* A word of a command line as a shell takes it, escaped. */
void markup_word(FILE *out, const char *word);

void markup_section(FILE *out, const char *title, const char *id);

/* columns: their titles with '|' between; the first is the head of each row. '<' before a title: it
 * holds words (cells of the class "words"), which begin at the left. */
void markup_begin_table(FILE *out, const char *caption, const char *columns);
void markup_end_table(FILE *out);
