/* A prediction for a virtual machine as text and JSON. */
#include "tuner/impact/predict_vm.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>

/* What the term adds in the guest. */
static double loss_of(const struct atomic_term *term)
{
    return term->count * (term->guest.s - term->host.s);
}

/* Number of the term with the rank-th largest loss, from 0. */
static size_t term_of_rank(const struct predict_vm *vm, size_t rank)
{
    for (size_t i = 0; i < vm->n_terms; i++) {
        size_t before = 0;
        for (size_t other = 0; other < vm->n_terms; other++) {
            const double ours = loss_of(&vm->term[i]), theirs = loss_of(&vm->term[other]);
            before += theirs > ours || (theirs == ours && other < i);
        }
        if (before == rank)
            return i;
    }
    return 0;
}

static void print_term(FILE *out, const struct predict_vm *vm, size_t i, double loss_s)
{
    const struct atomic_term *term = &vm->term[i];
    char count[UNITS_TEXT_SIZE], here[UNITS_TEXT_SIZE], there[UNITS_TEXT_SIZE];
    fprintf(out, "  %-16s %9s %10s %10s", vm->name[i], units_format_count(term->count, count),
            text_short_duration(term->count * term->host.s * 1e9, here),
            text_short_duration(term->count * term->guest.s * 1e9, there));
    if (loss_s > 0)
        fprintf(out, " %6.0f %%", 100 * loss_of(term) / loss_s);
    fputc('\n', out);
}

int predict_vm_text(FILE *out, const struct predict_vm *vm, struct err *err)
{
    const struct atomic_prediction *prediction = &vm->prediction;
    const double loss_s = prediction->vm_s - vm->time.s;
    char here[UNITS_TEXT_SIZE], there[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    fprintf(out, "Predicted in the guest: %s (%s to %s), here %s: %.2f times as long\n\n",
            text_short_duration(prediction->vm_s * 1e9, there),
            text_short_duration(fmax(prediction->interval.low, 0) * 1e9, low),
            text_short_duration(prediction->interval.high * 1e9, high),
            text_short_duration(vm->time.s * 1e9, here), prediction->vm_s / vm->time.s);
    fprintf(out, "  %-16s %9s %10s %10s %8s\n", "activity", "count", "here", "guest", "of loss");
    for (size_t rank = 0; rank < vm->n_terms; rank++)
        print_term(out, vm, term_of_rank(vm, rank), loss_s);
    fprintf(out, "\n%.0f %% of the time here is covered by none of these%s\n", 100 * vm->unexplained_share,
            vm->unexplained_share > 0 ? " and is taken to be the same in the guest"
                                      : ": less than nothing, so that some activities overlap in time");
    for (size_t i = 0; i < vm->n_missing; i++)
        fprintf(out, "%s: the program does this, and one of the files has no figure of it\n", vm->missing[i]);
    return text_finish(out, err);
}

static json_t *terms_json(const struct predict_vm *vm)
{
    json_t *rows = json_array();
    for (size_t rank = 0; rank < vm->n_terms; rank++) {
        const size_t i = term_of_rank(vm, rank);
        const struct atomic_term *term = &vm->term[i];
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:o}", "atom", vm->name[i], "count",
                                              json_number(term->count), "host_s",
                                              json_number(term->count * term->host.s), "vm_s",
                                              json_number(term->count * term->guest.s)));
    }
    return rows;
}

int predict_vm_json(FILE *out, const struct predict_vm *vm, struct err *err)
{
    json_t *missing = json_array();
    for (size_t i = 0; i < vm->n_missing; i++)
        json_array_append_new(missing, json_string(vm->missing[i]));
    return json_print(out,
                      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "schema",
                                "fstune/vm-prediction/1", "version", FSTUNE_VERSION, "host_s",
                                json_number(vm->time.s), "vm_s", json_number(vm->prediction.vm_s), "ci_low",
                                json_number(vm->prediction.interval.low), "ci_high",
                                json_number(vm->prediction.interval.high), "slowdown",
                                json_number(vm->prediction.vm_s / vm->time.s), "terms", terms_json(vm),
                                "unexplained_share", json_number(vm->unexplained_share), "missing", missing,
                                "activity", predict_vm_activity_json(vm), "runs", (int)vm->n_runs),
                      err);
}
