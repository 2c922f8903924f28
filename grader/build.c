/*
 * build.c: one source file of a submission -> one shared library that exports the contract's names
 * and nothing else. Each is compiled by itself, in a folder of its own, from the file, the contract
 * headers and common/. The folder's name is the hash of all that, so nothing is built twice.
 *
 * Because helpers and kernels stay local to their library, a submission may call its own like those
 * of the reference that it is linked with.
 */
#include "grader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_LIMIT     (1 << 20) /* bytes */
#define LOG_LIMIT        (64 << 10)
#define COMPILE_DEADLINE 120.0 /* seconds */
#define ARGUMENTS        64

static const char *const headers[] = {"common/cuda_check.h",
                                      "common/not_implemented.h",
                                      "common/progress.h",
                                      "common/random.h",
                                      "common/timer.h",
                                      "common/idx.h",
                                      "common/mnist.h",
                                      "common/digits.h",
                                      "phase1_cpu/cpu.h",
                                      "phase2_cuda_basics/basics.h",
                                      "phase3_layers/layers.h",
                                      "phase4_optimization/optimization.h",
                                      "phase5_full_network/network.h"};
static const char *const include_folders[] = {
    "common",        "phase1_cpu",          "phase2_cuda_basics",
    "phase3_layers", "phase4_optimization", "phase5_full_network"};

/* ---- command lines --------------------------------------------------------------------------- */

typedef struct command {
    const char *argv[ARGUMENTS + 1];
    char *owned[ARGUMENTS];
    int count, owned_count;
} command;

static void add(command *c, const char *word)
{
    if (c->count < ARGUMENTS) c->argv[c->count++] = word;
}

static void add_format(command *c, const char *format, const char *a, const char *b)
{
    char *word = NULL;
    if (asprintf(&word, format, a, b) < 0) return;
    c->owned[c->owned_count++] = word;
    add(c, word);
}

static void command_free(command *c)
{
    for (int i = 0; i < c->owned_count; i++) free(c->owned[i]);
}

static const char *tool(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

static command compile_command(const options *o, const build *b, const char *source)
{
    command c = {0};
    if (b->place == ON_HOST) {
        add(&c, tool("CC", "cc"));
        add(&c, "-std=gnu11");
        add(&c, "-march=native");
        add(&c,
            "-falign-loops=64"); /* else the speed of a loop depends on where it happens to lie */
        add(&c, "-fPIC");
        add(&c, "-pthread");
        add(&c, "-Wall");
        add(&c, "-Wextra");
    } else {
        if (b->place == ON_SOFTGPU) {
            add_format(&c, "%s/emulator/cucc%s", o->root, "");
        } else {
            add(&c, tool("NVCC", "nvcc"));
            add_format(&c, "-arch=sm_%s%s", tool("GPU_ARCH", "80"), "");
            add(&c, "-lineinfo");
        }
        add(&c, "-Xcompiler");
        add(&c, "-fPIC,-Wall,-Wextra");
    }
    add(&c, "-O3");
    for (size_t i = 0; i < sizeof include_folders / sizeof *include_folders; i++) {
        add_format(&c, "-I%s/%s", o->root, include_folders[i]);
    }
    add(&c, "-c");
    add(&c, source);
    add(&c, "-o");
    add(&c, "exercise.o");
    return c;
}

static command link_command(const options *o, const build *b)
{
    command c = {0};
    add(&c, b->place == ON_HOST ? tool("CC", "cc") : tool("CXX", "c++"));
    add(&c, "-shared");
    add(&c, "-o");
    add(&c, "exercise.so");
    add(&c, "exercise.o");
    add(&c, "-Wl,-Bsymbolic");
    add(&c, "-Wl,-z,defs");
    add(&c, "-Wl,--version-script=exports.map");
    for (int i = 0; b->needs[i]; i++) add(&c, b->needs[i]->library);
    add_format(&c, "%s/libcourse.so%s", o->build, "");
    if (b->place == ON_SOFTGPU) add_format(&c, "%s/libsoftgpu.so%s", o->build, "");
    if (b->place == ON_GPU) {
        add_format(&c, "-L%s%s", tool("CUDA_LIB", "/usr/local/cuda/lib64"), "");
        add(&c, "-lcudart");
    }
    add(&c, "-lm");
    add(&c, "-pthread");
    return c;
}

/* ---- one build ------------------------------------------------------------------------------- */

static void set_log(build *b, const char *format, const char *detail)
{
    free(b->log);
    if (asprintf(&b->log, format, detail) < 0) b->log = NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool source_is_sane(build *b, const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0) {
        set_log(b, "the submission has no file %s", b->file);
    } else if (!S_ISREG(facts.st_mode)) {
        set_log(b, "%s is not a regular file", b->file);
    } else if (facts.st_size > SOURCE_LIMIT) {
        set_log(b, "%s is larger than the 1 MiB that a source may have", b->file);
    } else {
        return true;
    }
    return false;
}

/* A new compiler builds anew. */
const char *toolchain(const options *o)
{
    static char text[4096], cucc_path[PATH_MAX];
    if (text[0]) return text;
    snprintf(cucc_path, sizeof cucc_path, "%s/emulator/cucc", o->root);
    const char *const cc[] = {tool("CC", "cc"), "--version", NULL};
    const char *const nvcc[] = {tool("NVCC", "nvcc"), "--version", NULL};
    const char *const cucc[] = {cucc_path, "--version", NULL};
    process_result a = process_run(cc, NULL, 10.0, 512);
    process_result b = process_run(nvcc, NULL, 10.0, 512);
    process_result c = process_run(cucc, NULL, 10.0, 1024);
    snprintf(text, sizeof text, "%s\n%s\n%s\n%s", a.output, b.output, c.output,
             tool("GPU_ARCH", ""));
    free(a.output);
    free(b.output);
    free(c.output);
    return text;
}

static void set_key(const options *o, build *b, const char *path)
{
    char header[PATH_MAX], digits[32];
    hash *h = hash_begin();
    hash_text(h, toolchain(o));
    hash_text(h, o->root);
    hash_text(h, base_name(b->file));
    snprintf(digits, sizeof digits, "%d %d", b->place, b->baseline);
    hash_text(h, digits);
    hash_file(h, path);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(header, sizeof header, "%s/%s", o->root, headers[i]);
        hash_file(h, header);
    }
    for (int i = 0; b->exercise->functions[i]; i++) hash_text(h, b->exercise->functions[i]);
    for (int i = 0; b->needs[i]; i++) hash_text(h, b->needs[i]->key);
    hash_end(h, b->key);
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool whole = fputs(text, file) >= 0;
    return fclose(file) == 0 && whole;
}

