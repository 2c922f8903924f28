/*
 * prebuilt.c: a handout is the course without its solutions and baselines. The compiled parts that
 * exercises need are in prebuilt/, which `grader prebuild` makes in the whole course:
 *
 *   prebuilt/x86-64-v3, x86-64-v4   baselines of phase 1, for two generations of processors: a
 *                                   student's code is compiled for the one at hand, and so must be
 *                                   what it is timed against
 *   prebuilt/softgpu, cuda          NNN.so, a solution that others call; NNN_baseline.so
 *   prebuilt/phase...               parts of solutions that other exercises include, as they are
 *   prebuilt/MANIFEST               "HASH  FILE" of each; "# NAME: VALUE" of how they were made
 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct kind {
    place place;
    const char *folder, *processor;
} kinds[] = {{ON_HOST, "x86-64-v4", "x86-64-v4"},
             {ON_HOST, "x86-64-v3", "x86-64-v3"},
             {ON_SOFTGPU, "softgpu", "x86-64"},
             {ON_GPU, "cuda", "x86-64"}};
#define KINDS (sizeof kinds / sizeof *kinds)

static bool processor_is(const char *level)
{
#ifdef __x86_64__
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return strcmp(level, "x86-64-v4") == 0 ? v4 : strcmp(level, "x86-64-v3") == 0 ? v3 : true;
#else
    (void)level;
    return false;
#endif
}

/* The first of a place whose processor this is. */
static const struct kind *kind_here(place where)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].place == where && processor_is(kinds[i].processor)) return &kinds[i];
    }
    return NULL;
}

/* ---- the manifest ---------------------------------------------------------------------------- */

typedef struct manifest_line {
    char hash[HASH_HEX], file[128]; /* of a library; "" */
    char name[32], value[256];      /* of how they were made; "" */
} manifest_line;

static FILE *open_manifest(const options *o, const char *mode)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/prebuilt/MANIFEST", o->root);
    return fopen(path, mode);
}

static bool next_line(FILE *manifest, manifest_line *to)
{
    char line[512];
    *to = (manifest_line){0};
    if (!fgets(line, sizeof line, manifest)) return false;
    if (sscanf(line, "# %31[^:]: %255[^\n]", to->name, to->value) != 2) {
        to->name[0] = '\0';
        sscanf(line, "%64[0-9a-f] %127s", to->hash, to->file);
    }
    return true;
}

bool prebuilt_exists(const options *o)
{
    FILE *manifest = open_manifest(o, "r");
    if (manifest) fclose(manifest);
    return manifest != NULL;
}

void prebuilt_take(const options *o, build *b)
{
    const struct kind *kind = kind_here(b->place);
    char file[PATH_MAX], name[LIBRARY_NAME];
    snprintf(file, sizeof file, "%s/%s", kind ? kind->folder : "", library_name(b, name));
    snprintf(b->library, sizeof b->library, "%s/prebuilt/%s", o->root, file);
    FILE *manifest = open_manifest(o, "r");
    for (manifest_line line; !b->ok && manifest && next_line(manifest, &line);) {
        b->ok = strcmp(line.file, file) == 0;
        if (b->ok) memcpy(b->key, line.hash, sizeof b->key);
    }
    if (manifest) fclose(manifest);
    free(b->log);
    b->log = NULL;
    if (asprintf(&b->log, b->ok ? "" : "this handout was made without prebuilt/%s", file) < 0) {
        b->log = NULL;
    }
}

/* ---- can they be used here? ------------------------------------------------------------------ */

static bool used_here(const options *o, const char *file)
{
    static const place places[] = {ON_HOST, ON_SOFTGPU, ON_GPU};
    if (strncmp(file, "phase", 5) == 0) return true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct kind *kind = kind_here(places[i]);
        const size_t length = kind ? strlen(kind->folder) : 0;
        if (places[i] == ON_GPU && o->backend != BACKEND_CUDA) continue;
        if (kind && strncmp(file, kind->folder, length) == 0 && file[length] == '/') return true;
    }
    return false;
}

