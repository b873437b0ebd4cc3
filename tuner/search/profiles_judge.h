/* tuner/search/profiles_judge: how sure the profiles and the front of the measured points are. */
#ifndef FSTUNE_TUNER_SEARCH_PROFILES_JUDGE_H
#define FSTUNE_TUNER_SEARCH_PROFILES_JUDGE_H

struct tune;

/* Fills tune->profiles but for its points. Random numbers are drawn from a generator of its own, so that
 * asking for profiles changes no other draw. 0 or -ENOMEM. */
int profiles_judge(struct tune *tune);

#endif
