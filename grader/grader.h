/*
 * grader.h: the trusted side, in one index. Everything here runs in the grader's own process, which
 * never holds a line of the student's code; that lives in workers (worker/) behind protocol.h.
 *
 * A submission flows through the files in this order:
 *
 *   options.c    what was asked for
 *   catalog.c    which exercises there are (needs.c: their files, with those that they call)
 *   sandbox.c    which layers of isolation there are; jail.c starts programs behind them
 *                (view.c: what these see, landlock.c: the same without namespaces)
 *   compiler.c   the command lines of the compilers, and what these see
 *   build.c      source file -> shared library, many at a time (hash.c, process.c)
 *   usage.c      who had the cores
 *   channel.c    a worker process: start, send, receive, stop
 *   softdevice.c softgpu's device, in a process beside the worker
 *   threads.c    what runs in it beyond the one thread that it is
 *   argument.c   what a call is given
 *   call.c       one call into it: lay out buffers, run, check canaries and inputs
 *   account.c    what softgpu's device says of the call
 *   inputs.c     what the calls are fed with
 *   parallel.c   large arrays on all cores
 *   compare.c    what came back against what should have
 *   pattern/     names the likely mistake (pattern.h is its index)
 *   reference.c  what should have, in double
 *   run.c        the cases of one exercise as a Check suite
 *   hidden.c     an instructor's private file: the seed of a class, and cases that nobody sees
 *   speed.c      the timed pairs of one exercise
 *   speed_rules.c  what those times mean (statistics.c: medians and their intervals)
 *   nvml.c       clocks, temperature and throttling of a GPU
 *   counts.c     what softgpu's counters of a call come to
 *   traffic.c    the counted calls of one exercise
 *   judge.c      one exercise: cases, speed or traffic, points
 *   libraries.c  the reference solutions and baselines that exercises are linked and timed with
 *   prebuilt.c   these compiled, for a handout: the course without its solutions
 *   grade.c      a whole submission (cache.c remembers unchanged exercises)
 *   device.c     what machine this is
 *   gpu.c        who may measure on a GPU now
 *   score.c      verdicts -> points
 *   origin.c     commit and hashes of what a verdict was made of
 *   results.c    verdicts -> results.json
 *   sign.c       the instructor's signature under it
 *   verify.c     is a results.json what a grader wrote, of this submission and this course?
 *   report.c     results -> the table on the terminal
 *   claims.c     what each submission of the corpus says of itself
 *   patch.c      those that are patches on a solution
 *   messages.c   every sentence that names a mistake, and who must get it
 *   corpus.c     the grader graded: submissions with known verdicts
 *   hint.c       the next hint of an exercise's page
 *   views/       results.json in the formats of others (views.h is their index)
 *   loop/        a student's loop: history, progress, comparison, watching (loop.h)
 *   class/       many submissions, a program of its own (class.h is its index)
 */
#ifndef GRADER_GRADER_H
#define GRADER_GRADER_H

#include "correctness/case.h"
#include "remote/remote.h"
#include "call/timing.h"
#include <jansson.h>
#include <limits.h>
#include <sys/types.h>

/* ---- options.c ------------------------------------------------------------------------------- */

typedef enum backend { BACKEND_CPU, BACKEND_CUDA } backend;
/** What to do where a layer of isolation is missing: warn, refuse, or want none of them. */
typedef enum isolation_wish { ISOLATION_BEST, ISOLATION_REQUIRED, ISOLATION_OFF } isolation_wish;

