/* Styles of letters, as ECMA-48 has them. Bold and dim need no choice of colours for light or dark
 * backgrounds. */
#include "tuner/base/style.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_styles(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    int fd = fileno(out);
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return terminal != NULL && strcmp(terminal, "dumb") != 0 && fd >= 0 && isatty(fd) != 0;
}

const char *style_text(FILE *out, enum style style)
{
    static const char *const sequences[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m"};
    return has_styles(out) ? sequences[style] : "";
}
