/*
 * verdict.h: verdicts, points, the record.
 *
 *   judge.c     one exercise: cases, speed or traffic, points
 *   score.c     verdicts to points
 *   checks.c    what softgpu says of an exercise that a GPU has judged
 *   results.c   verdicts to results.json
 *   schema.c    is this a results.json?
 *   verdicts.c  what an exercise of one was judged by, one verdict after the other
 *   sign.c      the instructor's signature under it
 *   verify.c    is it what a grader wrote, of this submission and this course?
 */
#ifndef GRADER_VERDICT_H
#define GRADER_VERDICT_H

#include "measure/measure.h"

/* ---- score.c, judge.c ------------------------------------------------------------------------ */

typedef struct exercise_result {
    const exercise *exercise;
    place place;
    status status;
    char *reason;              /* one line or the compiler's words; "" */
    char *warnings;            /* the compiler's, of a build that worked; "" */
    const char *prerequisites; /* "reference" or "own", "" where there are none */
    int case_count, speed_count, traffic_count;
    case_result *cases;
    speed_result *speeds;
    traffic_result *traffics;
    double points, max_points;
    bool broken;      /* a call was wrong while it was timed or counted */
    bool dead;        /* a deadline ended it */
    bool interrupted; /* a process was ended from outside: these are no verdicts */
} exercise_result;

/** Fill in status, points and max_points from the verdicts. */
void score(exercise_result *);
/** What one test earns, between 0 and 1. */
double speed_credit(const speed_result *);
double traffic_credit(const traffic_result *);

#define CALLS_MAX 16 /* of one exercise that are timed or counted */

typedef struct account_call {
    const char *function, *shape;
    double credit;
    bool plain; /* by its counts it saves nothing */
} account_call;

/** What became of the parts of an exercise, and of the calls that were timed or counted: all that
 *  its points depend on. Its strings are those that it was given. */
typedef struct account {
    const exercise *exercise;
    place where;
    int part_count, call_count;
    const char *names[PARTS_MAX];
    struct {
        bool passed, wrong, found;
    } parts[PARTS_MAX];
    account_call calls[CALLS_MAX];
} account;

account account_begin(const exercise *, place);
/** A case that was judged. @param part NULL: it is of all parts. @param status as in results.json
 */
void account_case(account *, const char *part, const char *status, bool found);
/** A test that was judged, after all cases. @param shape of its call, or NULL. @param reduction it
 *  counts how much less than the plain version the function needs */
void account_test(account *, const char *function, const char *shape, double credit,
                  bool reduction);
account account_of(const exercise_result *);
/** Is the part right, and nothing found in it? NULL, or no name of a part: of all parts. */
bool account_has(const account *, const char *part);
/** "passed", "failed", or "skipped": this place has no case of it. */
const char *account_part(const account *, int part);
int account_judged(const account *); /* parts */
bool account_passed(const account *);
double account_checks(const account *); /* points, of checks_points */
double account_points(const account *);
double account_most(const account *);

/** The part of the exercise's points that a run without findings is worth; 0 where nothing looks.
 */
double checks_points(const exercise *, place);
/** Would another grading give the same? Not where a timing was too noisy. */
bool is_settled(const exercise_result *);
/** FAILED: a case that had findings; NOT_RUN: not all cases passed; SKIPPED: nothing looks here. */
status checks_status(const exercise_result *);

typedef struct grading {
    const options *options;
    device_facts device;
    char commit[64], started[64];
    json_t *modified, *hashes; /* of the course: origin.c */
    double seconds, points, max_points;
    double bonus;      /* of challenges, which count in neither */
    json_t *exercises; /* what results.json says of each */
    bool complete;     /* all points that count were reached */
    bool interrupted;  /* something has no verdict, which another grading may give */
} grading;

/** Judge one exercise whose library is built: cases, then speed or traffic, then points. */
exercise_result judge(const options *, const build *, const build *baseline, const device_facts *);
void exercise_result_free(exercise_result *);
/** Enter the exercise's timings and counts, not run, or skipped where its place cannot judge them.
 */
void list_tests(exercise_result *);

/* ---- checks.c -------------------------------------------------------------------------------- */

/** Enter in a GPU's entry of results.json what one of softgpu has found and counted. */
void checks_take(json_t *entry, const exercise *, const json_t *on_softgpu);
/** What an entry's cases and tests amount to. */
account account_of_entry(const json_t *entry, const exercise *);

/* ---- results.c ------------------------------------------------------------------------------- */

json_t *results_exercise(const exercise_result *);
/** Of an exercise that was judged and has several: [{"name", "status"}, ...]; else []. */
json_t *parts_entry(const account *);
/** Write results.json whole or not at all. @return false after a message when it cannot. */
bool results_write(const grading *);
/** Write a results.json that says why there are none. */
void results_write_failure(const options *, const char *why);

/* ---- sign.c, verify.c ------------------------------------------------------------------------ */

typedef struct signing_key {
    unsigned char *bytes;
    size_t count;
    char id[9]; /* the first hexadecimal digits of its SHA-256 */
} signing_key;

/** Read a key. @return false after a message; key_free in any case. */
bool key_read(signing_key *, const char *path);
void key_free(signing_key *);
/** Add the field "signature". @return false when the results cannot be written down */
bool results_sign(json_t *results, const signing_key *);
/** @return what is wrong with the signature, in words, or NULL */
const char *signature_flaw(const json_t *results, const signing_key *);
/** What does not follow from the entries, in words, or NULL. */
const char *points_flaw(const json_t *results, char why[256]);
/** @return 0 when all that can be checked holds, 1 when something does not, 2 without results. */
int verify(const options *);

/* ---- schema.c -------------------------------------------------------------------------------- */

/** Does every field that views rely on exist and have its type? @param why says which has not */
bool results_are_valid(const json_t *results, char why[256]);

/* ---- verdicts.c ------------------------------------------------------------------------------ */

typedef struct verdict {
    const char *part; /* build, case, checks, speed, traffic */
    const char *name; /* of the case, or the metric; "" for builds */
    const char
        *status; /* as results.json has it: passed, failed, build_failed, too_noisy, skipped: ... */
    const char *words; /* why it failed or was skipped, or a note; "" */
    long long seed;    /* of a case; -1 elsewhere */
    double seconds;
    long line; /* of the exercise's file, where softgpu found something; 0: none is known */
} verdict;

typedef void verdict_function(const verdict *, void *context);

/** Call the function with every verdict of one exercise, in the order in which they were reached.
 *  The strings live as long as the call. */
void each_verdict(const json_t *exercise, verdict_function *, void *context);
bool is_passed(const verdict *);
bool is_failed(const verdict *);
bool is_noisy(const verdict *); /* a timing that could not decide; none of the three: not judged */
/** Has the exercise a timing that was too noisy? */
bool any_noisy(const json_t *exercise);
/** passed, failed, did not build, not handed in, not started, skipped */
const char *status_of(const json_t *exercise);
/** "2 of 3 parts", where the exercise has parts that passed and others; else "". */
const char *parts_words(const json_t *exercise, char words[32]);
/** How many cases passed, of all. */
void cases_of(const json_t *exercise, int *passed, int *all);
/** How the exercise did in one line of words: "passed 24/24, checks passed". */
void print_outcome(const json_t *exercise, char *line, size_t size);
/** Did softgpu find a race in the case? */
bool has_race(const json_t *one);
/** A command that repeats it, or "" for verdicts that have none. */
void repeat_command(const json_t *exercise, const verdict *, char *line, size_t size);

#endif
