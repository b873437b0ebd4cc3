/* fstune emit shell: variables for scripts. */
#include "tuner/emit/snippet.h"

#include <inttypes.h>

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct point *point = &request->recommendation->point;
    (void)err;
    snippet_header(writer, request);
    fprintf(writer->out, "FSTUNE_PATTERN=");
    snippet_escape_shell(writer->out, request->recommendation->pattern.name);
    fprintf(writer->out, "\nFSTUNE_REQUEST_SIZE=%" PRIu64 "\n", point->request_size_bytes);
    if (factors_is_split(point))
        fprintf(writer->out, "FSTUNE_WRITE_REQUEST_SIZE=%" PRIu64 "\n", factors_write_size_bytes(point));
    fprintf(writer->out,
            "FSTUNE_QUEUE_DEPTH=%" PRIu32 "\nFSTUNE_DIRECT=%" PRIu32
            "\nFSTUNE_API=%s\nFSTUNE_THREADS=%" PRIu32 "\nFSTUNE_SYNC=%s\n",
            point->queue_depth, point->direct, api_names[point->api], point->threads,
            sync_names[point->sync]);
    return 0;
}

const struct snippet_ops snippet_shell = {
    .name = "shell",
    .title = "variables for a shell script: FSTUNE_REQUEST_SIZE=65536 ...",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_EXACTLY,
    .queue_depth = SNIPPET_SAYS_EXACTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_EXACTLY,
    .threads = SNIPPET_SAYS_EXACTLY,
    .sync = SNIPPET_SAYS_EXACTLY,
    .ignores = SNIPPET_IGNORES_ALL,
    .hint = "sh -n FILE",
    .emit = emit,
};
