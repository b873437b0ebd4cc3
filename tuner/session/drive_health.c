/* What the drive itself counts. */
#include "tuner/session/drive_health.h"

#include "bench/base/spawn.h"
#include "bench/base/units.h"
#include "bench/host/procfs.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_NS       3000000000ULL
#define OUTPUT_SIZE      ((size_t)1 << 18)
#define NVME_UNIT_BYTES  512000.0
#define RATED_LIFE_YEARS 5

static void init(struct drive_health *health)
{
    *health = (struct drive_health){.host_written_bytes = NAN,
                                    .percentage_used = NAN,
                                    .temperature_c = NAN,
                                    .thermal_throttle_s = NAN,
                                    .media_errors = NAN,
                                    .power_on_hours = NAN,
                                    .critical_warning = NAN};
}

static double number_of(const json_t *object, const char *key)
{
    double number = json_read_number(object, key);
    return number >= 0 ? number : NAN;
}

/* "Thermal Temp. 1 Total Time:         12": only in the text, and there only when it is not 0. */
static double throttle_of(const json_t *lines)
{
    static const char *const names[] = {"Thermal Temp. 1 Total Time:", "Thermal Temp. 2 Total Time:"};
    double seconds = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const char *line = json_string_value(json_array_get(lines, i));
        for (size_t k = 0; line != NULL && k < sizeof names / sizeof names[0]; k++) {
            if (strncmp(line, names[k], strlen(names[k])) == 0)
                seconds += strtod(line + strlen(names[k]), NULL);
        }
    }
    return json_array_size(lines) > 0 && seconds >= 0 && isfinite(seconds) ? seconds : NAN;
}

static void read_nvme(const json_t *root, const json_t *log, struct drive_health *health)
{
    health->host_written_bytes = number_of(log, "data_units_written") * NVME_UNIT_BYTES;
    health->percentage_used = number_of(log, "percentage_used");
    health->media_errors = number_of(log, "media_errors");
    health->critical_warning = number_of(log, "critical_warning");
    health->temperature_c = number_of(log, "temperature");
    health->power_on_hours = number_of(log, "power_on_hours");
    health->thermal_throttle_s = throttle_of(json_object_get(json_object_get(root, "smartctl"), "output"));
}

/* Vendors count in units of their own; smartmontools' names tell them apart. */
enum ata_kind { ATA_WRITTEN, ATA_ERRORS, ATA_LIFE_LEFT };

static const struct {
    const char *name;
    enum ata_kind kind;
    double unit; /* bytes, for ATA_WRITTEN */
} ata_rows[] = {
    {"Total_LBAs_Written", ATA_WRITTEN, 512},
    {"Host_Writes_32MiB", ATA_WRITTEN, 32.0 * 1048576},
    {"Total_Host_Writes_32MiB", ATA_WRITTEN, 32.0 * 1048576},
    {"Host_Writes_MiB", ATA_WRITTEN, 1048576},
    {"Host_Writes_GiB", ATA_WRITTEN, 1073741824},
    {"Lifetime_Writes_GiB", ATA_WRITTEN, 1073741824},
    {"Total_Writes_GiB", ATA_WRITTEN, 1073741824},
    {"Reported_Uncorrect", ATA_ERRORS, 0},
    {"Wear_Leveling_Count", ATA_LIFE_LEFT, 0},
    {"Media_Wearout_Indicator", ATA_LIFE_LEFT, 0},
    {"SSD_Life_Left", ATA_LIFE_LEFT, 0},
    {"Percent_Lifetime_Remain", ATA_LIFE_LEFT, 0},
};

/* The normalised value of a life-time attribute falls from 100 to 1. */
static void read_attribute(const json_t *attribute, struct drive_health *health)
{
    const char *name = json_string_value(json_object_get(attribute, "name"));
    double raw = number_of(json_object_get(attribute, "raw"), "value"), value = number_of(attribute, "value");
    for (size_t i = 0; name != NULL && i < sizeof ata_rows / sizeof ata_rows[0]; i++) {
        if (strcmp(name, ata_rows[i].name) != 0)
            continue;
        if (ata_rows[i].kind == ATA_WRITTEN)
            health->host_written_bytes = raw * ata_rows[i].unit;
        else if (ata_rows[i].kind == ATA_ERRORS)
            health->media_errors = raw;
        else if (value <= 100)
            health->percentage_used = 100 - value;
    }
}

