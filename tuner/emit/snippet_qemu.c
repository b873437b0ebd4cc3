/* fstune emit qemu: block nodes and devices by themselves, as managers of QEMU write them. */
#include "tuner/emit/snippet_qemu.h"

static const char *on_off(bool on)
{
    return on ? "on" : "off";
}

/* cache.direct acts on the file's node alone; on the format's node it is what QEMU's managers write too. */
static void print_nodes(FILE *out, const struct snippet_request *request, const struct snippet_plan *plan)
{
    const char *direct = on_off(request->recommendation->point.direct);
    fprintf(out, "-blockdev driver=%s,node-name=fst-f0,filename=",
            plan->disk == SNIPPET_PLAN_DEVICE ? "host_device" : "file");
    snippet_qemu_path(out, snippet_image_path(request));
    fprintf(out, ",aio=%s,cache.direct=%s,cache.no-flush=off\n", plan->aio, direct);
    fprintf(out, "-blockdev driver=%s,node-name=fst-d0,file=fst-f0,cache.direct=%s,cache.no-flush=off\n",
            snippet_image_names[request->image_format], direct);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    struct snippet_plan plan;
    int result = snippet_check_path(request->image, "", err);
    if (result == 0)
        result = snippet_plan_make(&plan, request, &snippet_qemu_product, err);
    if (result < 0)
        return result;
    snippet_qemu_notes(writer, request, &plan);
    snippet_qemu_objects(writer->out, &plan);
    print_nodes(writer->out, request, &plan);
    snippet_qemu_devices(writer->out, request, &plan);
    return 0;
}

const struct snippet_ops snippet_qemu = {
    .name = "qemu",
    .title = "QEMU's -object iothread, -blockdev and -device, for the command line",
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
