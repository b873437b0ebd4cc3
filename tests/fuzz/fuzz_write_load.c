/* Traces of writes: what is read is in range, and written out it reads back the same. */
#include "tests/fuzz/fuzz.h"

#include "tuner/writes/write_load.h"

#include <inttypes.h>

static void check_load(const struct write_load *load)
{
    uint64_t total = 0;
    FUZZ_CHECK(load->n > 0 && load->n_files > 0 && load->n_files <= load->n);
    for (size_t i = 0; i < load->n; i++) {
        const struct cawl_chunk *chunk = &load->chunks[i];
        FUZZ_CHECK(chunk->file < load->n_files && chunk->size_bytes > 0);
        FUZZ_CHECK(chunk->delay_s >= 0 && chunk->delay_s <= WRITE_LOAD_MAX_DELAY_S);
        FUZZ_CHECK(chunk->offset_bytes + chunk->size_bytes <= WRITE_LOAD_MAX_BYTES);
        total += chunk->size_bytes;
    }
    FUZZ_CHECK(total == load->total_bytes && total <= WRITE_LOAD_MAX_BYTES);
}

static void write_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name != '\0'; name++)
        fprintf(out, *name == '"' ? "\"\"" : "%c", *name);
    fputc('"', out);
}

static void check_again(const struct write_load *load)
{
    char path[FUZZ_PATH_SIZE];
    struct write_load again = {0};
    FILE *out = fuzz_file(path);
    fputs("delay_s,file,size,offset\n", out);
    for (size_t i = 0; i < load->n; i++) {
        const struct cawl_chunk *chunk = &load->chunks[i];
        fprintf(out, "%.17g,", chunk->delay_s);
        write_name(out, load->files[chunk->file]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", chunk->size_bytes, chunk->offset_bytes);
    }
    FUZZ_CHECK(fflush(out) == 0 && write_load_read(path, &again, NULL) == 0);
    FUZZ_CHECK(again.n == load->n && again.n_files == load->n_files &&
               again.total_bytes == load->total_bytes);
    for (size_t i = 0; i < load->n; i++) {
        const struct cawl_chunk *a = &load->chunks[i], *b = &again.chunks[i];
        FUZZ_CHECK(a->file == b->file && a->offset_bytes == b->offset_bytes);
        FUZZ_CHECK(a->size_bytes == b->size_bytes && a->delay_s == b->delay_s);
    }
    for (size_t i = 0; i < load->n_files; i++)
        FUZZ_CHECK(strcmp(load->files[i], again.files[i]) == 0);
    fclose(out);
    write_load_done(&again);
}

FUZZ_FILE(path)
{
    struct write_load load = {0};
    if (fuzz_refused(write_load_read(path, &load, &fuzz_err))) {
        FUZZ_CHECK(load.chunks == NULL && load.n == 0);
        return;
    }
    check_load(&load);
    check_again(&load);
    write_load_done(&load);
}
