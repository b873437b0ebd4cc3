/* tuner/picture/page_assets: the assembler reads the files, so that they stay files that editors and browsers
 * know.
 */
#include "tuner/picture/page_assets.h"

#define STRING_OF(name, ...)                                                                                 \
    __asm__(".pushsection .rodata\n.global " name "\n" name ":\n" __VA_ARGS__ "\n.byte 0\n.popsection\n")
#define FILE_OF(path) ".incbin \"tuner/picture/page_assets/" path "\"\n"

STRING_OF("page_assets_html", FILE_OF("page.html"));
STRING_OF("page_assets_style", FILE_OF("page.css"));
STRING_OF("page_assets_script", FILE_OF("charts.js") FILE_OF("page.js"));
