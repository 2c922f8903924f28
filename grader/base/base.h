/*
 * base.h: helpers that do not depend on exercises: files and their hashes, processes, large arrays
 * on all cores, statistics, the progress line.
 */
#ifndef GRADER_BASE_H
#define GRADER_BASE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- hash.c ---------------------------------------------------------------------------------- */

#define HASH_HEX 65 /* 64 hexadecimal digits and the end */

typedef struct hash hash;
hash *hash_begin(void);
void hash_text(hash *, const char *text);
void hash_bytes(hash *, const char *bytes, size_t count);
/** @return false when it is no file or cannot be read; it then counts as empty */
bool hash_file(hash *, const char *path);
void hash_end(hash *, char hex[HASH_HEX]); /* frees */

/* ---- files.c ----------------------------------------------------------------------------------
 */

/** Make the folders above a file. */
void make_folders_of(const char *path);
/** @return whether it is gone */
bool remove_tree(const char *path);
bool copy_file(const char *from, const char *to);
/** Write a file that appears whole or not at all, whoever else writes or reads it. */
bool replace_file(const char *path, const char *text);
/** Open a file, to be made if need be, and wait for its lock, as flock(2) has it. The kernel lets go
 *  of a lock when its holder dies. @return -1: there is no lock */
int lock_file(const char *path, int how);
/** Hold the lock otherwise from now on. -1 is allowed. */
void change_lock(int lock, int how);
/** Open a file below a folder, to be read. The folder itself may lie behind a link, nothing below
 * it may. @return -1 with errno: ENOTDIR when a folder, ELOOP when the file is a link */
int open_beneath(const char *folder, const char *file);

/* ---- process.c ------------------------------------------------------------------------------- */

typedef struct process_result {
    int status; /* exit status, 128 + signal, or -1 when it could not be started */
    bool timed_out;
    char *output; /* stdout and stderr, ended by 0; the caller frees */
} process_result;

/** Run a program to its end, or to the deadline, and keep the first `limit` bytes it prints. */
process_result process_run(const char *const argv[], const char *directory, double deadline,
                           size_t limit);
/** The same for a child that first calls `enter`, which starts the program unless it returns. */
process_result process_run_behind(void (*enter)(const void *), const void *context,
                                  const char *const argv[], double deadline, size_t limit);

/* ---- large arrays, on all cores -------------------------------------------------------------- */

/** That this process may use. */
size_t core_count(void);

/** Does its work for begin <= i < end. May not fail the case: several run at once. */
typedef void parallel_work(size_t begin, size_t end, void *context);
typedef bool parallel_test(size_t i, const void *context);

/** The work for 0 .. count-1, cut into parts. @param cost of one, in simple operations */
void parallel(size_t count, size_t cost, parallel_work *, void *context);
/** @return the first i below count for which the test is true, or count */
size_t parallel_find(size_t count, size_t cost, parallel_test *, const void *context);

void parallel_copy(void *to, const void *from, size_t bytes);
void parallel_fill(void *to, unsigned word, size_t bytes); /* a multiple of 4 */
bool parallel_equal(const void *a, const void *b, size_t bytes);

/* ---- statistics.c ---------------------------------------------------------------------------- */

#define SAMPLES_MAX 64

typedef struct interval {
    double median, low, high; /* 95 % */
} interval;

/** Of up to SAMPLES_MAX values; of none: zeros. */
interval bootstrap(const double *values, int count);
double quantile(const double *values, int count, double part); /* part 0.5: the median */
/** A count as text, without decimals where it is whole. @return text */
const char *count_text(char text[32], double count);

/* ---- cache.c --------------------------------------------------------------------------------- */

/** @return the remembered entry of an unchanged exercise, or NULL. */
json_t *cache_load(const char *build, const char *key);
void cache_store(const char *build, const char *key, json_t *entry);

/* ---- progress.c -------------------------------------------------------------------------------
 */

/** One line while an exercise is at work; overwritten on a terminal, left out elsewhere. */
void report_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Is standard output a terminal? */
bool on_terminal(void);

/* ---- terminal.c -------------------------------------------------------------------------------
 */

/** From now on nothing that is printed commands a terminal, whoever wrote it. */
void guard_output(void);

/* ---- ini.c ----------------------------------------------------------------------------------- */

/** One line of it: a section by itself (name is ""), or a setting in its section. */
typedef struct ini_line {
    char section[32];
    const char *name, *value;
    int number;
} ini_line;

/** @return what is wrong with the line, or NULL */
typedef const char *ini_setting(void *context, const ini_line *);
/** Call the function for each section and setting, up to one with which something is wrong.
 *  @return that, with its line in *number, or NULL */
const char *ini_read(FILE *, ini_setting *, void *context, int *number);

/* ---- members.c --------------------------------------------------------------------------------
 */

/** "" and 0 where the object is none, or has no such string or number. */
const char *string_of(const json_t *object, const char *key);
double real_of(const json_t *object, const char *key);
long integer_of(const json_t *object, const char *key);

#endif
