/* tuner/picture/page_assets: the Makefile puts style and script into the template, with their digests; the
 * assembler reads the result, so that the parts stay files that editors and browsers know. */
#include "tuner/picture/page_assets.h"

#include "tuner/base/template.h"

TEMPLATE_FILE("page_assets_html", "build/page.html");
