/*
 * submissions.h: the submissions. The only user of libarchive, so that students need not have it.
 *
 *   unpack.c      an archive -> a folder, or a refusal
 *   collect.c     DIR -> submissions, each with the files that count in a folder of its own
 *   nickname.c    under which a student appears on the leaderboard, if at all
 *   key.c         what a grade depends on, as a name for it
 */
#ifndef GRADER_CLASS_SUBMISSIONS_H
#define GRADER_CLASS_SUBMISSIONS_H

#include "class/settings/settings.h"

#include <jansson.h>

/* ---- unpack.c -------------------------------------------------------------------------------- */

typedef struct unpack_limits {
    long entries;
    long long bytes; /* of all files, unpacked */
} unpack_limits;

typedef enum unpacked { UNPACKED, REFUSED, NO_ROOM } unpacked;

/** Does unpack() read such a file? @return the length of the name without its ending, or 0 */
size_t archive_stem(const char *name);
/** Unpack into an empty folder. An archive with an absolute path, "..", a link, a device, or more
 *  than the limits is refused as a whole. NO_ROOM is this machine's fault, not the archive's.
 *  @return unless UNPACKED: and why; the folder may then hold a part */
unpacked unpack(const char *archive, const char *folder, unpack_limits limits, char why[256]);

/* ---- collect.c ------------------------------------------------------------------------------- */

#define NICKNAME_MOST 24                     /* characters */
#define NOISE         "nothing else changed" /* "why" of a change */

typedef struct submission {
    char student[128];
    char folder[PATH_MAX]; /* with the files that count */
    char key[HASH_HEX];    /* of these files and of what judges them */
    char refused[320];     /* why there is nothing to grade; "" */
    char trouble[320];     /* why it could not be taken though it may be fine: a full disk; "" */
    char nickname[NICKNAME_MOST * 4 + 8]; /* on the leaderboard; "": not on it */
    char note[160];                       /* for the gradebook; "" */
    time_t submitted;                     /* the newest of these files, or the archive */
    bool failed;                          /* the grader could not grade */
    json_t *files;                        /* hashes: {"103": "..."} */
    json_t *times;                        /* of a folder's files: {"103": 1795219140} */
    json_t *results;                      /* NULL while there are none */
    json_t *changes;                      /* verdicts that are not what they were: changes.c */
} submission;

/** Every folder and archive in DIR, in the order of their names; *count says how many.
 *  @return NULL after a message when DIR cannot be read; submissions_free() */
submission *collect(const class_options *, size_t *count);
void submissions_free(submission *, size_t count);
/** Copy a plain file of at most `most` bytes that lies below a folder, without following a link.
 *  @return 0; ENOENT; EINVAL: a link, no file, or too large; else what this machine lacks */
int copy_plain(const char *folder, const char *file, const char *to, long long most, time_t *);

/* ---- nickname.c ------------------------------------------------------------------------------ */

/** Read FILE, leaderboard.txt below the folder: .nickname, or .note with what is wrong with it. */
void nickname_read(const char *folder, const char *file, submission *);
/** Equal nicknames are numbered, in the order of the students. */
void number_nicknames(submission *, size_t count);

/* ---- key.c ----------------------------------------------------------------------------------- */

/** Of the grader's programs and command, the course's own files, and the compilers. */
void set_judge(class_options *);
/** Of the submission's files, of what judges them, and of how often. */
void set_key(const class_options *, submission *);

#endif
