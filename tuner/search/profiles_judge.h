/* tuner/search/profiles_judge: how sure the profiles and the front of the measured points are. */
#pragma once

struct tune;

/* Fills tune->profiles but for its points. Random numbers are drawn from a generator of its own, so that
 * asking for profiles changes no other draw. 0 or -ENOMEM. */
int profiles_judge(struct tune *tune);