static bool is_whole(const options *o, const manifest_line *line)
{
    char path[PATH_MAX], hex[HASH_HEX];
    snprintf(path, sizeof path, "%s/prebuilt/%s", o->root, line->file);
    hash *h = hash_begin();
    const bool readable = hash_file(h, path);
    hash_end(h, hex);
    return readable && strcmp(hex, line->hash) == 0;
}

static bool suits(const options *o, const manifest_line *line, char why[PREBUILT_WHY])
{
    struct utsname here;
    char runtime[PATH_MAX];
    const char *folder = getenv("CUDA_LIB");
    uname(&here);
    if (strcmp(line->name, "machine") == 0 && strcmp(line->value, here.machine) != 0) {
        snprintf(why, PREBUILT_WHY, "this handout is for %s, and this machine is %s", line->value,
                 here.machine);
        return false;
    }
    if (strcmp(line->name, "cudart") != 0 || o->backend != BACKEND_CUDA) return true;
    snprintf(runtime, sizeof runtime, "%s/%s", folder ? folder : "", line->value);
    if (access(runtime, R_OK) == 0) return true;
    snprintf(why, PREBUILT_WHY,
             "this handout was made with %s, which is not in %s: BACKEND=cpu needs none",
             line->value, folder ? folder : "CUDA_LIB");
    return false;
}

static bool line_is_good(const options *o, const manifest_line *line, char why[PREBUILT_WHY])
{
    if (line->name[0]) return suits(o, line, why);
    if (!used_here(o, line->file) || is_whole(o, line)) return true;
    snprintf(why, PREBUILT_WHY, "prebuilt/%s is damaged or missing: unpack the handout again",
             line->file);
    return false;
}

bool prebuilt_check(const options *o, char why[PREBUILT_WHY])
{
    FILE *manifest = open_manifest(o, "r");
    bool good = true;
    if (!manifest) return true;
    for (manifest_line line; good && next_line(manifest, &line);) {
        good = line_is_good(o, &line, why);
    }
    fclose(manifest);
    if (good && !kind_here(ON_HOST)) {
        snprintf(why, PREBUILT_WHY, "this handout needs a processor with AVX2 (x86-64-v3)");
        good = false;
    }
    return good;
}

/* ---- making them ----------------------------------------------------------------------------- */

/* What programs/backend calls, and cuda_demo with it. */
static const int of_programs[] = {102, 103, 107, 202, 204, 205, 208, 213, 408};

static void collect(library_set *set, const options *o, place where)
{
    for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++) {
        const exercise *e = catalog_find(of_programs[i]);
        if (exercise_place(e, o->backend) == where && options_want(o, e))
            library_set_reference(set, e);
    }
    for (const exercise *const *e = catalog(); *e; e++) {
        if (exercise_place(*e, o->backend) != where || !options_want(o, *e)) continue;
        library_set_baseline(set, *e);
        for (int i = 0; (*e)->prerequisites[i]; i++) {
            library_set_reference(set, catalog_find((*e)->prerequisites[i]));
        }
    }
}

/* Copy a file to its place and enter it into the manifest. */
static bool hand_out(const options *o, const char *from, const char *file, FILE *manifest)
{
    char path[PATH_MAX], hex[HASH_HEX];
    snprintf(path, sizeof path, "%s/%s", o->output, file);
    make_folders_of(path);
    if (!copy_file(from, path)) {
        fprintf(stderr, "grader: cannot write %s\n", path);
        return false;
    }
    hash *h = hash_begin();
    hash_file(h, path);
    hash_end(h, hex);
    return fprintf(manifest, "%s  %s\n", hex, file) > 0;
}

static bool hand_out_library(const options *o, const build *b, const struct kind *kind,
                             FILE *manifest)
{
    char file[PATH_MAX], name[LIBRARY_NAME];
    if (!b->ok) {
        fprintf(stderr, "grader: %s does not build for %s: %s\n", b->file, kind->folder, b->log);
        return false;
    }
    if (b->log && *b->log) fprintf(stderr, "grader: %s: %s\n", b->file, b->log);
    snprintf(file, sizeof file, "%s/%s", kind->folder, library_name(b, name));
    return hand_out(o, b->library, file, manifest);
}