typedef struct options {
    const char *command;    /* grade, build, hint, ... */
    const char *submission; /* folder that is graded */
    const char *results;    /* file that is written */
    const char *exercises;  /* "206 211", or NULL for all */
    const char *case_name;  /* only this case, or NULL */
    const char *case_start; /* only cases whose names begin so, or NULL */
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

/* ---- hash.c ---------------------------------------------------------------------------------- */

#define HASH_HEX 65 /* 64 hexadecimal digits and the end */

typedef struct hash hash;
hash *hash_begin(void);
void hash_text(hash *, const char *text);
/** @return false when it is no file or cannot be read; it then counts as empty */
bool hash_file(hash *, const char *path);
void hash_end(hash *, char hex[HASH_HEX]); /* frees */

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
/** Print the files of the exercises that were asked for, and of all that they call. */
int needs(const options *);

/* ---- process.c ------------------------------------------------------------------------------- */

typedef struct process_result {
    int status; /* exit status, 128 + signal, or -1 when it could not be started */
    bool timed_out;
    char *output; /* stdout and stderr, ended by 0; the caller frees */
} process_result;

/** Run a program to its end, or to the deadline, and keep the first `limit` bytes it prints. */
process_result process_run(const char *const argv[], const char *directory, double deadline,
                           size_t limit);

/* ---- sandbox.c, jail.c ------------------------------------------------------------------------
 */

/** What stands between a submission and the rest of the machine. */
typedef struct layers {
    bool namespaces;  /* mounts, processes, network of its own */
    bool files;       /* it reaches those that its plan names: by the namespace, or by Landlock */
    bool user;        /* it runs as a user that nobody else is, or in a user namespace */
    bool limits;      /* on time, memory, files, processes */
    bool seccomp;     /* of system calls it has those that an exercise can need */
    bool environment; /* it gets a few variables only */
} layers;

/** Find out, by trying, which layers there are, and warn once of those that are not.
 *  @return false after a message when one is missing that ISOLATION=required wants */
bool sandbox_start(const options *);
layers sandbox_layers(void); /* none before sandbox_start */
const options *sandbox_options(void);
bool sandbox_bounds_folders(void); /* folders in memory can be given a size */
json_t *sandbox_json(void);        /* of results.json */
int isolation(const options *);    /* print them */

/** What a program may reach. */
typedef struct plan {
    const char *const *read; /* files and folders beside the system's own; NULL ends */
    const char *write;       /* the folder that it starts in; NULL: an empty one, wiped after */
    bool gpu;                /* it drives a real one */
    bool light; /* our own code, fed with a student's: it keeps its user and starts at once */
    unsigned cpu_seconds; /* 0: without limit, here and below */
    size_t address_bytes, file_bytes;
} plan;

typedef struct jail jail;
jail *jail_create(const plan *, const char *const argv[]);
/** In a new child, with nothing open but what the program shall have. Returns when it failed. */
void jail_enter(const jail *);
void jail_free(jail *);
/** Does its process tell of a signal by exit status 128 + signal? */
bool jail_hides_signals(const jail *);
/** @return whether it is gone */
bool remove_tree(const char *path);
/** As process_run, behind all layers there are. */
process_result jail_run(const plan *, const char *const argv[], double deadline, size_t limit);

/* ---- compiler.c, build.c
 * --------------------------------------------------------------------------------- */

#define LIBRARIES_MAX 256

typedef struct build {
    const exercise *exercise;
    const char *root; /* folder that `file` is relative to */
    const char *file;
    const char *parts_root; /* folder of the exercise's parts; NULL: as root */
    place place;
    const struct build *needs[12]; /* libraries to link with, built before; NULL ends */
    bool baseline;                 /* exports baseline_*, not the contract's names */
    bool prebuilt;                 /* not to be built: it lies in prebuilt/ */
    const char *processor;         /* to be handed out, for this one; NULL: for this machine */
    double hurry;                  /* of the usual deadline, where it will be waited for; 0: all */
    /* out */
    bool ok;
    char *log;             /* the compiler's words, "" when it had none */
    char key[HASH_HEX];    /* of everything that the library is made from */
    char source[HASH_HEX]; /* SHA-256 of the file and its parts; "" when they were not read */
    char library[PATH_MAX];
} build;

/** Enter in the hash what all builds depend on: compilers and contracts. */
void compiler_hash(const options *, hash *);
/** One step, in a folder that holds the source and exports.map, and will hold exercise.o and .so.
 */
process_result compiler_compile(const options *, const build *, const char *source,
                                const char *folder);
process_result compiler_link(const options *, const build *, const char *folder);
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
bool copy_file(const char *from, const char *to);
/** Is the submission's file, and each of its parts, exactly a skeleton that was once generated
 *  (skeletons.sha256)? */
bool exercise_is_skeleton(const options *, const exercise *);

/* ---- channel.c ------------------------------------------------------------------------------- */

typedef struct worker worker;
typedef struct softdevice softdevice;

typedef enum exchange { EXCHANGE_OK, EXCHANGE_DIED, EXCHANGE_DEADLINE } exchange;

/** Start a worker with a library. @return NULL, and *why on its own memory, when it cannot even
 *  load the library in time. */
worker *worker_start(const options *, place, const char *library, char why[512]);
/** Send a message and wait for the reply. After anything but EXCHANGE_OK the worker is spent. */
exchange worker_exchange(worker *, const wire_call *, wire_reply *, double deadline);
/** At least `bytes` of memory that the worker sees too. NULL when there is not so much. */
unsigned char *worker_memory(worker *, size_t bytes);
/** What the worker printed since the last call of this; valid until the next exchange. */
const char *worker_output(worker *);
/** Of the worker; that the grader, which has to see the end of a call, waited for a core is in it.
 */
core_usage worker_used(const worker *);
/** How many threads and processes it has beyond its own one. */
int worker_leftovers(const worker *);
/** Memory of its own. */
size_t worker_bytes(const worker *);
/** How a spent worker ended, in words. */
const char *worker_epitaph(worker *);
/** softgpu's device, or NULL where it has none. */
softdevice *worker_device(worker *);
void worker_stop(worker *); /* kills its whole process group; NULL is allowed */

/* ---- softdevice.c: the device of a worker on softgpu, as a supervisor sees it ---------------- */

/** @return NULL when it cannot be had in time. */
softdevice *softdevice_start(const options *);
void softdevice_stop(softdevice *, bool patient); /* patient: it may write a profile first */
/** The worker's end of its line to it, until the worker has it. */
int softdevice_client(const softdevice *);
void softdevice_client_given(softdevice *);
/** Allocate a buffer of a call, which gets its address. @param data NULL: poison that counts as not
 *  written. The same for the others: @return false when the device or its memory is not there. */
bool softdevice_lend(softdevice *, wire_argument *, const void *data);
bool softdevice_read(softdevice *, const wire_argument *, void *data);
/** Is it still that data? Is what lies before it untouched? */
bool softdevice_holds(softdevice *, const wire_argument *, const void *data);
bool softdevice_is_whole(softdevice *, const wire_argument *);
/** Free what was lent. @param relocate what is lent next lies elsewhere */
void softdevice_take_home(softdevice *, bool relocate);
/** That are allocated there now. */
size_t softdevice_bytes(softdevice *);
/** From now on the device does what the worker asks, and counts launches if it shall. */
bool softdevice_listen(softdevice *, bool count);
/** ... and no longer. @return what happened meanwhile; NULL: the process is gone */
const remote_account *softdevice_account(softdevice *);

/* ---- account.c ------------------------------------------------------------------------------- */

/** Put what the device found before what the worker says of host code. */
void account_findings(const remote_account *, wire_reply *);
/** Fail the case if its results were not made on the device. */
void account_work(const remote_account *, const char *function, bool has_results);

/** What a worker says of its device. Zeros and "softgpu" or the CPU's name where there is none. */
typedef struct device_facts {
    char name[128], driver[64], runtime[64];
    double copy_bytes_per_second; /* measured, device to device, read + written */
    double flop_per_second;       /* fp32 peak: cores x 2 x clock */
    char pci[32];                 /* where the GPU is, for nvml.c; "" */
    double core_adds_per_second;  /* of one core of the CPU, measured: each waits for the last */
} device_facts;

/* ---- argument.c ------------------------------------------------------------------------------ */

enum role { ROLE_IN, ROLE_OUT, ROLE_INOUT }; /* of an argument that is a buffer */

/* ---- device.c -------------------------------------------------------------------------------- */

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
/* ---- threads.c ------------------------------------------------------------------------------- */

/** Threads of a process, and of all that it has started, besides its first. */
int threads_beyond(pid_t);

/* ---- pattern/ ---------------------------------------------------------------------------------
 */

/** What an output holds before the call: a signalling NaN, which no arithmetic leaves as it is. */
#define POISON_F32 0x7fa0badau
#define POISON_I32 0xa5a5a5a5u

/** One checked array: bad[i] where got[i] is not what it should be. */
typedef struct mismatch {
    layout where;
    const float *got;
    const double *want, *bound; /* how far off is still right; NULL: nothing is known but places */
    const bool *bad;
    size_t count, first; /* of bad elements */
    const float *before; /* what the call before gave for the array, or NULL */
    const long *sizes;   /* numbers that the call was given */
    int size_count;
} mismatch;

/** The likely mistake, as "; ..." in words, or "" when the errors form no known pattern. */
const char *pattern_name(const mismatch *);
/** The likely mistake behind a finding, or a crash, as "; ..." or "". */
const char *symptom_name(const char *finding);
/** All words that these can say, for the tests; NULL ends. */
const char *pattern_words(size_t i);
const char *symptom_words(size_t i);
/** The formulas of suspect() are those of one comparison. */
void suspects_forget(void);
/** What the last comparison of an array of this name and size had, or NULL. */
const float *result_of_call_before(layout);
void result_keep(layout, const float *got);

/* ---- parallel.c ------------------------------------------------------------------------------ */

void parallel_copy(void *to, const void *from, size_t bytes);
void parallel_fill(void *to, unsigned word, size_t bytes); /* a multiple of 4 */
bool parallel_equal(const void *a, const void *b, size_t bytes);

/* ---- run.c ----------------------------------------------------------------------------------- */

typedef enum status {
    PASSED,
    FAILED,
    BUILD_FAILED,
    NOT_STARTED,
    SKIPPED,
    NOT_RUN,
    TOO_NOISY
} status;
const char *status_name(status);

typedef struct case_result {
    const char *name;
    status status;
    char *message; /* of a failure, or a note; "" */
    char *finding; /* the first that softgpu had in a call that went well; "" */
    unsigned long long seed;
    bool seed_withheld; /* it stays in the grader */
    double seconds;     /* NAN: likewise */
} case_result;

typedef struct speed_result {
    const speed_test *test;
    status status;           /* SKIPPED: this place cannot judge it; NOT_RUN: correctness failed */
    double ratio, low, high; /* median of the pairs, and its 95 % interval */
    double seconds, baseline_seconds; /* medians */
    int pairs;
    double waited, stolen; /* shares of the time that calls waited for a core; that a host took */
    speed_clocks clocks;
    char *message; /* why it failed, apart from its ratio; why it is too noisy; or NULL */
} speed_result;

typedef struct traffic_result {
    const traffic_test *test;
    status status;  /* as of speed_result */
    double counted; /* NAN: there is no number, and message says why */
    char *message;  /* of a test that failed: what was counted and what was wanted; or NULL */
} traffic_result;

/** The one exercise that is being judged now: what case functions reach through case.h. */
typedef struct context {
    const options *options;
    const exercise *exercise;
    place place;
    const char *library; /* of the student */
    worker *worker;      /* that calls go to */
    const grading_case *grading_case;
    bool relocate, timed, from_idle, counted, against_guard;
    bool dead;  /* a deadline passed: no more cases */
    bool trial; /* of a shape that the case may not be able to take */
    double deadline;
    random_state random;
    char *message;       /* of the expectation that failed, or NULL */
    char *finding;       /* of softgpu, in a call that went well, or NULL; the first of the case */
    char *note;          /* what a passing case has to say, or NULL */
    char *output;        /* printed by the last call */
    double seconds;      /* of the last call */
    double wall, waited; /* of a timed one: the grader's clock; what of it was waiting for a core */
    double overhead;     /* and what of it the call itself does not explain */
    double beside;       /* that the worker worked before and after a timed call, to copy */
    bool believed;       /* a timed call of a baseline: its outputs are not looked at */
    long sizes[WIRE_ARGUMENTS]; /* numbers among the arguments of the last call */
    int size_count;
    device_counts counts; /* of the last call, if it was counted */
    wire_copies copies;   /* of the last call */
    long long printed;    /* bytes, by kernels of the last call; -1 where nobody knows */
    struct allocation *allocations;
} context;

extern context now;

/** Judge the cases of one exercise, each into results[]. */
void run_cases(case_result results[]);
/** Run one function of a case under now, catching its failure. @return the message, or NULL. */
char *run_guarded(void (*run)(const char *, const long *), const char *function, const long *shape);
/** The same in the worker *where, which is started with that library when there is none. */
char *run_in(worker **where, const char *library, void (*run)(const char *, const long *),
             const char *function, const long *shape);
/** End what run_guarded runs, without a failure. */
void leave_case(void) __attribute__((noreturn));
/** The seed of the command line, or the one of the hidden file for this case or test, or a new one
 *  that nobody knows. */
unsigned long long secret_seed(const char *what);
/** The worker that calls go to, started when there is none. Fails the case when it cannot. */
void context_need_worker(void);
void context_drop_worker(void);
void inputs_free(void);

/* ---- hidden.c -------------------------------------------------------------------------------- */

/** Read the file that the options name: its cases join those of their exercises. Once.
 *  @return false after a message that names the line */
bool hidden_read(const options *);
/** Of the file, and of whether its cases are shown; "" when there is none. */
const char *hidden_hash(void);
/** @return false when no file gives a seed */
bool hidden_seed(const char *what, unsigned long long *seed);
/** Does the reference solution, built, pass the hidden cases of its exercise? Remembered.
 *  @return false after a message that names the line */
bool hidden_try(const options *, const build *reference);
/** Leave in the result only what a student may see. */
void hidden_hide(const options *, const grading_case *, case_result *);
/** What kind of failure a message is about, without numbers; "" for "". The caller frees. */
char *hidden_words(const char *message);
/** "129x65x257". @return false when it is no shape */
bool hidden_shape(const char *text, long shape[SHAPE_MAX], int *count);

/* ---- speed_rules.c --------------------------------------------------------------------------- */

/** PASSED, FAILED, or TOO_NOISY: to be measured again, unless this was the last time. */
status speed_verdict(const speed_result *, bool last);
/** Is a ratio that is at most `high` so far below the threshold that a few pairs tell it? */
bool speed_hopeless(double high, double threshold);
/** Was the machine busy with something else, or the GPU slowed down? */
bool speed_disturbed(const speed_result *);
/** @return NULL, or what of the device cannot be so fast */
const char *speed_ceiling(const speed_result *, const device_facts *);
/** The baseline's rate, of the one it is known to have; 1 where none is known. */
double peer_rate(const speed_result *, const device_facts *);
bool peer_is_sane(double rate);
/** May a worker that claims so many seconds have needed so many more by the grader's clock?
 *  @param honest_overhead what a worker without a student's code needed more */
bool clocks_agree(double claimed, double overhead, double honest_overhead);

/* ---- speed.c --------------------------------------------------------------------------------- */

/** Time one function against its baseline. @param baseline_library the baseline, built */
void run_speed(const speed_test *, const char *baseline_library, const device_facts *,
               speed_result *);

/* ---- traffic.c ------------------------------------------------------------------------------- */

/** Count one function. @param baseline_library as above, or NULL where the test has no baseline */
void run_traffic(const traffic_test *, const char *baseline_library, traffic_result *);
/** What the counts come to, and whether that is what the test wants. */
double traffic_number(const traffic_test *, const device_counts *, const device_counts *baseline);
bool traffic_meets(const traffic_test *, double number);
const char *bound_name(bound);

/* ---- score.c, judge.c, libraries.c, grade.c ---------------------------------------------------
 */

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
} exercise_result;