static void write_exports(const build *b, const char *folder)
{
    char text[2048] = "{ global: ";
    if (b->baseline) strcat(text, "baseline_*; ");
    for (int i = 0; !b->baseline && b->exercise->functions[i]; i++) {
        strcat(strcat(text, b->exercise->functions[i]), "; ");
    }
    write_text(folder, "exports.map", strcat(text, "local: *; };\n"));
}

static bool copy_file(const char *from, const char *to)
{
    char block[1 << 14];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool whole = in && out;
    for (size_t n; whole && (n = fread(block, 1, sizeof block, in)) > 0;) {
        whole = fwrite(block, 1, n, out) == n;
    }
    if (in) fclose(in);
    if (out) whole = fclose(out) == 0 && whole;
    return whole;
}

static bool run_step(build *b, command c, const char *folder, const char *what)
{
    process_result r = process_run(c.argv, folder, COMPILE_DEADLINE, LOG_LIMIT);
    char *log = NULL;
    if (r.timed_out) {
        set_log(b, "%s took longer than two minutes", what);
    } else if (asprintf(&log, "%s%s", b->log ? b->log : "", r.output ? r.output : "") >= 0) {
        free(b->log);
        b->log = log;
    }
    free(r.output);
    command_free(&c);
    return r.status == 0;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    char *text = calloc(1, LOG_LIMIT + 1);
    size_t bytes = fread(text, 1, LOG_LIMIT, file);
    text[bytes] = '\0';
    fclose(file);
    return text;
}

/* A folder that holds a log was built to its end, for better or worse. */
static bool built_before(build *b, const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/log", folder);
    char *log = read_text(path);
    if (!log) return false;
    free(b->log);
    b->log = log;
    return true;
}

typedef struct job {
    const options *options;
    build *build;
    char path[PATH_MAX], folder[PATH_MAX];
    bool compiled, finished;
} job;

