/* tuner/session/members_report: what several targets reach together and each alone, as text and as JSON. */
#pragma once

#include "tuner/session/members_study.h"

#include <jansson.h>
#include <stdio.h>

#define MEMBERS_REPORT_SIZE 4096

/* Adds the members "members", a list, and "members_together"; nothing where there is one target. */
void members_report_json(json_t *object, const struct members_study *study);

/* A line for each member; and after these one about all. */
void members_report_rows(FILE *out, const struct members_study *study);
void members_report_text(FILE *out, const struct members_study *study);

/* "together 100 MB/s, 50 % of the sum of each alone (20 blocks, 95 % interval ...): they share ...". */
const char *members_report_verdict(const struct members_study *study, char text[MEMBERS_REPORT_SIZE]);
