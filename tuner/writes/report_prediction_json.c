/* A prediction as one JSON document. */
#include "tuner/base/json.h"
#include "tuner/writes/extensions.h"
#include "tuner/writes/report_prediction.h"

#include <errno.h>
#include <string.h>

json_t *report_prediction_states(const struct cawl_prediction *prediction)
{
    json_t *array = json_array();
    for (size_t i = 0; i < prediction->n_changes; i++) {
        const struct cawl_change *change = &prediction->changes[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:I, s:I}", "state", cawl_run_names[change->run],
                                               "from_s", json_number(change->at_s), "from_bytes",
                                               (json_int_t)change->written_bytes, "chunk",
                                               (json_int_t)change->chunk));
    }
    return array;
}

json_t *report_prediction_host(const struct host_file *file, const char *path)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file", json_text(path), "hostname",
                               json_text(file->hostname), "path", json_text(file->path), "file_system",
                               json_text(file->file_system), "kernel", json_text(file->kernel), "date",
                               json_text(file->date));
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        json_object_set_new(object, host_parameters[i].name,
                            json_number(*(const double *)(const void *)((const char *)&file->host +
                                                                        host_parameters[i].offset)));
    return object;
}

static json_t *load_to_json(const struct predict *predict)
{
    const struct settings_prediction *asked = &predict->settings->prediction;
    json_t *object =
        json_pack("{s:I, s:I, s:I}", "writes", (json_int_t)predict->load.n, "bytes",
                  (json_int_t)predict->load.total_bytes, "files", (json_int_t)predict->load.n_files);
    if (asked->trace[0] != '\0') {
        json_object_set_new(object, "trace", json_text(asked->trace));
        return object;
    }
    json_object_set_new(object, "pattern", json_string(asked->random ? "randwrite" : "write"));
    json_object_set_new(object, "request_size", json_integer((json_int_t)asked->request_size_bytes));
    json_object_set_new(object, "delay_s", json_number((double)asked->delay_ns / 1e9));
    json_object_set_new(object, "rewrite_share", json_number(asked->rewrite_share));
    if (asked->random)
        json_object_set_new(object, "seed", json_integer((json_int_t)predict->seed));
    return object;
}

static json_t *document(const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    const double share = cawl_limit_share(&predict->options);
    json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "schema", "fstune/write-prediction/1",
                               "version", FSTUNE_VERSION, "mode", cawl_mode_names[predict->mode], "total_s",
                               json_number(prediction->total_s), "naive_total_s",
                               json_number(predict->naive_total_s), "plain_total_s",
                               json_number(predict->extended ? predict->plain_total_s : prediction->total_s));
    json_object_set_new(object, "close_s", json_number(prediction->close_s));
    json_object_set_new(object, "dirty_peak_bytes", json_number(predict_dirty_peak(prediction)));
    json_object_set_new(object, "dirty_left_bytes", json_number(prediction->left_bytes));
    json_object_set_new(object, "limits",
                        json_pack("{s:o, s:o}", "background_bytes",
                                  json_number(share * predict->host.host.limit_bg_bytes), "hard_bytes",
                                  json_number(share * predict->host.host.limit_hard_bytes)));
    json_object_set_new(object, "load", load_to_json(predict));
    json_object_set_new(object, "extensions", extensions_json(&predict->options));
    json_object_set_new(object, "host",
                        report_prediction_host(&predict->host, predict->settings->prediction.host));
    json_object_set_new(object, "states", report_prediction_states(prediction));
    if (json_object_set_new(object, "costs_s", json_numbers(prediction->costs_s, prediction->n)) < 0 ||
        json_object_set_new(object, "end_s", json_numbers(prediction->end_s, prediction->n)) < 0 ||
        json_object_set_new(object, "dirty_bytes", json_numbers(prediction->dirty_bytes, prediction->n)) <
            0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int report_prediction_json(FILE *out, const struct predict *predict, struct err *err)
{
    json_t *object = document(predict);
    if (object == NULL)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    /* Without indentation, which would give each of a million costs a line. */
    int result = json_dumpf(object, out, JSON_REAL_PRECISION(10));
    json_decref(object);
    if (result != 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return err_sys(err, errno != 0 ? -errno : -EIO, "cannot write the result to standard output");
    return 0;
}
