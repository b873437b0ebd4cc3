/* Configuration files: what is accepted lies in range, what is refused leaves the settings alone. */
#include "tests/fuzz/fuzz_libconfig.h"
#include "tests/fuzz/fuzz_settings.h"

#include "tuner/options/config.h"
#include "tuner/options/options.h"

FUZZ_FILE(path)
{
    static struct settings settings;
    char told[sizeof fuzz_err.text];
    settings_init(&settings);
    int code = config_read_settings(path, NULL, &settings, OPTIONS_RECOMMEND, &fuzz_err);
    memcpy(told, fuzz_err.text, sizeof told);
    if (fuzz_refused(code)) {
        FUZZ_CHECK(strncmp(told, path, strlen(path)) == 0);
        fuzz_check_untouched(&settings);
    } else {
        fuzz_check_settings(&settings);
    }
}