static void compile(job *j)
{
    build *b = j->build;
    char copy[PATH_MAX];
    mkdir(j->folder, 0777);
    snprintf(copy, sizeof copy, "%s/%s", j->folder, base_name(b->file));
    if (!copy_file(j->path, copy)) {
        set_log(b, "cannot copy %s into the build folder", b->file);
        return;
    }
    write_exports(b, j->folder);
    j->compiled =
        run_step(b, compile_command(j->options, b, base_name(b->file)), j->folder, "compiling");
}

static void link_library(job *j)
{
    build *b = j->build;
    for (int i = 0; b->needs[i]; i++) {
        if (b->needs[i]->ok) continue;
        set_log(b, "it needs %s, which did not build", b->needs[i]->file);
        return;
    }
    if (j->compiled) b->ok = run_step(b, link_command(j->options, b), j->folder, "linking");
    /* A compiler that was killed says nothing about the source: it is tried again next time. */
    if (!b->ok && b->log && strstr(b->log, "signal terminated program")) return;
    write_text(j->folder, "log", b->log ? b->log : "");
}

/* ---- many builds ----------------------------------------------------------------------------- */

typedef struct queue {
    job *jobs;
    int count, next;
    pthread_mutex_t lock;
} queue;

static void *work(void *argument)
{
    queue *q = argument;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        int mine = q->next++;
        pthread_mutex_unlock(&q->lock);
        if (mine >= q->count) return NULL;
        if (!q->jobs[mine].finished) compile(&q->jobs[mine]);
    }
}

static void compile_all(job *jobs, int count)
{
    pthread_t threads[64];
    queue q = {.jobs = jobs, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    for (int i = 0; i < cores && i < count && i < 64; i++) {
        if (pthread_create(&threads[started], NULL, work, &q) == 0) started++;
    }
    if (started == 0) work(&q);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* Another job of this round that makes the same library, so that it is made once. */
static bool twin_exists(const job *jobs, int index)
{
    for (int i = 0; i < index; i++) {
        if (!jobs[i].finished && strcmp(jobs[i].build->key, jobs[index].build->key) == 0)
            return true;
    }
    return false;
}

static void prepare(const options *o, job *j, build *b)
{
    j->options = o;
    j->build = b;
    b->ok = false;
    snprintf(j->path, sizeof j->path, "%s/%s", b->root, b->file);
    if (!source_is_sane(b, j->path)) {
        j->finished = true;
        return;
    }
    set_key(o, b, j->path);
    snprintf(j->folder, sizeof j->folder, "%s/objects/%.32s", o->build, b->key);
    snprintf(b->library, sizeof b->library, "%s/objects/%.32s/exercise.so", o->build, b->key);
    if (built_before(b, j->folder)) {
        j->finished = true;
        b->ok = access(b->library, R_OK) == 0;
    }
}

/* Graders that share a build folder build one after the other, each with all processors: two of
 * them may want the same library. The kernel lets go of the lock when its holder dies. */
static int lock_builds(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lock", folder);
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR) {
    }
    return lock;
}

void build_all(const options *o, build *builds[], int count)
{
    char folder[PATH_MAX];
    job *jobs = calloc((size_t)count, sizeof *jobs);
    bool *twin = calloc((size_t)count, sizeof *twin);
    snprintf(folder, sizeof folder, "%s/objects", o->build);
    mkdir(folder, 0777);
    const int lock = lock_builds(folder);
    for (int i = 0; i < count; i++) {
        prepare(o, &jobs[i], builds[i]);
        twin[i] = !jobs[i].finished && twin_exists(jobs, i);
        if (twin[i]) jobs[i].finished = true;
    }
    compile_all(jobs, count);
    for (int i = 0; i < count; i++) {
        if (twin[i]) {
            builds[i]->ok =
                built_before(builds[i], jobs[i].folder) && access(builds[i]->library, R_OK) == 0;
        } else if (!jobs[i].finished) {
            link_library(&jobs[i]);
        }
        if (!builds[i]->log) builds[i]->log = strdup("");
    }
    if (lock >= 0) close(lock);
    free(twin);
    free(jobs);
}

bool is_skeleton(const options *o, const char *path)
{
    char manifest[PATH_MAX], line[PATH_MAX], hex[HASH_HEX];
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > SOURCE_LIMIT) {
        return false;
    }
    hash *h = hash_begin();
    hash_file(h, path);
    hash_end(h, hex);
    snprintf(manifest, sizeof manifest, "%s/solutions/skeletons.sha256", o->root);
    FILE *file = fopen(manifest, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, hex, HASH_HEX - 1) == 0;
    }
    if (file) fclose(file);
    return found;
}
