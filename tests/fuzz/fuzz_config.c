/* Configuration files: what is accepted lies in range, what is refused leaves the settings alone. */
#include "tests/fuzz/fuzz_libconfig.h"
#include "tests/fuzz/fuzz_settings.h"

#include "tuner/options/config.h"
#include "tuner/options/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct settings settings;
    char path[FUZZ_PATH_SIZE];
    struct err err = {0};
    int fd = fuzz_file(data, size, path);
    settings_init(&settings);
    int code = config_read_settings(path, &settings, OPTIONS_RECOMMEND, &err);
    if (code < 0) {
        fuzz_check_error(code, &err);
        FUZZ_CHECK(strncmp(err.text, path, strlen(path)) == 0);
        fuzz_check_untouched(&settings);
    } else {
        FUZZ_CHECK(code == 0);
        fuzz_check_settings(&settings);
    }
    close(fd);
    return 0;
}
