/* fstune emit crosvm: a --block option. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <string.h>

#define PATH_TEXT_SIZE ((size_t)2 * RECOMMENDATION_PATH_SIZE)
#define OPTION_SIZE    (PATH_TEXT_SIZE + 256)

static int check(const struct snippet_request *request, struct err *err)
{
    int result = snippet_vm_only_virtio_blk(request, "crosvm --block", err);
    if (result == 0)
        result = snippet_vm_no_directsync(request, "crosvm", err);
    if (result == 0 && request->recommendation->point.direct && request->image_format != SNIPPET_IMAGE_RAW)
        return err_set(
            err, -EINVAL,
            "crosvm does direct I/O on raw images only; convert it (qemu-img convert -O raw OLD NEW), or "
            "measure with --direct 0");
    if (result == 0)
        result = snippet_check_path(snippet_image_path(request), "", err);
    return result < 0 ? result : snippet_vm_check_utf8(snippet_image_path(request), err);
}

/* A value with one of these must stand in double quotes, where a backslash escapes. */
static void quote_path(const char *path, char text[PATH_TEXT_SIZE])
{
    size_t n = 0;
    if (strpbrk(path, ",\"'[]") == NULL) {
        snprintf(text, PATH_TEXT_SIZE, "%s", path);
        return;
    }
    text[n++] = '"';
    for (const char *c = path; *c != '\0' && n + 4 < PATH_TEXT_SIZE; c++) {
        if (*c == '"' || *c == '\\')
            text[n++] = '\\';
        text[n++] = *c;
    }
    text[n++] = '"';
    text[n] = '\0';
}

static void print_option(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    char path[PATH_TEXT_SIZE], text[OPTION_SIZE];
    quote_path(snippet_image_path(request), path);
    snprintf(text, sizeof text, "path=%s,o_direct=%s,async_executor=%s", path,
             point->direct ? "true" : "false", point->api == API_IO_URING ? "uring" : "epoll");
    snippet_vm_print_option(writer, "--block", text);
}

static void note_executor(struct snippet_writer *writer, const struct snippet_request *request)
{
    if (request->recommendation->point.api == API_IO_URING)
        snippet_comment(
            writer, "fallback where io_uring is refused (kernel.io_uring_disabled, seccomp, an old host): "
                    "async_executor=epoll");
    else
        snippet_comment(writer,
                        "%s was measured%s; async_executor=epoll is the nearest, it has ordinary calls only",
                        api_names[request->recommendation->point.api],
                        request->recommendation->point.api == API_PSYNC ? " at 1 in flight" : "");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct point *point = &request->recommendation->point;
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_comment(writer, "o_direct=%s: %s", point->direct ? "true" : "false",
                    snippet_cache_meaning(request));
    snippet_guest_notes(writer, request);
    note_executor(writer, request);
    if (point->direct)
        snippet_comment(
            writer, "on storage with blocks of 4096 bytes o_direct needs block_size=4096 beside it; a guest "
                    "installed with 512 does not find its partitions then");
    snippet_comment(writer, "where: on the command line of crosvm run");
    print_option(writer, request);
    return 0;
}

const struct snippet_ops snippet_crosvm = {
    .name = "crosvm",
    .title = "a --block option for the command line of crosvm run",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "start crosvm run with it; an option that it does not know ends it with its position",
    .emit = emit,
};
