/* The calibration's file: what is read is a host that the model takes, and written out it reads back the
 * same. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_libconfig.h"

#include "tuner/writes/host_file.h"

#include <math.h>

static void check_host(const struct host_file *file)
{
    const struct cawl_host *host = &file->host;
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        FUZZ_CHECK(isfinite(host_value(host, i)) && host_value(host, i) >= 0);
    FUZZ_CHECK(host->bw_ramdisk_bps > 0 && host->bw_dev_bps > 0 &&
               host->limit_bg_bytes < host->limit_hard_bytes);
    FUZZ_CHECK(file->page_size_bytes >= 0 && file->max_request_bytes >= 0 && file->writeback_interval_s >= 0);
}

static void check_model(const struct cawl_host *host)
{
    static const struct cawl_options plain;
    const struct cawl_chunk chunks[] = {{.size_bytes = 1 << 20},
                                        {.offset_bytes = 1 << 20, .size_bytes = 100}};
    for (size_t mode = 0; mode < CAWL_N_MODES; mode++) {
        struct cawl_prediction prediction = {0};
        FUZZ_CHECK(cawl_predict(host, &plain, (enum cawl_mode)mode, chunks, 2, &prediction) == 0);
        FUZZ_CHECK(prediction.n == 2 && prediction.total_s >= 0);
        cawl_prediction_done(&prediction);
    }
}

static void check_again(const struct host_file *file)
{
    char path[FUZZ_PATH_SIZE];
    static struct host_file again;
    FILE *out = fuzz_file(path);
    FUZZ_CHECK(host_file_write(out, file, NULL) == 0 && fflush(out) == 0);
    FUZZ_CHECK(host_file_read(path, &again, NULL) == 0);
    fclose(out);
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        FUZZ_CHECK(host_value(&again.host, i) == host_value(&file->host, i));
    FUZZ_CHECK(strcmp(again.file_system, file->file_system) == 0 && strcmp(again.path, file->path) == 0);
}

FUZZ_FILE(path)
{
    static struct host_file file;
    memset(&file, 0, sizeof file);
    if (fuzz_refused(host_file_read(path, &file, &fuzz_err)))
        return;
    check_host(&file);
    check_model(&file.host);
    check_again(&file);
}
