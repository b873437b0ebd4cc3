/* Tests of bench/profile/papi_names, on a PAPI that knows events of a processor which need not be here. */
#include "bench/profile/papi_library.h"
#include "bench/profile/papi_names.h"
#include "tests/test.h"

#include <errno.h>
#include <string.h>

#if PAPI_LIBRARY_IS_BUILT

static struct err err;
static struct hardware_formula formula;

static const struct preset {
    const char *name, *derived, *parts[3];
} presets[] = {{"PAPI_ONE", "NOT_DERIVED", {"cpu::A"}},
               {"PAPI_SUM", "DERIVED_ADD", {"cpu::A", "cpu::B"}},
               {"PAPI_LESS", "DERIVED_SUB", {"cpu::A", "cpu::B", "cpu::C"}},
               {"PAPI_RATIO", "DERIVED_POSTFIX", {"cpu::A", "cpu::B"}},
               {"PAPI_NONE", "NOT_DERIVED", {NULL}},
               {"PAPI_STRANGE", "NOT_DERIVED", {"other::A"}}};

/* Presets have their place in the table as number; others are the kernel's own. */
static int name_to_code(const char *name, int *ret_number)
{
    for (int i = 0; i < (int)N_OF(presets); i++) {
        if (strcmp(presets[i].name, name) == 0) {
            *ret_number = PAPI_PRESET_MASK | i;
            return PAPI_OK;
        }
    }
    *ret_number = PAPI_NATIVE_MASK;
    return strchr(name, ':') != NULL ? PAPI_OK : PAPI_ENOEVNT;
}

static int get_info(int number, PAPI_event_info_t *info)
{
    const struct preset *preset = &presets[number & ~PAPI_PRESET_MASK];
    memcpy(info->derived, preset->derived, strlen(preset->derived) + 1);
    for (info->count = 0; info->count < 3 && preset->parts[info->count] != NULL; info->count++)
        memcpy(info->name[info->count], preset->parts[info->count], strlen(preset->parts[info->count]) + 1);
    return PAPI_OK;
}

/* The last letter is the kernel's number of it. */
static pfm_err_t encode(const char *name, int where, pfm_os_t form, void *argument)
{
    pfm_perf_encode_arg_t *encoding = argument;
    assert_int_equal(where, PFM_PLM0 | PFM_PLM3);
    assert_int_equal(form, PFM_OS_PERF_EVENT);
    if (strncmp(name, "cpu::", 5) != 0)
        return PFM_ERR_NOTFOUND;
    encoding->attr->config = (unsigned char)name[5];
    return PFM_SUCCESS;
}

static const struct papi_library library = {.PAPI_event_name_to_code = name_to_code,
                                            .PAPI_get_event_info = get_info,
                                            .pfm_get_os_event_encoding = encode};

static int find(const char *name)
{
    return papi_names_find(&library, name, &formula, &err);
}

TEST(a_preset_of_one_event_is_that_event)
{
    assert_int_equal(find("PAPI_ONE"), 0);
    assert_int_equal(formula.n, 1);
    assert_int_equal(formula.terms[0].event.config, 'A');
}

TEST(a_preset_is_a_sum_or_a_difference)
{
    assert_int_equal(find("PAPI_SUM"), 0);
    assert_int_equal(formula.n, 2);
    assert_int_equal(formula.terms[1].event.config, 'B');
    assert_false(formula.terms[1].is_taken_off);
    assert_int_equal(find("PAPI_LESS"), 0);
    assert_int_equal(formula.n, 3);
    assert_false(formula.terms[0].is_taken_off);
    assert_true(formula.terms[1].is_taken_off && formula.terms[2].is_taken_off);
}

TEST(an_event_with_the_kernels_name_is_one_event)
{
    assert_int_equal(find("cpu::C"), 0);
    assert_int_equal(formula.n, 1);
    assert_int_equal(formula.terms[0].event.config, 'C');
}

TEST(a_formula_is_refused_and_its_parts_are_named)
{
    assert_int_equal(find("PAPI_RATIO"), -ENOENT);
    assert_non_null(strstr(err.text, "papi_avail -e PAPI_RATIO"));
}

TEST(what_is_not_there_is_refused)
{
    static const char *const names[] = {"NOTHING", "PAPI_NONE", "PAPI_STRANGE", "other::A"};
    for (size_t i = 0; i < N_OF(names); i++) {
        assert_int_equal(find(names[i]), -ENOENT);
        assert_non_null(strstr(err.text, names[i]));
        assert_non_null(strstr(err.text, "papi_avail"));
    }
}

#else

TEST(without_papi_no_name_is_known)
{
    struct hardware_formula none;
    struct papi_library library = {0};
    assert_int_equal(papi_names_find(&library, "PAPI_TOT_INS", &none, NULL), -ENOENT);
    assert_int_equal(papi_library_open(&library, NULL), -ENOSYS);
}

#endif