/** Fill in status, points and max_points from the verdicts. */
void score(exercise_result *);
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
    json_t *exercises; /* what results.json says of each */
    bool complete;     /* all points that count were reached */
} grading;

/** Judge one exercise whose library is built: cases, then speed or traffic, then points. */
exercise_result judge(const options *, const build *, const build *baseline, const device_facts *);
void exercise_result_free(exercise_result *);
/** Enter the exercise's timings and counts, not run, or skipped where its place cannot judge them.
 */
void list_tests(exercise_result *);
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
int grade(const options *, grading *);
void grading_free(grading *);
/** Build what the options ask for and show what the compilers say. @return 0, or 1 if one failed */
int build_only(const options *);

/* ---- origin.c, sign.c, verify.c -------------------------------------------------------------- */

void origin_commit(const options *, char commit[64]);
/** Names and contents of the folder's files that match. @return how many there are */
size_t hash_files(hash *, const char *folder, const char *pattern);
/** Do the course's own files differ from the commit? null: nobody knows. */
json_t *origin_modified(const options *);
/** {"cases": SHA-256, ...}; null where this copy of the course has no such files. */
json_t *origin_hashes(const options *);
/** SHA-256 of an exercise's files in a submission, or null when there are none. */
json_t *origin_file_hash(const char *submission, const exercise *);

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

