/* SPDX-License-Identifier: Apache-2.0
 * Makes a model say its runs, one a line: each step (the model's STEPS), at which end, and what can be seen of both ends
 * behind it (its OBSERVE). With -DDEPTH all runs of so many steps; else one that leads to each transition of the model.
 * Lines that are the beginning of others are among them; `check` drops those.
 */
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
c_decl {
  static char told_steps[64][64]; /* of the run that is searched; not part of the state */
  static char told_names[64][32]; /* by mtype's numbers: the last is 1 */
}
byte steps; /* of this run: where its next one is kept */
byte who;
#ifdef DEPTH
byte before[DEPTH]; /* so that each run is a state of its own */
#define MAY (steps < DEPTH)
#define REMEMBER(e) before[steps] = did * 2 + e
#else
#define MAY 1
#define REMEMBER(e) skip
#endif

#define NAME_STEPS \
  c_code { \
    static char told_all[] = TEXT(STEPS); \
    char *told_name; \
    int told_number = 1, told_at; \
    for (told_at = 0; told_all[told_at]; told_at++) told_number += told_all[told_at] == ','; \
    for (told_name = strtok(told_all, ", "); told_name; told_name = strtok(NULL, ", ")) \
      strcpy(told_names[told_number--], told_name); \
  }

#define DID(e) \
  REMEMBER(e); \
  who = e; \
  c_code { \
    int told_step, told_length = sprintf(told_steps[now.steps], " %s.%d:", told_names[now.did], now.who); \
    sprintf(told_steps[now.steps] + told_length, OBSERVE); \
    fputs("RUN", stdout); \
    for (told_step = 0; told_step <= now.steps; told_step++) fputs(told_steps[told_step], stdout); \
    fputs("\n", stdout); \
  }; \
  who = 0; \
  steps++
