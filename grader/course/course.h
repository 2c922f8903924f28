/*
 * course.h: what is asked, of which exercises, and on what machine.
 */
#ifndef GRADER_COURSE_H
#define GRADER_COURSE_H

#include "base/base.h"
#include "course/exercise.h"

/* ---- options.c ------------------------------------------------------------------------------- */

typedef enum backend { BACKEND_CPU, BACKEND_CUDA } backend;
/** What to do where a layer of isolation is missing: warn, refuse, or want none of them. */
typedef enum isolation_wish { ISOLATION_BEST, ISOLATION_REQUIRED, ISOLATION_OFF } isolation_wish;

typedef struct options {
    const char *command;      /* grade, build, hint, ... */
    const char *submission;   /* folder that is graded */
    const char *results;      /* file that is written */
    const char *exercises;    /* "206 211", or NULL for all */
    const char *case_name;    /* only this case, or NULL */
    const char *case_start;   /* only cases whose names begin so, or NULL */
    const char *metric_start; /* the same of timings and counts */
    unsigned long long seed;
    bool seed_given;
    int phase; /* 0: all */
    bool fresh, strict, own;
    const char *history;       /* file with one verdict a line, or NULL */
    const char *class_results; /* what a class has, for compare, or NULL */
    const char *hidden;        /* the instructor's private file, or NULL */
    bool reveal;               /* show what it hides */
    /* of grader report */
    const char *format;                    /* of views/views.c */
    const char *output;                    /* file, or NULL: standard output */
    const char *visibility;                /* of Gradescope's tests, or NULL */
    const char *key;                       /* file with the instructor's, or NULL */
    bool submission_given, allow_unsigned; /* of grader verify */
    double slow; /* 0, or: deadlines times this, no timing; above 1: under a checker */
    int jobs;    /* of the corpus at a time; 0: as many as processors */
    backend backend;
    isolation_wish isolation; /* from the environment: ISOLATION=required, off */
    const char *root, *build; /* of the course; the build folder */
} options;

/** @return false after a message on stderr when the command line makes no sense. */
bool options_parse(options *, int argc, char **argv);
/** Does the command line ask for this exercise? */
bool options_want(const options *, const exercise *);

/* ---- catalog.c ------------------------------------------------------------------------------- */

/** Every exercise, in the order of their numbers; NULL ends the list. */
const exercise *const *catalog(void);
const exercise *catalog_find(int id); /* NULL when there is none */
/** @return file i of what a student writes for it: the source, then its parts; NULL after the last
 */
const char *exercise_file(const exercise *, int i);
/** Enter its parts, if it has any. @param folder that their paths are relative to */
void hash_parts(hash *, const exercise *, const char *folder);
/** SHA-256 of all of them, in a submission; "" where the source is missing */
void exercise_hash(const exercise *, const char *submission, char hex[HASH_HEX]);
/** Take this one in place of the exercise with its number. */
void catalog_replace(const exercise *);
/** Where the exercise's functions run: ON_HOST for C files, else by the backend. */
place exercise_place(const exercise *, backend);
/** Print the files of the exercises that were asked for, and of all that they call (needs.c). */
int needs(const options *);
/** Is the submission's file, and each of its parts, exactly a skeleton that was once generated
 *  (skeletons.sha256)? */
bool exercise_is_skeleton(const options *, const exercise *);

/* ---- device.c -------------------------------------------------------------------------------- */

/** What a worker says of its device. Zeros and "softgpu" or the CPU's name where there is none. */
typedef struct device_facts {
    char name[128], driver[64], runtime[64];
    double copy_bytes_per_second; /* measured, device to device, read + written */
    double flop_per_second;       /* fp32 peak: cores x 2 x clock */
    char pci[32];                 /* where the GPU is, for nvml.c; "" */
    double core_adds_per_second;  /* of one core of the CPU, measured: each waits for the last */
} device_facts;

device_facts device_facts_read(const options *);
/** Can exercises of this place run here? @return NULL, or what they need, e.g. "nvcc". */
const char *place_needs(const options *, place);

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/** The UUID of the GPU that workers will use. @return false when there is none */
bool gpu_find(const options *, char uuid[64]);
/** Wait until no other grader holds this GPU. @return a descriptor, to be closed to let go of it;
 *  -1 after a message when it cannot be locked */
int gpu_lock(const char *folder, const char *uuid);
/** Both, in the folder that all graders of this machine use; -1 where there is no GPU to take. */
int gpu_take(const options *);

/* ---- origin.c -------------------------------------------------------------------------------- */

void origin_commit(const options *, char commit[64]);
/** Names and contents of the folder's files that match. @return how many there are */
size_t hash_files(hash *, const char *folder, const char *pattern);
/** Do the course's own files differ from the commit? null: nobody knows. */
json_t *origin_modified(const options *);
/** {"cases": SHA-256, ...}; null where this copy of the course has no such files. */
json_t *origin_hashes(const options *);
/** SHA-256 of an exercise's files in a submission, or null when there are none. */
json_t *origin_file_hash(const char *submission, const exercise *);

#endif
