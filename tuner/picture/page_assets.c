/* tuner/picture/page_assets: the assembler reads the files, so that they stay files that editors and browsers
 * know. The Makefile makes the digests.
 */
#include "tuner/picture/page_assets.h"

#define STRING_OF(name, ...)                                                                                 \
    __asm__(".pushsection .rodata\n.global " name "\n" name ":\n" __VA_ARGS__ "\n.byte 0\n.popsection\n")
#define FILE_OF(path)   ".incbin \"tuner/picture/page_assets/" path "\"\n"
#define DIGEST_OF(name) ".incbin \"build/page_assets/" name ".sha256\"\n"

STRING_OF("page_assets_html", FILE_OF("page.html"));
STRING_OF("page_assets_style", FILE_OF("page.css"));
STRING_OF("page_assets_script", FILE_OF("charts.js") FILE_OF("page.js"));
STRING_OF("page_assets_style_digest", DIGEST_OF("style"));
STRING_OF("page_assets_script_digest", DIGEST_OF("script"));