static bool has_numbers(const struct drive_health *health)
{
    return isfinite(health->host_written_bytes) || isfinite(health->percentage_used) ||
           isfinite(health->temperature_c) || isfinite(health->media_errors) ||
           isfinite(health->power_on_hours);
}

/* smartctl's own words for what went wrong, where it has any. */
static void explain(const json_t *root, struct drive_health *health)
{
    const json_t *smartctl = json_object_get(root, "smartctl"),
                 *message = json_array_get(json_object_get(smartctl, "messages"), 0);
    const char *words = json_string_value(json_object_get(message, "string"));
    if (words != NULL)
        snprintf(health->why_not, sizeof health->why_not, "smartctl: %s", words);
    else
        snprintf(health->why_not, sizeof health->why_not, "the drive shows no counters");
}

bool drive_health_parse_smartctl(const char *text, size_t length, struct drive_health *ret_drive_health)
{
    init(ret_drive_health);
    /* Counters have up to 128 bits; as reals they lose digits but not their size. */
    json_t *root = json_loadb(text, length, JSON_DECODE_INT_AS_REAL, NULL);
    if (!json_is_object(root)) {
        json_decref(root);
        snprintf(ret_drive_health->why_not, sizeof ret_drive_health->why_not,
                 "smartctl printed no JSON; 7.0 or later does");
        return false;
    }
    const json_t *log = json_object_get(root, "nvme_smart_health_information_log"),
                 *table = json_object_get(json_object_get(root, "ata_smart_attributes"), "table");
    if (log != NULL)
        read_nvme(root, log, ret_drive_health);
    for (size_t i = 0; i < json_array_size(table); i++)
        read_attribute(json_array_get(table, i), ret_drive_health);
    if (isnan(ret_drive_health->temperature_c))
        ret_drive_health->temperature_c = number_of(json_object_get(root, "temperature"), "current");
    if (isnan(ret_drive_health->power_on_hours))
        ret_drive_health->power_on_hours = number_of(json_object_get(root, "power_on_time"), "hours");
    ret_drive_health->known = has_numbers(ret_drive_health);
    if (!ret_drive_health->known)
        explain(root, ret_drive_health);
    json_decref(root);
    return ret_drive_health->known;
}

bool drive_health_parse_life_time(const char *text, struct drive_health *ret_drive_health)
{
    unsigned long worst = 0;
    init(ret_drive_health);
    for (const char *at = text; *at != '\0';) {
        char *end = NULL;
        unsigned long step = strtoul(at, &end, 16);
        if (end == at || step > 11)
            return false;
        worst = step > worst ? step : worst;
        at = end + strspn(end, " \t");
    }
    ret_drive_health->known = worst > 0; /* 0: not defined */
    if (ret_drive_health->known)
        ret_drive_health->percentage_used = 10.0 * (double)worst;
    return ret_drive_health->known;
}

static void ask_smartctl(const char *disk, const struct clock *clock, const atomic_int *interrupted,
                         struct drive_health *health)
{
    /* An ordinary user's PATH often lacks the second place. */
    static const char *const programs[] = {"smartctl", "/usr/sbin/smartctl"};
    char device[80], *output = malloc(OUTPUT_SIZE);
    struct err err = {0};
    int status = 0, result = -1;
    if (output == NULL)
        return;
    snprintf(device, sizeof device, "/dev/%.60s", disk);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0] && result != 0; i++) {
        const char *const argv[] = {programs[i], "--json=o", "-A", device, NULL};
        result = spawn_capture(argv, clock, TIMEOUT_NS, interrupted, output, OUTPUT_SIZE, &status, &err);
        if (err.code != -ENOENT)
            break;
    }
    if (result != 0)
        snprintf(health->why_not, sizeof health->why_not, "%.160s%s", err.text,
                 err.code == -ENOENT ? " (package smartmontools)" : "");
    else
        drive_health_parse_smartctl(output, strlen(output), health);
    free(output);
}

static bool read_sysfs(const char *disk, struct drive_health *health)
{
    static const char *const files[] = {"life_time", "../../../health_descriptor/life_time_estimation_a"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[160], line[64];
        snprintf(path, sizeof path, "/sys/block/%.60s/device/%s", disk, files[i]);
        if (procfs_read_line(path, line, sizeof line) == 0 && drive_health_parse_life_time(line, health))
            return true;
    }
    return false;
}