/* ---- cache.c --------------------------------------------------------------------------------- */

/** @return the remembered entry of an unchanged exercise, or NULL. */
json_t *cache_load(const options *, const char *key);
void cache_store(const options *, const char *key, json_t *entry);

/* ---- results.c, report.c --------------------------------------------------------------------- */

json_t *results_exercise(const exercise_result *);
/** Write results.json whole or not at all. @return false after a message when it cannot. */
bool results_write(const grading *);
/** Write a results.json that says why there are none. */
void results_write_failure(const options *, const char *why);
/** Make the folders above a file. */
void make_folders_of(const char *path);
/** One line while an exercise is at work; overwritten on a terminal, left out elsewhere. */
void report_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** What an exercise failed of, with the compiler's or the case's words. */
void report_exercise(const options *, json_t *entry);
/** The rest of a line: the command that tries a case of an entry once more.
 *  @param submission "", or a folder; the course's own is not named */
void report_again(const char *submission, const json_t *entry, const json_t *one);
void report_table(const grading *);

/* ---- claims.c, patch.c, messages.c, corpus.c ---------------------------------------------------- */

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

/** Is grader/exercises/MANIFEST what these claims come to? */
bool manifest_is_current(const options *, const claim *, int count);
int manifest(const options *);

/** A sentence that names a mistake, and a submission that must get it; "" where there is none. */
typedef struct message {
    const char *from; /* pattern, finding or formula */
    char words[256], example[128];
} message;

/** All of them; the last has no `from`. */
const message *messages_list(const options *);
int messages(const options *);

/** Does the grader say of a submission what its claim says? */
bool as_claimed(const claim *, const exercise_result *);
int corpus(const options *);

/* ---- hint.c, views/views.c ------------------------------------------------------------------- */

int hint(const options *);
int report(const options *);

#endif
