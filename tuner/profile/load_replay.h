/* tuner/profile/load_replay: a load made again on the session's own file, and what it was then. */
#pragma once

#include "tuner/profile/load_list.h"
#include "tuner/profile/record.h"
#include "tuner/session/session.h"

struct load_replay {
    const struct load_list *list;
    struct recording recording; /* of the replay; record_close */
    bool timed;
    size_t n_made;
    bool interrupted;
    json_t *profile; /* of the replay, with the member `replay`; owned */
    bool is_alike;
};

/* The session is prepared. 0, also where a signal ended it; or a negative errno. */
int load_replay_run(struct load_replay *replayed, struct session *session, struct err *err);
/* Makes `profile`. 0 or -ENOMEM. */
int load_replay_compare(struct load_replay *replayed, struct err *err);
int load_replay_print(FILE *out, const struct load_replay *replayed, struct err *err);
void load_replay_close(struct load_replay *replayed);
