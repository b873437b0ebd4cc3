/* tuner/session/json_system: where and when something was measured, as JSON. As tuner/base/json. */
#ifndef FSTUNE_TUNER_SESSION_JSON_SYSTEM_H
#define FSTUNE_TUNER_SESSION_JSON_SYSTEM_H

#include "tuner/session/session.h"

#include <jansson.h>

json_t *json_system(const struct session *session);

#endif
