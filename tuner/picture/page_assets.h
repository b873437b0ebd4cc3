/* tuner/picture/page_assets: the files of tuner/picture/page_assets/ as one page, inside the program. */
#pragma once

/* A string, in which {{plain}}, {{version}} and {{data}} mark what is still to be put in, in this order. */
extern const char page_assets_html[];
