/* The picture of a prediction. */
#include "tuner/writes/report_prediction.h"

#include "bench/base/units.h"
#include "tuner/picture/plot_deliver.h"

#include <stdio.h>
#include <string.h>

/* Shares the prediction's arrays. */
static void describe_prediction(const struct predict *predict, struct plot_data *data)
{
    const struct host_file *host = &predict->host;
    const double share = cawl_limit_share(&predict->options);
    struct plot_writes *writes = &data->writes;
    char sizes[REPORT_PREDICTION_SIZES], total[UNITS_TEXT_SIZE];
    *data = (struct plot_data){.source = PLOT_PREDICTION};
    writes->prediction = predict->prediction;
    writes->naive_s = predict->mode == CAWL_NAIVE ? 0 : predict->naive_total_s / (double)predict->load.n;
    writes->limit_bg_bytes = share * host->host.limit_bg_bytes;
    writes->limit_hard_bytes = share * host->host.limit_hard_bytes;
    snprintf(writes->mode, sizeof writes->mode, "%s", cawl_mode_names[predict->mode]);
    snprintf(writes->load, sizeof writes->load, "%zu write%s of %s, %s in all%s", predict->load.n,
             predict->load.n == 1 ? "" : "s", report_prediction_sizes(predict, sizes),
             units_format_bytes(predict->load.total_bytes, total),
             predict->extended ? ", extended model" : "");
    snprintf(data->place, sizeof data->place, "%.60s%s%.60s%s%.60s", host->file_system,
             host->hostname[0] != '\0' ? " of " : "", host->hostname, host->date[0] != '\0' ? ", " : "",
             host->date);
}

static int write_predict_script(FILE *script, const struct plot_request *request, const void *predict,
                                struct err *err)
{
    struct plot_data data;
    describe_prediction(predict, &data);
    return plot_prediction.draw(request, &data, script, err);
}

int report_prediction_plot(const struct predict *predict, struct err *err)
{
    const char *name = predict->settings->prediction.picture;
    return plot_deliver_drawn(&predict->settings->plot, strcmp(name, "-") == 0 ? "" : name,
                              write_predict_script, predict, err);
}
