/*
 * selftest.h: the grader graded.
 *
 *   expectations.c  what each submission of the corpus says of itself
 *   patch.c         those that are patches on a solution
 *   messages.c      every sentence that names a mistake, and who must get it
 *   stamps.c        those that need not be judged again
 *   judging.c       several submissions at a time, a process for each
 *   corpus.c        all of them judged, and held against that
 *   mutants.c       the solution with one mistake, again and again: how many the cases find
 */
#ifndef GRADER_SELFTEST_H
#define GRADER_SELFTEST_H

#include "verdict/verdict.h"

#include <stdio.h>
#include <sys/types.h>

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
/** Copy the solution with its parts to the folder `root`. */
bool copy_solution(const options *, const exercise *, const char *root);
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

/** A process that judges one submission. */
typedef struct judging {
    void *what; /* the caller's */
    pid_t process;
    int status;            /* as of wait(); once it has ended */
    double began, seconds; /* when it began; how long it took */
    FILE *words;           /* what it prints */
    struct judging *next;
} judging;

/** The first that is run there. */
const grading_case *first_case(const exercise *, place);
/** How many are to be at work at a time. */
int judging_jobs(const options *);
/** Begin a process that ends with what `check` returns. */
void judging_begin(judging *, void *what, int (*check)(const void *), const void *context);
/** Wait for the next to end. */
judging *judging_wait(void);
/** Print what it printed, and forget that. */
void judging_show(judging *);

/** Does the grader say of a submission what its claim says? */
bool as_claimed(const claim *, const exercise_result *);
int corpus(const options *);
int mutants(const options *);

#endif
