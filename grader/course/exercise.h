/*
 * exercise.h: the description of an exercise: what it is called, which functions it must define,
 * the cases that check it and the tests that time or count it.
 */
#ifndef GRADER_EXERCISE_H
#define GRADER_EXERCISE_H

#include "supervisor.h"
#include <stdbool.h>
#include <stddef.h>

/** Where a case or a timing runs: a set of these. 0 means everywhere. */
typedef enum place {
    ON_HOST = 1,    /* phase 1: C on the CPU */
    ON_SOFTGPU = 2, /* CUDA exercises without a GPU */
    ON_GPU = 4,
    ON_PYTHON = 8, /* Python with NumPy that calls no CUDA, on the CPU too */
    ON_CPU = ON_HOST | ON_PYTHON,
} place;

#define SHAPE_MAX        9
#define PARTS_MAX        12 /* that earn points one by one */
#define WALL_CLOCK_CORES 4

typedef struct grading_case {
    const char *name;               /**< unique in its exercise; what `make check CASE=` takes */
    void (*run)(const long *shape); /**< builds, calls, judges */
    long shape[SHAPE_MAX];          /**< handed to run */
    unsigned where;                 /**< set of place; 0: everywhere */
    bool once;                      /**< long runs only: one seed, one address */
    double seconds;                 /**< deadline of one call; 0: 10 s */
    int line;                       /**< of the file of hidden cases (hidden.c); 0: public */
    long most[SHAPE_MAX]; /**< not 0: this size is drawn, from that of the shape up to this one */
    const char *part; /**< what earns a share of the points by this case and those that follow, up
                         to the next that names one: a function, as a rule. The cases before the
                           first are of the first function; without any name the whole is one */
} grading_case;

/** What a timed function computes in: which ceiling of arithmetic is its own. IN_HALF: fp16, bf16
 */
typedef enum precision { IN_FP32, IN_TF32, IN_HALF, IN_INT8, PRECISION_COUNT } precision;

/** The least that the task can do with: what 1 means, relative to it. */
#define MINIMUM "minimum"

/** What a test's number is, as data: nothing is decided by reading the sentence that metric_text
 *  (metric.c) makes of it. A field that does not apply is NULL. */
typedef struct metric {
    const char *quantity;    /**< e.g. "DRAM bytes", "bank conflicts", "speedup" */
    const char *per;         /**< divided by how many of these there are, e.g. "warp FMA" */
    const char *relative_to; /**< divided by this, e.g. MINIMUM, "device copy" */
    const char *over;  /**< how many times better than this, e.g. "104", "the untiled kernel" */
    const char *shape; /**< of the call, e.g. "40 × 4000 × 4000" */
} metric;

/** Times one function against a frozen baseline (baseline.c or .cu beside the cases) in pairs. Work
 *  must be proportional to shape[varied]: each pair gets a secret one, up to a 16th smaller. */
typedef struct speed_test {
    const char *function; /**< the student's */
    metric metric;        /**< what the ratio is */
    const char *baseline; /**< a function of the exercise's baseline file */
    void (*run)(const char *function,
                const long *shape); /**< fresh inputs, ONE timed call, judge */
    long shape[SHAPE_MAX];
    int varied;      /**< which number of the shape each pair changes */
    bool from_idle;  /**< the device has nothing to do when the call begins: the time has the host's
                          way to it, too, and not only the kernels */
    unsigned where;  /**< ON_HOST, ON_PYTHON or ON_GPU */
    bool wall_clock; /**< on the CPU: the time is the wall clock's, so that threads gain something;
                        a call is given WALL_CLOCK_CORES of them, and joins those that it starts */
    double threshold; /**< full points when the student's rate is this many baseline rates */
    double begin;     /**< no points up to here: the plain version's ratio; 0: the baseline is the
                           plain version, 1 */
    double work, baseline_work; /**< of one call, for the rates; 0, 0 means equal work */
    double flop, bytes; /**< of the student's call: held against the device's ceiling; 0: not */
    precision precision;
    int capability; /**< of GPUs, e.g. 90, to which the threshold belongs: not judged on others; 0:
                         of all */
    /** The baseline's known rate: this share of the device's copy bandwidth for so many bytes, or,
     *  without bytes, of its arithmetic for `flop` (on the CPU: of additions that wait for each
     *  other). Below 30 % of it nothing can be concluded. 0: not known */
    double peer_share, peer_bytes;
} speed_test;

/** How a count is held against what is wanted. */
typedef enum bound { AT_LEAST, AT_MOST, EXACTLY } bound;

/** Counts what one call of a function costs on softgpu, where its time means nothing. With a
 *  baseline, the number is how many times less than the baseline the function needs; without one it
 *  is the count itself, over `ideal` if there is one. */
