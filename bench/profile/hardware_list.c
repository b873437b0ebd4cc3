/* bench/profile/hardware_list: each name is looked up, and counted at once. */
#include "bench/profile/hardware_list.h"

#include "bench/profile/papi_library.h"
#include "bench/profile/papi_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define AUTO "auto"

struct names {
    size_t n;
    char name[HARDWARE_EVENTS_MOST][HARDWARE_NAME_SIZE];
};

static int check_name(const struct names *names, const char *name, size_t length, struct err *err)
{
    if (length == 0)
        return err_set(err, -EINVAL, "a name is missing; write PAPI's names with commas between them");
    if (length >= HARDWARE_NAME_SIZE)
        return err_set(err, -EINVAL, "%.40s...: no event has so long a name", name);
    if (names->n == HARDWARE_EVENTS_MOST)
        return err_set(err, -EINVAL, "at most %d events are counted at once", HARDWARE_EVENTS_MOST);
    for (size_t i = 0; i < names->n; i++) {
        if (strncmp(names->name[i], name, length) == 0 && names->name[i][length] == '\0')
            return err_set(err, -EINVAL, "%s stands there twice", names->name[i]);
    }
    return 0;
}

static int split(struct names *names, const char *list, struct err *err)
{
    for (const char *at = list; at != NULL;) {
        size_t length = strcspn(at, ",");
        int code = check_name(names, at, length, err);
        if (code < 0)
            return code;
        memcpy(names->name[names->n], at, length);
        names->name[names->n++][length] = '\0';
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->name[i], AUTO) == 0)
            return err_set(err, -EINVAL, "%s names the events itself; leave the others out", AUTO);
    }
    return 0;
}

static int add(struct hardware_counters *counters, const struct papi_library *library, const char *name,
               struct err *err)
{
    struct hardware_formula formula;
    int code = papi_names_find(library, name, &formula, err);
    return code == 0 ? hardware_counters_add(counters, name, &formula, err) : code;
}

/* The kernel's name stands in where PAPI has none for this processor. */
static int add_usual(struct hardware_counters *counters, const struct papi_library *library, struct err *err)
{
    static const char *const usual[][2] = {{"PAPI_TOT_CYC", "perf::CYCLES"},
                                           {"PAPI_TOT_INS", "perf::INSTRUCTIONS"},
                                           {"PAPI_L3_TCM", "perf::CACHE-MISSES"},
                                           {"PAPI_BR_MSP", "perf::BRANCH-MISSES"}};
    int code = 0;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && code == 0; i++) {
        code = add(counters, library, usual[i][0], err);
        if (code == -ENOENT)
            code = add(counters, library, usual[i][1], err);
        code = code == -ENOENT ? 0 : code;
    }
    return code;
}

int hardware_list_open(struct hardware_counters **ret_counters, const char *list, pid_t pid, struct err *err)
{
    struct papi_library library = {0};
    struct hardware_counters *counters = NULL;
    struct names names = {0};
    bool is_usual = strcmp(list, AUTO) == 0;
    int code = is_usual ? 0 : split(&names, list, err);
    if (code == 0)
        code = papi_library_open(&library, err);
    if (code == 0)
        code = hardware_counters_open(&counters, pid, err);
    if (code == 0 && is_usual)
        code = add_usual(counters, &library, err);
    for (size_t i = 0; i < names.n && code == 0; i++)
        code = add(counters, &library, names.name[i], err);
    papi_library_close(&library);
    if (code == 0)
        *ret_counters = counters;
    else
        hardware_counters_close(counters);
    return code;
}
