/*
 * selftest.h: the grader graded.
 *
 *   expectations.c  what each submission of the corpus says of itself
 *   patch.c         those that are patches on a solution
 *   messages.c      every sentence that names a mistake, and who must get it
 *   stamps.c        those that need not be judged again
 *   corpus.c        all of them judged, and held against that
 */
#ifndef GRADER_SELFTEST_H
#define GRADER_SELFTEST_H

#include "verdict/verdict.h"

typedef enum claim_kind {
    CLAIM_WRONG,
    CLAIM_RIGHT,
    CLAIM_SLOW,
    CLAIM_FAST,
    CLAIM_HOSTILE
} claim_kind;

typedef struct claim {
    claim_kind kind;
    enum { IN_CASE, IN_METRIC, IN_BUILD } part;
    const exercise *exercise;
    char *root, *file;                        /* of the submission; the file relative to the root */
    char *parts_root;                         /* of the parts that the file includes; or NULL */
    char *patch;                              /* that makes the files of root; or NULL */
    char label[300];                          /* "103_matmul_cpu/wrong/accumulate.patch" */
    char name[128], text[256], condition[64]; /* name: of the case, or the metric */
    char name_on_gpu[128];                    /* usually the same */
} claim;

/** What the corpus claims, sorted. @param bad how many files or folders claim nothing; they were
 *  named on stdout. @return the caller's, for claims_free */
claim *claims_read(const options *, int *count, int *bad);
void claims_free(claim *, int count);

bool is_patch(const char *name);
/** The claim is of this patch: where its files will be. */
void patch_open(const options *, claim *, const char *path);
/** Make the files of a claim that is a patch. @return false after a message */
bool patch_apply(const options *, const claim *);

/** A sentence that names a mistake, and a submission that must get it; "" where there is none. */
typedef struct message {
    const char *from; /* pattern, finding or formula */
    char words[256], example[128];
} message;

/** All of them; the last has no `from`. */
const message *messages_list(const options *);
int messages(const options *);

/** The hash of all that judges, but an exercise's own cases. */
void stamps_begin(const options *, const device_facts *, char judges[HASH_HEX]);
/** The key of a claim's verdict. @return false where it cannot be known */
bool stamp_of(const options *, const char *judges, const claim *, const build *,
              const build *baseline, char key[HASH_HEX]);
bool stamp_exists(const options *, const char *key);
void stamp_put(const options *, const char *key, const claim *);

/** Does the grader say of a submission what its claim says? */
bool as_claimed(const claim *, const exercise_result *);
int corpus(const options *);

#endif
