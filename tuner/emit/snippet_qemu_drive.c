/* fstune emit qemu-drive: the short form, one -drive and its device. */
#include "tuner/emit/snippet_qemu.h"

#include <string.h>

/* A colon before the first slash would be read as a protocol (nbd:...). */
static bool looks_like_protocol(const char *path)
{
    return path[strcspn(path, "/:")] == ':';
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const char *path = snippet_image_path(request);
    struct snippet_plan plan;
    int result = snippet_check_path(path, "", err);
    if (result == 0)
        result = snippet_plan_make(&plan, request, &snippet_qemu_product, err);
    if (result < 0)
        return result;
    snippet_qemu_notes(writer, request, &plan);
    snippet_qemu_objects(writer->out, &plan);
    fprintf(writer->out, "-drive file=%s", looks_like_protocol(path) ? "./" : "");
    snippet_qemu_path(writer->out, path);
    fprintf(writer->out, ",if=none,id=fst-d0,format=%s,cache=%s,aio=%s\n",
            snippet_image_names[request->image_format], plan.cache, plan.aio);
    snippet_qemu_devices(writer->out, request, &plan);
    return 0;
}

const struct snippet_ops snippet_qemu_drive = {
    .name = "qemu-drive",
    .title = "QEMU's short form, -drive and -device, for the command line",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_PARTLY,
    .sync = SNIPPET_SAYS_PARTLY,
    .hint = "grep -v '^#' FILE | xargs qemu-system-x86_64 -S -nodefaults -display none",
    .emit = emit,
};
