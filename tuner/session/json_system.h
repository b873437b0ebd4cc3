/* tuner/session/json_system: where and when something was measured, as JSON. As tuner/base/json. */
#pragma once

#include "tuner/session/session.h"

#include <jansson.h>

json_t *json_system(const struct session *session);
