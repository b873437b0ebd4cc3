/* tuner/session/session_target: the work of session_prepare that may block. */
#pragma once

/* For a worker (tuner/base/worker): makes and fills the target of the session, or takes the user's, and
 * proves direct I/O. 0 or a negative errno, with words in job.err. */
int session_target_open(void *session);
