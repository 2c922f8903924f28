/*
 * course.h: the request: its options, its exercises, and the machine.
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
    const char *shape;        /* of the case that grader run runs, or NULL: its own */
    const char *case_start;   /* only cases whose names begin so, or NULL */
    const char *metric_start; /* the same of timings and counts */
    const char *block;        /* "X,Y,Z", of grader see, or NULL: 0,0,0 */
    int warp;                 /* likewise */
    unsigned long long seed;
    bool seed_given;
    int phase; /* 0: all */
    bool all;  /* of next and watch: not only along the path */
    bool fresh, strict, own;
    bool without_checks;       /* on a GPU: not on softgpu too */
    bool beside_gpu;           /* softgpu's share of a GPU's grading: no exercise of the CPU */
    bool until_failed;         /* no case after one that failed, or in which something was found */
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
    int jobs;    /* submissions of the corpus, exercises of a grading at a time; 0: the usual */
    int rounds;  /* of a timing, at most; 0: as many as may decide it */
    void (*await_turn)(void); /* where several are judged at once, to be timed alone; or NULL */
    void (*end_turn)(void);   /* the timings are done; or NULL */
    backend backend;
    isolation_wish isolation; /* from the environment: ISOLATION=required, off */
    const char *root, *build; /* of the course; the build folder */
    const char *objects;      /* where the submission is built; NULL: there, and kept */
} options;

/** @return false after a message on stderr when the command line makes no sense. */
bool options_parse(options *, int argc, char **argv);
/** Has one of the exercises asked for the case asked for, if one is? @return false after a message
 */
bool options_case_exists(const options *);
/** Does the command line ask for this exercise? */
bool options_want(const options *, const exercise *);

/* ---- catalog.c ------------------------------------------------------------------------------- */

/** Every exercise, in the order of their numbers; NULL ends the list. */
const exercise *const *catalog(void);
const exercise *catalog_find(int id); /* NULL when there is none */
bool id_is_challenge(int id);
int id_phase(int id);
/** "206", "4b"; valid until the eighth call after it. */
const char *id_words(int id);
/** The number that a text begins with; 0: none. @param end if not NULL, what follows it */
int id_parse(const char *text, char **end);
/** As results.json has it: a number, or a challenge's name. */
json_t *id_json(int id);
/** The number of one of its entries; 0: none. */
int id_of(const json_t *entry);
/** @return file i of what a student writes for it: the source, then its parts; NULL after the last
 */
const char *exercise_file(const exercise *, int i);
/** Where a submission has such a file: in the folder of its exercise, else, where that has none,
 *  flat beside the folders of the phases. @return FILE, or what follows its folder */
const char *submitted_file(const char *submission, const char *file);
/** A file that lies in the folder of its phase, not in that of its exercise: nobody would grade it.
 *  @return where it belongs; NULL: there is none */
const char *misplaced_file(const char *submission);
/** Is that one of them? */
bool exercise_has_file(const exercise *, const char *file);
/** Enter its parts, if it has any. @param folder that their paths are relative to */
void hash_parts(hash *, const exercise *, const char *folder);
/** SHA-256 of all of them, in a submission; "" where the source is missing */
void exercise_hash(const exercise *, const char *submission, char hex[HASH_HEX]);
/** Take this one in place of the exercise with its number. */
void catalog_replace(const exercise *);
/** Is it a file of Python? By its name. */
bool is_python(const char *file);
/** Where the exercise's functions run: ON_HOST for C files, ON_PYTHON for Python that calls nothing
 *  of the course, else by the backend: Python calls libraries that run there. */
place exercise_place(const exercise *, backend);
/** Is the file exactly a skeleton that was once generated (skeletons.sha256)? */
bool file_is_skeleton(const options *, const char *path);
/** Are the submission's file and each of its parts? */
bool exercise_is_skeleton(const options *, const exercise *);

/* ---- parts.c --------------------------------------------------------------------------------- */

/** @return how many parts earn points one by one; 1 with the name NULL where it has none */
int parts_of(const exercise *, const char *names[PARTS_MAX]);
/** The part of case number i, or NULL. */
const char *part_of_case(const exercise *, int i);
/** Its number among them; -1: none of that name. With a single part always 0. */
int part_number(const exercise *, const char *name);

/* ---- misnamed.c ------------------------------------------------------------------------------ */

#define MISNAMED_WORDS 192
/** Of an exercise whose file is missing, or is its skeleton still: does another of the submission
 *  look like it? "209_Transpose.cu looks like 209_transpose.cu: not graded", or "". */
bool misnamed_file(const exercise *, const char *submission, char words[MISNAMED_WORDS]);

/* ---- metric.c -------------------------------------------------------------------------------- */

#define METRIC_MAX 192
/** "DRAM bytes / minimum, 256 × 192"; where the tests of the exercise are of several functions, the
 *  test's stands before it. Unique in its exercise. */
const char *metric_text(char text[METRIC_MAX], const exercise *, const char *function,
                        const metric *);
/** Does it begin so? The corpus names a test by the beginning of its sentence. */
bool metric_begins(const exercise *, const char *function, const metric *, const char *start);

/* ---- answers.c ------------------------------------------------------------------------------- */

#define ANSWER_MOST 512
/** What stands behind a key in an exercise's file of answers. @return NULL, or what is wrong: with
 *  the file, or that nothing stands there */
const char *answer_find(const exercise *, const char *folder, const char *key,
                        char value[ANSWER_MOST]);
/** The number of that name that a student has. @return false when the exercise has none */
bool draw_number(const exercise *, const char *name, const char *student, long *number);
/** Print the numbers of the student whose submission it is. */
int drawn(const options *);

/* ---- device.c -------------------------------------------------------------------------------- */

/** What a worker says of its device. Zeros and "softgpu" or the CPU's name where there is none. */
typedef struct device_facts {
    char name[128], driver[64], runtime[64];
    double copy_bytes_per_second;            /* measured, device to device, read + written */
    double flop_per_second[PRECISION_COUNT]; /* peaks: of an SM in a clock x SMs x clock; 0: not
                                                known */
    int capability;                          /* e.g. 90; 0 where there is no GPU */
    char pci[32];                            /* where the GPU is, for nvml.c; "" */
    double core_adds_per_second; /* of one core of the CPU, measured: each waits for the last */
} device_facts;

device_facts device_facts_read(const options *);
/** The interpreter: $PYTHON, or the system's, if it has NumPy; else NULL. */
const char *python(void);
/** Can exercises of this place run here? @return NULL, or what they need, e.g. "nvcc". */
const char *place_needs(const options *, place);
/** The same of one exercise. */
const char *exercise_needs(const options *, const exercise *, place);

/* ---- tensor_cores.c ---------------------------------------------------------------------------
 */

/** What the tensor cores of one SM do in a clock, with dense operands; 0: not known. */
double tensor_operations(int capability, precision);

/* ---- gpu.c ----------------------------------------------------------------------------------- */

#define GPU_JOBS 4 /* that one GPU is shared by: its memory has to do for all */

/** The UUID of the GPU that workers will use. @return false when there is none */
bool gpu_find(const options *, char uuid[64]);
/** How many GPUs a worker sees. */
int gpu_count(const options *);
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
