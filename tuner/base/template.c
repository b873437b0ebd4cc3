/* tuner/base/template: what stands before each mark, and its part. */
#include "tuner/base/template.h"

#include <string.h>

void template_print(FILE *out, const char *text, const struct template_part *parts, size_t n,
                    const void *context)
{
    for (size_t i = 0; i < n; i++) {
        const char *mark = strstr(text, parts[i].mark);
        fwrite(text, 1, (size_t)(mark - text), out);
        parts[i].print(out, context);
        text = mark + strlen(parts[i].mark);
    }
    fputs(text, out);
}
