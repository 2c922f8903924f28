/*
 * key.c: the name of a result. Everything that could change a grade is part of it: the student's
 * files, the grader's programs and command, the course's references, baselines and headers, the
 * compilers. Weights and lateness, which only change what a grade is worth, are not, nor is the
 * machine: another one takes a class over where the first left it.
 */
#include "submissions.h"
#include "build/build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const course[] = {"common/*.[ch]",
                                     "phase?_*/*.h",
                                     "phase?_*/*/*.h",
                                     "solutions/*",
                                     "solutions/*/*",
                                     "solutions/*/*/*",
                                     "grader/exercises/*/baseline.*",
                                     "emulator/cucc",
                                     "prebuilt/*",
                                     "prebuilt/*/*",
                                     "emulator/frontends/*",
                                     "emulator/include/*",
                                     "emulator/include/*/*"};
static const char *const programs[] = {"worker_*", "lib*.so", "softgpu*", "remote/lib*.so",
                                       "python_*"};
static const char *const environment[] = {"CUCC_FRONTEND", "GPU_ARCH", "COURSE_DATA"};

/* Of a word that is a file (the program, a file of hidden cases) what it holds counts. */
static void add_word(hash *h, const char *word)
{
    struct stat facts;
    const bool file = stat(word, &facts) == 0 && S_ISREG(facts.st_mode);
    hash_text(h, file ? "a file" : word);
    if (file) hash_file(h, word);
}

void set_judge(class_options *o)
{
    const char *root = getenv("COURSE_ROOT");
    const options grader = {.root = root ? root : ".", .build = o->build};
    hash *h = hash_begin();
    for (const char *const *word = o->grader; *word; word++) add_word(h, *word);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        hash_files(h, grader.build, programs[i]);
    }
    for (size_t i = 0; i < sizeof course / sizeof *course; i++) {
        hash_files(h, grader.root, course[i]);
    }
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        const char *value = getenv(environment[i]);
        hash_text(h, value ? value : "");
    }
    hash_text(h, toolchain(&grader));
    hash_end(h, o->judge);
}

static void add_exercise(hash *all, submission *s, const exercise *e)
{
    const char *id = id_words(e->id);
    char digest[HASH_HEX];
    exercise_hash(e, s->folder, digest);
    if (!*digest) return;
    hash_text(all, id);
    hash_text(all, digest);
    json_object_set_new(s->files, id, json_stringn(digest, 16));
}

void set_key(const class_options *o, submission *s)
{
    char digits[16];
    hash *h = hash_begin();
    snprintf(digits, sizeof digits, "%d", o->generation);
    hash_text(h, o->judge);
    hash_text(h, digits);
    s->files = json_object();
    for (const exercise *const *e = catalog(); *e; e++) add_exercise(h, s, *e);
    hash_end(h, s->key);
}
