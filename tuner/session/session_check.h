/* tuner/session/session_check: refuses settings that exclude each other. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

/* 0 or -EINVAL, with what to do instead. Opens and reads nothing. */
int session_check(const struct settings *settings, struct err *err);
