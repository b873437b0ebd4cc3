/* tuner/picture/page_fleet: what many hosts know, as one page of HTML that stands alone (fstune fleet report
 * --html): hosts and how old their last nights are, answers by kind of host, rules with their intervals,
 * drift. It has no script; head and style are those of tuner/picture/page. */
#pragma once

#include "bench/base/err.h"

#include <jansson.h>
#include <stdio.h>

/* Prints the page of a document of tuner/histories/fleet_report, whose texts are untrusted. 0; errors of
 * writing stay in the stream. */
int page_fleet_print(FILE *out, const json_t *document, struct err *err);
