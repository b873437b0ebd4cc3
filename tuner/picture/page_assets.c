/* tuner/picture/page_assets: the Makefile puts style and script into the template, with their digests; the
 * assembler reads the result, so that the parts stay files that editors and browsers know. */
#include "tuner/picture/page_assets.h"

__asm__(".pushsection .rodata\n.global page_assets_html\npage_assets_html:\n"
        ".incbin \"build/page.html\"\n.byte 0\n.popsection\n");
