/*
 * selftest.h: the grader graded.
 *
 *   expectations.c  what each submission of the corpus says of itself
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
    char label[300];                          /* "wrong/103_accumulate.c" */
    char name[128], text[256], condition[64]; /* name: of the case, or the metric */
    char name_on_gpu[128];                    /* usually the same */
} claim;

/** What the corpus claims, sorted. @param bad how many files or folders claim nothing; they were
 *  named on stdout. @return the caller's, for claims_free */
claim *claims_read(const options *, int *count, int *bad);
void claims_free(claim *, int count);
/** Is grader/exercises/MANIFEST what these claims come to? */
bool manifest_is_current(const options *, const claim *, int count);
int manifest(const options *);
/** Does the grader say of a submission what its claim says? */
bool as_claimed(const claim *, const exercise_result *);
int corpus(const options *);

#endif