void drive_health_read(const struct hostinfo *host, const struct clock *clock, const atomic_int *interrupted,
                       struct drive_health *ret_drive_health)
{
    const char *disk = hostinfo_text(host, "device_whole");
    init(ret_drive_health);
    if (disk[0] == '\0') {
        snprintf(ret_drive_health->why_not, sizeof ret_drive_health->why_not,
                 "there is no disk below this file system");
    } else if (!read_sysfs(disk, ret_drive_health)) {
        if (interrupted != NULL && atomic_load(interrupted) != 0)
            snprintf(ret_drive_health->why_not, sizeof ret_drive_health->why_not,
                     "interrupted before the drive was asked");
        else if (strncmp(disk, "nvme", 4) == 0 || strncmp(disk, "sd", 2) == 0)
            ask_smartctl(disk, clock, interrupted, ret_drive_health);
        else
            snprintf(ret_drive_health->why_not, sizeof ret_drive_health->why_not,
                     "%.60s is a virtual or mapped device and has no counters of its own", disk);
    }
}

static json_t *json_drive_health(const struct drive_health *health)
{
    if (!health->known)
        return json_pack("{s:o}", "unknown", json_text(health->why_not));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host_written_bytes", json_number(health->host_written_bytes),
        "percentage_used", json_number(health->percentage_used), "temperature_c",
        json_number(health->temperature_c), "thermal_throttle_s", json_number(health->thermal_throttle_s),
        "media_errors", json_number(health->media_errors), "power_on_hours",
        json_number(health->power_on_hours), "critical_warning", json_number(health->critical_warning));
}

double drive_health_written_bytes(const struct drive_health *before, const struct drive_health *after)
{
    double bytes =
        before->known && after->known ? after->host_written_bytes - before->host_written_bytes : NAN;
    return bytes >= 0 ? bytes : NAN;
}

double drive_health_year_share(const struct drive_health *before, const struct drive_health *after)
{
    if (!(after->percentage_used >= 1))
        return NAN;
    double life_bytes = after->host_written_bytes / (after->percentage_used / 100);
    return drive_health_written_bytes(before, after) / (life_bytes / RATED_LIFE_YEARS);
}

json_t *drive_health_json(const struct drive_health *before, const struct drive_health *after)
{
    if (!before->known && !after->known)
        return json_drive_health(before);
    return json_pack("{s:o, s:o, s:o, s:o}", "before", json_drive_health(before), "after",
                     json_drive_health(after), "written_bytes",
                     json_number(drive_health_written_bytes(before, after)), "year_share",
                     json_number(drive_health_year_share(before, after)));
}

/* Where the next part of the line goes; no part where the number is missing. */
static FILE *part(FILE *line, double number, bool *begun)
{
    if (!isfinite(number))
        return NULL;
    fputs(*begun ? ", " : "drive: ", line);
    *begun = true;
    return line;
}

const char *drive_health_format(const struct drive_health *before, const struct drive_health *after,
                                char *buffer, size_t size)
{
    static const struct drive_health nothing;
    before = before != NULL ? before : &nothing;
    const struct drive_health *last = after->known ? after : before;
    double written = drive_health_written_bytes(before, after);
    double throttled =
        before->known && after->known ? after->thermal_throttle_s - before->thermal_throttle_s : NAN;
    char text[UNITS_TEXT_SIZE];
    bool begun = false;
    buffer[0] = '\0';
    FILE *line = last->known ? fmemopen(buffer, size, "w") : NULL;
    if (line == NULL)
        return buffer;
    if (part(line, written, &begun) != NULL)
        fprintf(line, "%s written meanwhile", units_format_bytes((uint64_t)written, text));
    double year = drive_health_year_share(before, after);
    if (isfinite(year))
        fprintf(line, " (%.2g %% of a year's rated writes)", 100 * year);
    if (part(line, last->percentage_used, &begun) != NULL)
        fprintf(line, "%.0f %% of its rated life used", last->percentage_used);
    if (part(line, last->temperature_c, &begun) != NULL)
        fprintf(line, "%.0f C", last->temperature_c);
    if (part(line, last->media_errors, &begun) != NULL)
        fprintf(line, "%.0f media errors", last->media_errors);
    if (part(line, throttled > 0 ? throttled : NAN, &begun) != NULL)
        fprintf(line, "throttled by heat for %.0f s meanwhile", throttled);
    fclose(line);
    return buffer;
}
