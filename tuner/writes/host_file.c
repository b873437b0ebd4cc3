/* The calibration's file: what it holds, reading it and writing it. */
#include "tuner/writes/host_file.h"

#include "bench/base/units.h"
#include "tuner/options/config.h"

#include <errno.h>
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PATH   200 /* bytes of a path that a message shows, so that the rest of the message fits */
#define NUMBER_SIZE  40
#define SUFFIX       "_interval"
#define MOST_BYTES   1e18 /* and bytes/s */
#define MOST_SECONDS 1e9
#define N_OF(array)  (sizeof(array) / sizeof((array)[0]))

_Static_assert(sizeof(struct cawl_host) == HOST_N_PARAMETERS * sizeof(double),
               "the parameters are the members of struct cawl_host");

const struct host_parameter host_parameters[HOST_N_PARAMETERS] = {
    {"bw_mem", "copying large blocks in memory that was touched before", HOST_BPS, true, false},
    {"bw_ramdisk", "write(2) into the page cache below the background limit, memory touched before", HOST_BPS,
     true, false},
    {"bw_ramdisk_first_touch", "the same into memory that the machine's host has to give back first",
     HOST_BPS, true, true},
    {"bw_reduced", "write(2) into the page cache while pages are written back", HOST_BPS, true, false},
    {"bw_rewrite", "write(2) over pages that are dirty already", HOST_BPS, true, true},
    {"bw_dev", "the device, written", HOST_BPS, true, false},
    {"bw_rdev", "the device, read", HOST_BPS, true, false},
    {"bw_writeback", "the device, written by the kernel from the page cache", HOST_BPS, true, true},
    {"bw_page", "bytes of a small write(2) into new pages", HOST_BPS, true, true},
    {"bw_buffer", "bytes of a small fwrite into the buffer of its stream", HOST_BPS, true, true},
    {"sc_w", "fixed cost of a write call", HOST_SECONDS, true, false},
    {"sc_sw", "fixed cost of a synchronous write call", HOST_SECONDS, true, false},
    {"sc_f", "fixed cost of an fwrite into the buffer of its stream", HOST_SECONDS, true, true},
    {"c_sk", "a seek: a random synchronous write less a sequential one", HOST_SECONDS, true, false},
    {"bs", "logical block of the device", HOST_BYTES, false, false},
    {"bf", "buffer of the C library's streams", HOST_BYTES, false, false},
    {"limit_bg", "dirty memory from which on it is written back", HOST_BYTES, false, false},
    {"limit_hard", "dirty memory at which writers wait", HOST_BYTES, false, false},
    {"dirty_expire", "age from which on dirty pages are written back", HOST_SECONDS, false, false},
};

/* What stands beside the model's parameters, all of it optional: texts, and numbers with a unit. */
static const struct other {
    const char *name;
    size_t offset; /* in struct host_file */
    bool is_text;
    enum host_unit unit;
} others[] = {
    {"hostname", offsetof(struct host_file, hostname), true, 0},
    {"path", offsetof(struct host_file, path), true, 0},
    {"file_system", offsetof(struct host_file, file_system), true, 0},
    {"kernel", offsetof(struct host_file, kernel), true, 0},
    {"date", offsetof(struct host_file, date), true, 0},
    {"page_size", offsetof(struct host_file, page_size_bytes), false, HOST_BYTES},
    {"max_request", offsetof(struct host_file, max_request_bytes), false, HOST_BYTES},
    {"writeback_interval", offsetof(struct host_file, writeback_interval_s), false, HOST_SECONDS},
};

double host_value(const struct cawl_host *host, size_t i)
{
    return ((const double *)(const void *)host)[i];
}

void host_set_value(struct cawl_host *host, size_t i, double value)
{
    ((double *)(void *)host)[i] = value;
}

/* One reading of a file. */
struct reading {
    const char *path;
    struct host_file *file;
    bool seen[HOST_N_PARAMETERS];
    unsigned last_line;
};

static int refuse_host_setting(const struct reading *reading, const config_setting_t *setting,
                               const char *what, struct err *err)
{
    return err_set(err, -EINVAL, "%.*s:%u: %.80s: %s", SHOWN_PATH, reading->path,
                   config_setting_source_line(setting), config_setting_name(setting), what);
}

/* "3.1G": units_parse_size knows whole numbers only. */
static int parse_decimal_size(const char *text, double *ret_number)
{
    static const char suffixes[] = "kmgt";
    char *end = NULL;
    size_t digits = strspn(text, "0123456789"),
           more = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;
    if (digits == 0 || more == 0)
        return -EINVAL;
    double number = strtod(text, &end);
    const char *suffix =
        *end != '\0' ? strchr(suffixes, *end >= 'A' && *end <= 'Z' ? *end - 'A' + 'a' : *end) : NULL;
    if (end != text + digits + 1 + more || suffix == NULL || end[1] != '\0')
        return -EINVAL;
    *ret_number = ldexp(number, 10 * ((int)(suffix - suffixes) + 1));
    return 0;
}

