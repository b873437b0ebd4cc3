/* tuner/writes/report_calibrate: a calibration as a table and as JSON (fstune/calibration/1). */
#pragma once

#include "bench/base/err.h"
#include "tuner/writes/calibrate.h"

#include <stdio.h>

/* 0 or the errno of a failed write. */
int report_calibrate_text(FILE *out, const struct calibration *calibration, struct err *err);
int report_calibrate_json(FILE *out, const struct calibration *calibration, struct err *err);
