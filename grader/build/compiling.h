/*
 * compiling.h: what a build is made of, among the files of this room.
 *
 *   compiler.c   the command lines
 *   log.c        what they said, once
 *   contracts.c  the headers that a compiler finds
 *   imports.c    what the library asks of others
 *   objects.c    what it made, kept by the content that it was made from
 */
#ifndef GRADER_COMPILING_H
#define GRADER_COMPILING_H

#include "build/build.h"

#include <stdio.h>

/* ---- compiler.c ------------------------------------------------------------------------------ */

#define HEADERS_FILE "headers.d" /* where a compiler lists what it read, as make has it */

/** Enter in the hash what all builds depend on: the compilers. */
void compiler_hash(const options *, hash *);
/** One step, in a folder that holds the source and exports.map, and will hold exercise.o and .so.
 *  Beside it, below the same folder, lies what the source includes. */
process_result compiler_compile(const options *, const build *, const char *source,
                                const char *folder);
process_result compiler_link(const options *, const build *, const char *folder);

/* ---- imports.c ------------------------------------------------------------------------------- */

/** Enter the list in the hash: what was compiled by another is held against it again. */
void imports_hash(hash *);
/** @return NULL, or which function of others the object may not ask for, and why */
char *imports_refused(const build *, const char *object);

/* ---- log.c ----------------------------------------------------------------------------------- */

/** Leave out warnings that are there already, and remarks about them. */
void log_once(char *log);

/* ---- contracts.c ----------------------------------------------------------------------------- */

/** Copy them where the copies are not what the course has now, and keep them as they are while
 *  somebody compiles. @return a file to close then */
int contracts_hold(const options *);
void contracts_folder(const options *, char path[PATH_MAX]);
/** Have them in this folder, by a link of that name. */
void contracts_link(const options *, const char *folder);
/** The names of all, one a line. */
void contracts_list(const options *, FILE *);
/** Enter one, by its name. */
void contracts_hash(const options *, const char *name, hash *);

/* ---- objects.c ------------------------------------------------------------------------------- */

/** The folder where those of this build are kept. */
void objects_folder(const options *, const build *, char path[PATH_MAX]);
/** The key of what these sources become. @param sources the hash of all but the headers
 *  @return false where nobody has compiled them yet: which headers they include is not known */
bool objects_key(const options *, const char *folder, const char *sources, char key[HASH_HEX]);
/** The same once they are compiled in the folder `work`; keep which headers they included.
 *  @param whole the compiler did its work, and so listed them all */
void objects_learn(const options *, const char *folder, const char *sources, const char *work,
                   bool whole, char key[HASH_HEX]);
/** Wait until nobody else compiles these sources: then it may be kept. @return for the end of it */
int objects_await_turn(const char *folder, const char *sources);
void objects_end_turn(const char *folder, const char *sources, int turn);
/** Keep exercise.o, if there is one, and the compiler's words. It appears whole or not at all. */
void objects_keep(const char *folder, const char *key, const char *work, const char *log);
/** @return the compiler's words, for the caller to free, or NULL where nothing is kept; in
 *  *compiled, whether it did its work */
char *objects_log(const char *folder, const char *key, bool *compiled);
/** Copy exercise.o. @return false where it is not there (any more) */
bool objects_take(const char *folder, const char *key, const char *work);
/** Remove those that were not used for longest, until the folder is small enough. */
void objects_trim(const char *folder);

#endif
