/*
 * build.h: from one source to one library.
 *
 *   build.c      many at a time; unchanged ones are taken from the build folder
 *   compiling.h  what it is made of: command lines, headers, objects that are kept
 *   libraries.c  the reference solutions and baselines that exercises are linked and timed with
 *   prebuilt.c   these compiled, for a handout: the course without its solutions
 */
#ifndef GRADER_BUILD_H
#define GRADER_BUILD_H

#include "course/course.h"
#include "sandbox/sandbox.h"

/* ---- build.c --------------------------------------------------------------------------------- */

#define LIBRARIES_MAX 256

typedef struct build {
    const exercise *exercise;
    const char *root; /* folder that `file` is relative to */
    const char *file;
    const char *parts_root; /* folder of the exercise's parts; NULL: as root */
    place place;
    const struct build *needs[12]; /* libraries to link with, built before; NULL ends */
    bool own;                      /* of the submission: its folder may be another, and what it
                                      has for others to include is the student's */
    bool baseline;                 /* exports baseline_*, not the contract's names */
    bool prebuilt;                 /* not to be built: it lies in prebuilt/ */
    const char *processor;         /* to be handed out, for this one; NULL: for this machine */
    double hurry;                  /* of the usual deadline, where it will be waited for; 0: all */
    /* out */
    bool ok;
    double seconds;        /* of the compiler; 0: what it made was kept */
    char *log;             /* the compiler's words, "" when it had none */
    char key[HASH_HEX];    /* of everything that the library is made from */
    char source[HASH_HEX]; /* SHA-256 of the file and its parts; "" when they were not read */
    char library[PATH_MAX];
} build;

/** The libraries that one is linked with, whole. @return how many; the caller frees each */
int build_needs(const char *library, char *needs[LIBRARIES_MAX]);
/** Build all, several at a time. Entries whose `needs` failed are not ok. Unchanged ones are taken
 *  from the build folder. */
void build_all(const options *, build *builds[], int count);
/** What the compilers say of themselves. */
const char *toolchain(const options *);
#define LIBRARY_NAME 32
/** The name of the file that it becomes. */
const char *library_name(const build *, char name[LIBRARY_NAME]);

/* ---- libraries.c ----------------------------------------------------------------------------- */

/** Builds of the reference solutions that an exercise calls, and of its baseline; made on demand
 *  and kept. */
typedef struct library_set library_set;
/** @param processor NULL; or of libraries that are to be handed out */
library_set *library_set_create(const options *, const char *processor);
void library_set_free(library_set *);
/** Every build of the set; NULL ends the list. */
build *const *library_set_all(const library_set *);
/** Have the exercise's reference solution in the set. */
const build *library_set_reference(library_set *, const exercise *);
/** Fill in build.needs from the reference solutions. */
void library_set_needs(library_set *, build *);
const build *library_set_baseline(library_set *, const exercise *);
/** Build all of the set that is not built yet, and `more` with it. */
void library_set_build(library_set *, build *more[], int count);

/* ---- prebuilt.c ------------------------------------------------------------------------------ */

#define PREBUILT_WHY 512
/** Is this a handout: are there compiled libraries in place of the solutions? */
bool prebuilt_exists(const options *);
/** Can they be used here, and are they whole? Holds where there are none. @return false, and why */
bool prebuilt_check(const options *, char why[PREBUILT_WHY]);
/** Fill in what build_all() would, from prebuilt/. */
void prebuilt_take(const options *, build *);
/** Make the libraries of a handout in the folder --output. @return 0, or 2 after a message */
int prebuild(const options *);

/** Grade all that the options ask for. @return 0, or 2 when grading itself could not be done. */

#endif