/* Once each, however many exercises include it. */
static bool hand_out_includes(const options *o, FILE *manifest)
{
    char from[PATH_MAX], to[PATH_MAX];
    bool good = true;
    for (const exercise *const *e = catalog(); *e; e++) {
        for (int i = 0; good && (*e)->includes[i]; i++) {
            snprintf(from, sizeof from, "%s/solutions/%s", o->root, (*e)->includes[i]);
            snprintf(to, sizeof to, "%s/%s", o->output, (*e)->includes[i]);
            if (access(to, F_OK) != 0) good = hand_out(o, from, (*e)->includes[i], manifest);
        }
    }
    return good;
}

static bool prebuild_kind(const options *o, const struct kind *kind, FILE *manifest)
{
    options its = *o;
    bool good = true;
    its.backend = kind->place == ON_GPU ? BACKEND_CUDA : BACKEND_CPU;
    library_set *set = library_set_create(&its, kind->processor);
    collect(set, &its, kind->place);
    library_set_build(set, NULL, 0);
    report_progress("%s", "");
    for (build *const *b = library_set_all(set); good && *b; b++) {
        good = hand_out_library(o, *b, kind, manifest);
    }
    library_set_free(set);
    return good;
}

/* "# NAME: " and the first line of what a program says of itself that has the word in it. */
static void note_program(FILE *manifest, const char *name, const char *program, const char *word)
{
    const char *const argv[] = {program, "--version", NULL};
    process_result r = process_run(argv, NULL, 10.0, 4096);
    for (char *rest = r.output, *line; r.output && (line = strsep(&rest, "\n"));) {
        if (!strstr(line, word)) continue;
        fprintf(manifest, "# %s: %s\n", name, line);
        break;
    }
    free(r.output);
}

/* The name under which what was linked with -lcudart asks for it. */
static void note_runtime(FILE *manifest)
{
    char path[PATH_MAX], whole[PATH_MAX];
    const char *folder = getenv("CUDA_LIB");
    snprintf(path, sizeof path, "%s/libcudart.so", folder ? folder : "");
    if (!realpath(path, whole)) return;
    const char *name = strrchr(whole, '/') + 1;
    const char *version = strstr(name, ".so.");
    const int length = version ? (int)(version - name + 4 + (long)strcspn(version + 4, ".")) : 0;
    if (length) fprintf(manifest, "# cudart: %.*s\n", length, name);
}

static void note_toolchain(const options *o, FILE *manifest)
{
    struct utsname here;
    const char *cc = getenv("CC"), *nvcc = getenv("NVCC"), *clang = getenv("CUCC_CLANG");
    uname(&here);
    fprintf(manifest, "# machine: %s\n", here.machine);
    note_program(manifest, "cc", cc && *cc ? cc : "cc", "");
    if (nvcc && *nvcc)
        note_program(manifest, "nvcc", nvcc, "release");
    else if (clang && *clang)
        note_program(manifest, "clang", clang, "version");
    if (o->backend == BACKEND_CUDA) note_runtime(manifest);
}

/* @return false after a message */
static bool can_prebuild(const options *o)
{
    static options on_cpu; /* a compiler needs no GPU; the sandbox keeps its options */
    on_cpu = *o;
    on_cpu.backend = BACKEND_CPU;
    if (processor_is("x86-64") && o->output) return sandbox_start(&on_cpu);
    fprintf(stderr, "grader: %s\n",
            o->output ? "handouts are made on x86-64 only" : "prebuild needs --output DIR");
    return false;
}

int prebuild(const options *o)
{
    char path[PATH_MAX];
    bool good = true;
    if (!can_prebuild(o)) return 2;
    snprintf(path, sizeof path, "%s/MANIFEST", o->output);
    make_folders_of(path);
    FILE *manifest = fopen(path, "w");
    if (manifest) note_toolchain(o, manifest);
    if (manifest) good = hand_out_includes(o, manifest);
    for (size_t i = 0; manifest && good && i < KINDS; i++) {
        if (kinds[i].place == ON_GPU && o->backend != BACKEND_CUDA) continue;
        if (place_needs(o, kinds[i].place)) continue;
        good = prebuild_kind(o, &kinds[i], manifest);
    }
    if (manifest && fclose(manifest) == 0 && good) return 0;
    if (good) fprintf(stderr, "grader: cannot write %s\n", path);
    unlink(path);
    return 2;
}