static int parse_text(const char *text, enum host_unit unit, double *ret_number)
{
    uint64_t number = 0;
    if (unit == HOST_SECONDS) {
        if (units_parse_duration(text, &number) < 0)
            return -EINVAL;
        *ret_number = (double)number / 1e9;
        return 0;
    }
    if (units_parse_size(text, &number) < 0)
        return parse_decimal_size(text, ret_number);
    *ret_number = (double)number;
    return 0;
}

static int number_in_host_file(const config_setting_t *setting, enum host_unit unit, double *ret_number)
{
    int result = 0;
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_FLOAT:
        *ret_number = config_setting_get_float(setting);
        break;
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        *ret_number = (double)config_setting_get_int64(setting);
        break;
    case CONFIG_TYPE_STRING:
        result = parse_text(config_setting_get_string(setting), unit, ret_number);
        break;
    default:
        result = -EINVAL;
    }
    return result == 0 && isfinite(*ret_number) ? 0 : -EINVAL;
}

static const char *form_of(enum host_unit unit)
{
    return unit == HOST_SECONDS ? "is no duration; write seconds as a number, or a text like \"30us\""
           : unit == HOST_BPS   ? "is no rate; write bytes per second as a number, or a text like \"3.1G\""
                                : "is no size; write bytes as a number, or a text like \"4k\"";
}

/* The costs of calls and of a seek may be too small to be seen. */
static bool may_be_zero(size_t i)
{
    return host_parameters[i].optional ||
           (host_parameters[i].unit == HOST_SECONDS && host_parameters[i].measured);
}

/* What the model can count with: beyond, times would be of no use to anybody. */
static bool is_beyond(double number, enum host_unit unit)
{
    return unit == HOST_SECONDS ? number > MOST_SECONDS : (number != 0 && number < 1) || number > MOST_BYTES;
}

static int read_parameter(struct reading *reading, const config_setting_t *setting, size_t i, struct err *err)
{
    double number = 0;
    if (number_in_host_file(setting, host_parameters[i].unit, &number) < 0)
        return refuse_host_setting(reading, setting, form_of(host_parameters[i].unit), err);
    if (number < 0 || (number == 0 && !may_be_zero(i)))
        return refuse_host_setting(reading, setting,
                                   may_be_zero(i) ? "must not be negative" : "must be more than 0", err);
    if (is_beyond(number, host_parameters[i].unit))
        return refuse_host_setting(reading, setting,
                                   host_parameters[i].unit == HOST_SECONDS
                                       ? "is out of range; use at most 1e9 seconds"
                                       : "is out of range; use 1 to 1e18",
                                   err);
    host_set_value(&reading->file->host, i, number);
    reading->seen[i] = true;
    return 0;
}

static int read_interval(struct reading *reading, const config_setting_t *setting, size_t i, struct err *err)
{
    double ends[2] = {0, 0};
    int type = config_setting_type(setting);
    bool is_pair =
        (type == CONFIG_TYPE_ARRAY || type == CONFIG_TYPE_LIST) && config_setting_length(setting) == 2;
    for (unsigned end = 0; is_pair && end < 2; end++)
        is_pair = number_in_host_file(config_setting_get_elem(setting, end), host_parameters[i].unit,
                                      &ends[end]) == 0;
    if (!is_pair || ends[0] > ends[1])
        return refuse_host_setting(reading, setting, "is no interval; write [low, high]", err);
    reading->file->intervals[i] = (struct interval){ends[0], ends[1]};
    return 0;
}

static int read_other(struct reading *reading, const config_setting_t *setting, const struct other *other,
                      struct err *err)
{
    void *place = (char *)reading->file + other->offset;
    const char *text = config_setting_get_string(setting);
    double number = 0;
    if (other->is_text) {
        if (text == NULL)
            return refuse_host_setting(reading, setting, "wants a text; write it in quotes", err);
        if (strlen(text) >= HOST_TEXT_SIZE)
            return refuse_host_setting(reading, setting, "the text is too long; shorten it", err);
        memcpy(place, text, strlen(text) + 1);
        return 0;
    }
    if (number_in_host_file(setting, other->unit, &number) < 0)
        return refuse_host_setting(reading, setting, form_of(other->unit), err);
    if (number < 0)
        return refuse_host_setting(reading, setting, "must not be negative", err);
    *(double *)place = number;
    return 0;
}

static bool is_interval_of(const char *name, const char *parameter)
{
    size_t length = strlen(parameter);
    return strncmp(name, parameter, length) == 0 && strcmp(name + length, SUFFIX) == 0;
}

