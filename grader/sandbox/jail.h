/* jail.h: between jail.c, mounts.c and landlock.c, which jail a program together. */
#ifndef GRADER_JAIL_H
#define GRADER_JAIL_H

#include "sandbox.h"

typedef struct words {
    char **at; /* NULL-ended */
    size_t count;
} words;

void words_add(words *, const char *word);
void words_add_all(words *, const char *const list[]);
void words_free(words *);

#define VIEW_SCRATCH                                                                               \
    "/tmp" /* in a mount namespace: the folder to write into, where a plan has none */

/** What the program sees, as arguments of bwrap. */
void view_write(words *, const plan *);
/** From here on this process and its children see no more than that, and write into `folder`.
 *  @return false where the kernel has no Landlock */
bool landlock_enter(const words *view, const char *folder);

#endif
