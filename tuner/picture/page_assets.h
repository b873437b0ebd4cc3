/* tuner/picture/page_assets: the files of tuner/picture/page_assets/ as one page, inside the program. */
#ifndef FSTUNE_TUNER_PICTURE_PAGE_ASSETS_H
#define FSTUNE_TUNER_PICTURE_PAGE_ASSETS_H

/* A string, in which {{plain}}, {{version}} and {{data}} mark what is still to be put in, in this order. */
extern const char page_assets_html[];

#endif