static int read_setting(struct reading *reading, const config_setting_t *setting, struct err *err)
{
    const char *name = config_setting_name(setting);
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        if (strcmp(name, host_parameters[i].name) == 0)
            return read_parameter(reading, setting, i, err);
        if (host_parameters[i].measured && is_interval_of(name, host_parameters[i].name))
            return read_interval(reading, setting, i, err);
    }
    for (size_t i = 0; i < N_OF(others); i++) {
        if (strcmp(name, others[i].name) == 0)
            return read_other(reading, setting, &others[i], err);
    }
    return refuse_host_setting(reading, setting, "is not known here; `fstune calibrate` writes such a file",
                               err);
}

/* Errors that no single line causes are reported with the number of the last line. */
static int check_whole(const struct reading *reading, struct err *err)
{
    const struct cawl_host *host = &reading->file->host;
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        if (!reading->seen[i] && !host_parameters[i].optional)
            return err_set(err, -EINVAL, "%.*s:%u: the file ends without %s (%s)", SHOWN_PATH, reading->path,
                           reading->last_line, host_parameters[i].name, host_parameters[i].meaning);
    }
    if (host->limit_bg_bytes >= host->limit_hard_bytes)
        return err_set(err, -EINVAL, "%.*s:%u: limit_bg is not below limit_hard", SHOWN_PATH, reading->path,
                       reading->last_line);
    return 0;
}

static int read_all_host_settings(struct reading *reading, const config_t *config, struct err *err)
{
    const config_setting_t *root = config_root_setting(config);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
        int result = read_setting(reading, setting, err);
        if (result < 0)
            return result;
        reading->last_line = config_setting_source_line(setting);
    }
    return check_whole(reading, err);
}

int host_file_read(const char *path, struct host_file *ret, struct err *err)
{
    config_t config;
    struct host_file *file = calloc(1, sizeof *file);
    struct reading reading = {.path = path, .file = file, .last_line = 1};
    if (file == NULL)
        return err_set(err, -ENOMEM, "no memory to read %.*s", SHOWN_PATH, path);
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        file->intervals[i] = (struct interval){NAN, NAN};
    int result = config_load(&config, path, err);
    if (result == 0) {
        result = read_all_host_settings(&reading, &config, err);
        config_destroy(&config);
    }
    if (result == 0)
        *ret = *file;
    free(file);
    return result;
}

/* Digits that read back exactly, and never an integer, which libconfig keeps in 32 bits. */
static const char *format_number(double number, char buffer[NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(buffer, NULL) == number)
            break;
    }
    size_t length = strlen(buffer);
    if (strpbrk(buffer, ".e") == NULL)
        snprintf(buffer + length, NUMBER_SIZE - length, ".0");
    return buffer;
}

static const char *const unit_words[] = {"bytes/s", "bytes", "seconds"};

static void write_parameter(FILE *out, const struct host_file *file, size_t i)
{
    const struct host_parameter *parameter = &host_parameters[i];
    const struct interval *interval = &file->intervals[i];
    const double value = host_value(&file->host, i);
    char text[NUMBER_SIZE], high[NUMBER_SIZE];
    if (parameter->optional && value <= 0)
        return;
    fprintf(out, "\n# %s, %s\n%s = %s;\n", parameter->meaning, unit_words[parameter->unit], parameter->name,
            format_number(value, text));
    if (isfinite(interval->low) && isfinite(interval->high))
        fprintf(out, "%s" SUFFIX " = [%s, %s];\n", parameter->name, format_number(interval->low, text),
                format_number(interval->high, high));
}

static void write_text(FILE *out, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    fprintf(out, "%s = \"", name);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\x%02x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputs("\";\n", out);
}

static void write_others(FILE *out, const struct host_file *file, bool texts)
{
    char number[NUMBER_SIZE];
    for (size_t i = 0; i < N_OF(others); i++) {
        const void *place = (const char *)file + others[i].offset;
        if (texts && others[i].is_text)
            write_text(out, others[i].name, place);
        else if (!texts && !others[i].is_text && *(const double *)place > 0)
            fprintf(out, "%s = %s; # %s\n", others[i].name, format_number(*(const double *)place, number),
                    unit_words[others[i].unit]);
    }
}

int host_file_write(FILE *out, const void *file, struct err *err)
{
    fputs("# fstune calibrate: what writes cost on this machine and file system.\n"
          "# Rates in bytes/s, sizes in bytes, times in seconds.\n",
          out);
    write_others(out, file, true);
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        write_parameter(out, file, i);
    fputc('\n', out);
    write_others(out, file, false);
    return ferror(out) ? err_set(err, -EIO, "the host file cannot be written") : 0;
}
