/* bench/profile/papi_names: PAPI takes a preset apart, libpfm4 gives the kernel's form of each part. */
#include "bench/profile/papi_names.h"

#include "bench/profile/papi_library.h"

#include <errno.h>
#include <string.h>

#if PAPI_LIBRARY_IS_BUILT

static int refuse_absent(const char *name, struct err *err)
{
    return err_set(err, -ENOENT,
                   "this machine has no event %s; papi_avail and papi_native_avail list what it has", name);
}

/* The kernel's form of an event with a name of its own. False: it is none of the kernel's. */
static bool encode(const struct papi_library *library, const char *name, struct perf_event_attr *ret_event)
{
    struct perf_event_attr event = {.size = sizeof event};
    pfm_perf_encode_arg_t encoding = {.attr = &event, .size = sizeof encoding};
    if (library->pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &encoding) !=
        PFM_SUCCESS)
        return false;
    *ret_event = event;
    return true;
}

static int find_preset(const struct papi_library *library, const char *name, const PAPI_event_info_t *info,
                       struct hardware_formula *formula, struct err *err)
{
    bool is_less = strcmp(info->derived, "DERIVED_SUB") == 0;
    bool is_plain = strcmp(info->derived, "NOT_DERIVED") == 0 || strcmp(info->derived, "DERIVED_ADD") == 0;
    if (info->count == 0 || info->count > HARDWARE_TERMS_MOST)
        return refuse_absent(name, err);
    if (!is_less && !is_plain)
        return err_set(err, -ENOENT,
                       "%s is a formula here; ask for the events in it, which papi_avail -e %s names", name,
                       name);
    for (size_t i = 0; i < info->count; i++) {
        if (!encode(library, info->name[i], &formula->terms[i].event))
            return refuse_absent(name, err);
        formula->terms[i].is_taken_off = is_less && i > 0;
    }
    formula->n = info->count;
    return 0;
}

int papi_names_find(const struct papi_library *library, const char *name,
                    struct hardware_formula *ret_formula, struct err *err)
{
    char copy[HARDWARE_NAME_SIZE];
    int number = 0, code = 0;
    PAPI_event_info_t info = {0};
    struct hardware_formula formula = {.n = 1};
    strncpy(copy, name, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    /* PAPI names nothing where it does not know the processor; libpfm4 has the kernel's names there, too. */
    if (library->PAPI_event_name_to_code(copy, &number) != PAPI_OK || (number & PAPI_PRESET_MASK) == 0)
        code = encode(library, name, &formula.terms[0].event) ? 0 : refuse_absent(name, err);
    else if (library->PAPI_get_event_info(number, &info) != PAPI_OK)
        code = refuse_absent(name, err);
    else
        code = find_preset(library, name, &info, &formula, err);
    if (code == 0)
        *ret_formula = formula;
    return code;
}

#else

int papi_names_find(const struct papi_library *library, const char *name,
                    struct hardware_formula *ret_formula, struct err *err)
{
    (void)library;
    (void)ret_formula;
    return err_set(err, -ENOENT, "this fstune was built without PAPI, which would know %s", name);
}

#endif
