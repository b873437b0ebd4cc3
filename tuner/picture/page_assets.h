/* tuner/picture/page_assets: the files of tuner/picture/page_assets/, as they are, inside the program. */
#ifndef FSTUNE_TUNER_PICTURE_PAGE_ASSETS_H
#define FSTUNE_TUNER_PICTURE_PAGE_ASSETS_H

/* Each is a string. */
extern const char page_assets_html[], page_assets_style[], page_assets_script[];
/* SHA-256 of style and script in base64, by which a page's policy knows its own. */
extern const char page_assets_style_digest[], page_assets_script_digest[];

#endif