typedef struct traffic_test {
    const char *function; /**< the student's */
    metric metric;        /**< what the number is */
    const char *baseline; /**< a function of the exercise's baseline file, or NULL */
    void (*run)(const char *function,
                const long *shape); /**< fresh inputs, ONE counted call, judge */
    long shape[SHAPE_MAX];
    int varied; /**< of a test with a baseline: index of the size that is secretly another one */
    double (*count)(const device_counts *); /**< one of those below */
    double ideal;                           /**< the least that the call could do with; 0: as 1 */
    bound bound;
    double wanted; /**< full points from here on */
    double begin;  /**< what the plain version comes to, which earns none; 0: of a reduction 1, of
                        other numbers none but the wanted one earns */
    double least;  /**< a number below it is impossible; 0: of bytes moved, traffic.c knows it */
    double multiplications; /**< of the task, which tensor instructions are to make: with more than
                               a third outside of them those are for show; 0: any */
    bool no_kernels; /**< what is counted is memory alone; else a call without a kernel fails */
    bool by_any_compiler; /**< of an exercise with softgpu_90: nothing of sm_90a takes these sizes,
                             so that it is judged without nvcc, too */
} traffic_test;

/** A number that each student has another of, between low and high. */
typedef struct drawn_number {
    const char *name;
    long low, high;
    long step; /**< low, low + step, ... up to high; at least 1 */
} drawn_number;

/** What a contract says of a function besides its results: of the runtime's calls that it makes
 *  (correctness/promises.c), and of those that fail (correctness/failures.c). */
enum {
    WAITS_FOR_NOTHING = 1,
    WAITS_TO_FREE = 2, /**< ... unless memory must go back to the device */
    HAS_WAITED = 4,    /**< when it returns, what it has started is over */
    ALLOCATES_NOTHING = 8,
    ALLOCATES_ON_ITS_STREAM = 16, /**< memory of the device, where it needs any */
    COPIES_NOTHING = 32,          /**< between host and device */
    MAY_KEEP = 64,                /**< after a call of the runtime that fails, what it has made */
    MAY_FAIL_ANYHOW = 128,        /**< nothing is said of such calls */
    ENDS_WITH_ERRORS = 256,       /**< after an error nothing can be called */
    KEEPS_DEVICE = 512,           /**< the current device, after an error too */
    LEAVES_ITS_COPY = 1024,       /**< it does not wait for what it has started */
    NEVER_LEGACY = 2048,          /**< uses no default stream */
    WAITS_FOR_ALL = 4096          /**< what other calls have started on any stream is over, too */
};

/** Functions without a row that are given a stream wait for nothing, in phases 2 to 4. */
typedef struct promise {
    const char *function;
    unsigned what;
    unsigned launches; /**< at most, of kernels and graphs; 0: any number */
} promise;

/** A challenge is no part of the course: its name has a phase and a letter, as 4b, and its points
 * are a bonus beyond the total. Its number comes after all others. */
#define CHALLENGE(phase, letter) (1000 + 100 * (phase) + (letter) - 'a')

typedef struct exercise {
    int id;                  /**< e.g. 206, or CHALLENGE(4, 'b') */
    bool core;               /**< on the path: what make next leads through, in the order of their
                                  numbers; what it calls is on it too */
    const char *name;        /**< e.g. "matmul_naive" */
    const char *file;        /**< path in the submission, e.g. "phase2_cuda_basics/206_..." */
    const char *parts[12];   /**< further files beside it, which it includes; NULL ends it */
    const char *includes[4]; /**< parts of prerequisites that its file includes too, as "../" and
                                  this path; NULL ends it */
    const char *answers[24]; /**< keys of the part that ends in .answers; NULL ends the list */
    const drawn_number
        *drawn; /**< for the `student` of that part; ends with a NULL name; or NULL */
    const char *functions[24]; /**< contract names that the file exports; NULL ends the list */
    int prerequisites[12];     /**< exercises that this one calls; 0 ends the list */
    promise promises[12];      /**< a row without a function ends them */
    bool host_copies;          /**< its calls may take data to the host and bring it back */
    bool cublas;               /**< it may call cuBLAS, with which no other is linked */
    int devices;               /**< that its calls use; 0: one. With fewer GPUs it is skipped */
    int more_devices;          /**< that they use where there are so many, as on softgpu; 0: no
                                    more */
    bool exponentials;         /**< it has exp or log: a mistake may be one with them */
    bool masks;                /**< what is masked or ignored becomes 0 */
    bool sm_90a;               /**< compiled for it where the GPU has it; what uses it is guarded,
                                    so that other GPUs have another path */
    bool softgpu_90;           /**< softgpu has what it uses of compute capability 9.0, and so is
                                    compiled for it: clusters by any compiler, what is of sm_90a by
                                    nvcc; traffic tests of that are judged where there is one */
    bool own_prerequisites;    /**< link those of the student's own that passed */
    const char *baseline_file; /**< e.g. "grader/exercises/206_matmul_naive/baseline.cu", or NULL */
    double points, speed_points; /**< for correctness; for speed, or traffic on softgpu */
    const char *see; /**< the case that shows the point of its kernels; NULL: a small one */
    const grading_case *cases;   /**< ends with a row whose name is NULL */
    const speed_test *speed;     /**< ends with a row whose function is NULL; NULL for none */
    const traffic_test *traffic; /**< likewise */
} exercise;

/** Define an exercise and enter it into the catalog: its address goes into a section of the program
 *  that catalog.c reads. */
#define EXERCISE(number)                                                                           \
    static const exercise exercise_##number;                                                       \
    static const exercise *const catalog_entry __attribute__((section("exercises"), used)) =       \
        &exercise_##number;                                                                        \
    static const exercise exercise_##number

#endif
