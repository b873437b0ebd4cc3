/* tuner/base/metrics_text: the parts of Prometheus' text format that do not depend on what is told. */
#pragma once

#include <stdio.h>

/* The two lines before the samples of a metric; type: "gauge" or "counter". help is one plain line. */
void metrics_text_head(FILE *out, const char *name, const char *type, const char *help);

/* A label's value, with \, " and newlines escaped; the quotes around it are the caller's. */
void metrics_text_value(FILE *out, const char *text);
