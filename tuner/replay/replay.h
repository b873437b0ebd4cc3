/* tuner/replay/replay: a load made again on the session's own file, and what it was then. */
#pragma once

#include "tuner/profile/record.h"
#include "tuner/replay/load_list.h"
#include "tuner/session/session.h"

struct replayed {
    const struct load_list *list;
    struct recording recording; /* of the replay; record_close */
    bool timed;
    size_t n_made;
    bool interrupted;
    json_t *profile; /* of the replay, with the member `replay`; owned */
    bool is_alike;
};

/* The session is prepared. 0, also where a signal ended it; or a negative errno. */
int replay_run_load(struct replayed *replayed, struct session *session, struct err *err);
/* Makes `profile`. 0 or -ENOMEM. */
int replay_compare(struct replayed *replayed, struct err *err);
int replay_print(FILE *out, const struct replayed *replayed, struct err *err);
void replay_close(struct replayed *replayed);
