/*
 * build.c: one source file of a submission -> one shared library that exports the contract's names
 * and nothing else. Each is compiled by itself, in a folder of its own, from the file, the parts
 * that it includes, of its own and of other exercises, and the contract headers. The object is kept
 * (objects.c); the library that is linked from it lies in a folder whose name is the hash of all
 * that it is made from, so nothing is built twice. Graders that share a build folder wait for each
 * other only where they compile the same source; what they both link appears whole.
 *
 * Because helpers and kernels stay local to their library, a submission may call its own like those
 * of the reference that it is linked with.
 */
#include "compiling.h"

#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_LIMIT  (1 << 20) /* bytes */
#define LIBRARY_LIMIT (16 << 20)
#define LOG_LIMIT     (64 << 10)

/* ---- one build ------------------------------------------------------------------------------- */

static void set_log(build *b, const char *format, const char *detail)
{
    free(b->log);
    if (asprintf(&b->log, format, detail) < 0) b->log = NULL;
}

/* What of a source is compiled: it is read once. */
typedef struct text {
    char *bytes;
    size_t count;
} text;

static bool take_text(build *b, const char *file, int from, text *t)
{
    struct stat facts;
    if (fstat(from, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        set_log(b, "%s is not a regular file", file);
        return false;
    }
    FILE *stream = fdopen(from, "r");
    t->bytes = malloc(SOURCE_LIMIT + 1);
    t->count = stream && t->bytes ? fread(t->bytes, 1, SOURCE_LIMIT + 1, stream) : 0;
    if (stream) fclose(stream);
    if (t->count <= SOURCE_LIMIT) return true;
    set_log(b, "%s is larger than the 1 MiB that a source may have", file);
    return false;
}

/* With what may be meant to be it. */
static const char *missing(const build *b, const char *top, const char *file,
                           char words[2 * PATH_MAX])
{
    char other[MISNAMED_WORDS];
    const bool any = misnamed_file(b->exercise, top, other);
    snprintf(words, 2 * PATH_MAX, "%s%s%s", file, any ? "; " : "", other);
    return words;
}

/* A link may lead to what a student must not read. The submission itself may lie behind one. */
static bool read_source(build *b, const char *top, const char *file, text *t)
{
    char words[2 * PATH_MAX];
    const int from = open_beneath(top, submitted_file(top, file));
    if (from >= 0) return take_text(b, file, from, t);
    switch (errno) {
    case ENOTDIR: set_log(b, "%s lies in a folder that is a link", file); break;
    case ENOENT: set_log(b, "the submission has no file %s", missing(b, top, file, words)); break;
    default: set_log(b, "%s is not a regular file", file); break; /* a link, a socket */
    }
    return false;
}

/* The folder of the parts: a corpus entry that is one file has those of the solution. */
static const char *parts_root(const build *b)
{
    return b->parts_root ? b->parts_root : b->root;
}

/* @return part i of what is built, or NULL after the last; a baseline has none */
static const char *part_of(const build *b, int i)
{
    return b->baseline ? NULL : b->exercise->parts[i];
}

/* @return part i of other exercises that is included, or NULL after the last */
static const char *include_of(const build *b, int i)
{
    return b->baseline ? NULL : b->exercise->includes[i];
}

/* Where it lies: with the one that is linked, the student's; the course's where that is linked, or
 * where the student left this part as it was handed out. */
static void find_include(const options *o, const build *b, const char *part, char top[PATH_MAX])
{
    char path[PATH_MAX];
    for (int i = 0; b->needs[i]; i++) {
        const build *needed = b->needs[i];
        if (!needed->own || !exercise_has_file(needed->exercise, part)) continue;
        snprintf(path, sizeof path, "%s/%s", needed->root, part);
        snprintf(top, PATH_MAX, "%s", needed->root);
        if (!file_is_skeleton(o, path)) return;
    }
    snprintf(top, PATH_MAX, "%s/%s", o->root, prebuilt_exists(o) ? "prebuilt" : "solutions");
}

#define PARTS    (sizeof((exercise *)NULL)->parts / sizeof(char *))
#define INCLUDES (sizeof((exercise *)NULL)->includes / sizeof(char *))
#define TEXTS    (1 + PARTS + INCLUDES) /* of the file, its parts, others' parts */

static bool read_sources(const options *o, build *b, text texts[TEXTS])
{
    char top[PATH_MAX];
    if (!read_source(b, b->root, b->file, &texts[0])) return false;
    for (int i = 0; part_of(b, i); i++) {
        if (!read_source(b, parts_root(b), part_of(b, i), &texts[1 + i])) return false;
    }
    for (int i = 0; include_of(b, i); i++) {
        find_include(o, b, include_of(b, i), top);
        if (!read_source(b, top, include_of(b, i), &texts[1 + PARTS + i])) return false;
    }
    return true;
}

/* As exercise_hash enters them. */
static void hash_sources(const build *b, hash *h, const text texts[TEXTS])
{
    hash_bytes(h, texts[0].bytes, texts[0].count);
    for (int i = 0; part_of(b, i); i++) {
        hash_text(h, part_of(b, i));
        hash_bytes(h, texts[1 + i].bytes, texts[1 + i].count);
    }
}

/* Of all that an object is made from, but the headers. */
static void hash_object(const options *o, const build *b, const text texts[TEXTS],
                        char key[HASH_HEX])
{
    char digits[32];
    hash *h = hash_begin();
    compiler_hash(o, h);
    hash_text(h, base_name(b->file));
    hash_text(h, b->exercise->file);
    snprintf(digits, sizeof digits, "%d %d %d", b->place, b->exercise->sm_90a,
             b->exercise->softgpu_90);
    hash_text(h, digits);
    hash_text(h, b->processor ? b->processor : "");
    hash_sources(b, h, texts);
    for (int i = 0; include_of(b, i); i++) {
        hash_text(h, include_of(b, i));
        hash_bytes(h, texts[1 + PARTS + i].bytes, texts[1 + PARTS + i].count);
    }
    hash_end(h, key);
}

/* Of the library. It names others by where they lie, in this build folder. */
static void set_key(const options *o, build *b, const char *object)
{
    char digits[32];
    hash *h = hash_begin();
    hash_text(h, object);
    hash_text(h, o->root);
    snprintf(digits, sizeof digits, "%d %d", b->baseline, b->exercise->cublas);
    hash_text(h, digits);
    imports_hash(h);
    for (int i = 0; b->exercise->functions[i]; i++) hash_text(h, b->exercise->functions[i]);
    for (int i = 0; b->needs[i]; i++) hash_text(h, b->needs[i]->key);
    hash_end(h, b->key);
}

static void set_source(build *b, const text texts[TEXTS])
{
    hash *h = hash_begin();
    hash_sources(b, h, texts);
    hash_end(h, b->source);
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return replace_file(path, text);
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

typedef struct job {
    const options *options;
    build *build;
    text texts[TEXTS];                        /* of the source and its parts */
    char objects[PATH_MAX];                   /* the folder where they are kept; "" */
    char sources[HASH_HEX], object[HASH_HEX]; /* keys: of all but the headers; of the object */
    char scratch[PATH_MAX]; /* while it is built: what it includes, and below it */
    char work[PATH_MAX];    /* below it, as in the course: the source and its parts, alone */
    char folder[PATH_MAX];  /* of the library */
    bool kept;              /* the object is, from an earlier build */
    bool compiled;          /* there is an object */
    bool finished;
    bool twin;   /* another job of this round makes the same library */
    bool ready;  /* to be linked: its needs are there */
    bool killed; /* a compiler was, by a signal: that says nothing about the source */
} job;

/* A signal ended a compiler: by its driver's words, or those of its shell. */
static bool was_killed(const process_result *r)
{
    return r->status > 128 || strstr(r->output ? r->output : "", "signal terminated program");
}

static bool took_its_seconds(const process_result *r)
{
    return r->status == 128 + SIGXCPU ||
           (r->status != 0 && strstr(r->output ? r->output : "", "CPU time limit exceeded"));
}

/* Keep what a compiler said. @return whether it did its work */
static bool take_step(job *j, process_result r, const char *what)
{
    build *b = j->build;
    char *log = NULL;
    const bool slow = took_its_seconds(&r);
    j->killed = !slow && (r.timed_out || was_killed(&r));
    if (slow) {
        set_log(b, "%s took longer than two minutes of CPU time", what);
    } else if (r.timed_out) {
        set_log(b, "%s took longer than ten minutes", what);
    } else if (asprintf(&log, "%s%s", b->log ? b->log : "", r.output ? r.output : "") >= 0) {
        free(b->log);
        log_once(log);
        b->log = log;
    }
    free(r.output);
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

static bool write_source(job *j, const char *folder, const char *file, const text *t)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    make_folders_of(path);
    FILE *to = fopen(path, "w");
    const bool written = to && fwrite(t->bytes, 1, t->count, to) == t->count;
    chmod(path, 0644); /* whatever the umask, as the folder */
    if (to && fclose(to) == 0 && written) return true;
    set_log(j->build, "cannot copy %s into the build folder", base_name(file));
    return false;
}

/* The source and its parts beside each other. What they include of other exercises lies where the
 * course has it. */
static bool write_sources(job *j)
{
    const build *b = j->build;
    bool written = write_source(j, j->work, base_name(b->file), &j->texts[0]);
    for (int i = 0; written && part_of(b, i); i++) {
        written = write_source(j, j->work, base_name(part_of(b, i)), &j->texts[1 + i]);
    }
    for (int i = 0; written && include_of(b, i); i++) {
        written = write_source(j, j->scratch, include_of(b, i), &j->texts[1 + PARTS + i]);
    }
    return written;
}

static void make_work(const job *j)
{
    remove_tree(j->scratch);
    make_folders_of(j->work);
    mkdir(j->work, 0755);
    chmod(j->scratch, 0755); /* whatever the umask: its user is another */
    chmod(j->work, 0755);
}

static void compile_now(job *j)
{
    build *b = j->build;
    const double began = seconds_now();
    contracts_link(j->options, j->work);
    j->compiled =
        take_step(j, compiler_compile(j->options, b, base_name(b->file), j->work), "compiling");
    b->seconds = seconds_now() - began;
    objects_learn(j->options, j->objects, j->sources, j->work, j->compiled, j->object);
    if (!j->killed) objects_keep(j->objects, j->object, j->work, b->log ? b->log : "");
}

/* Has it been compiled? A file of Python is not. */
static void find_object(job *j)
{
    build *b = j->build;
    if (is_python(b->file)) {
        memcpy(j->object, j->sources, sizeof j->object);
        return;
    }
    objects_folder(j->options, b, j->objects);
    if (!objects_key(j->options, j->objects, j->sources, j->object)) return;
    b->log = objects_log(j->objects, j->object, &j->compiled);
    j->kept = b->log != NULL;
}

/* Whoever compiles the same meanwhile, a job of this round or another grader, does it for both. */
static void compile(job *j)
{
    if (j->kept) return;
    make_work(j);
    if (!write_sources(j)) return;
    j->compiled = is_python(j->build->file); /* as it is */
    if (j->compiled) return;
    const int turn = objects_await_turn(j->objects, j->sources);
    find_object(j);
    if (!j->kept) compile_now(j);
    objects_end_turn(j->objects, j->sources, turn);
}

static void write_needs(FILE *file, const build *b)
{
    for (int i = 0; b->needs[i]; i++) {
        fprintf(file, "%s\n", b->needs[i]->library);
        write_needs(file, b->needs[i]);
    }
}

int build_needs(const char *library, char *needs[LIBRARIES_MAX])
{
    char path[PATH_MAX], line[PATH_MAX];
    int count = 0;
    snprintf(path, sizeof path, "%.*sneeds", (int)(base_name(library) - library), library);
    FILE *file = fopen(path, "r");
    while (file && count < LIBRARIES_MAX && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        needs[count++] = strdup(line);
    }
    if (file) fclose(file);
    return count;
}

/* The library appears whole or not at all, and is the grader's again. */
static bool publish(const job *j)
{
    char made[PATH_MAX];
    struct stat facts;
    snprintf(made, sizeof made, "%s/%s", j->work,
             is_python(j->build->file) ? base_name(j->build->file) : "exercise.so");
    if (lstat(made, &facts) != 0) return false;
    if (facts.st_size > LIBRARY_LIMIT) {
        set_log(j->build, "the library of %s is larger than 16 MiB", j->build->file);
        return false;
    }
    return S_ISREG(facts.st_mode) && lchown(made, geteuid(), getegid()) == 0 &&
           chmod(made, 0755) == 0 && rename(made, j->build->library) == 0;
}

static bool imports_hold(job *j)
{
    char path[PATH_MAX];
    if (is_python(j->build->file)) return true;
    snprintf(path, sizeof path, "%s/exercise.o", j->work);
    char *why = imports_refused(j->build, path);
    if (why) set_log(j->build, "%s", why);
    free(why);
    return why == NULL;
}

/* What was compiled just now lies there already. */
static bool have_object(job *j)
{
    if (!j->kept) return true;
    make_work(j);
    j->killed = !objects_take(j->objects, j->object, j->work);
    if (j->killed) set_log(j->build, "the object of %s was removed meanwhile", j->build->file);
    return !j->killed;
}

static bool link_with_needs(job *j)
{
    build *b = j->build;
    char *needs = NULL;
    size_t bytes;
    if (!have_object(j)) return false;
    FILE *file = open_memstream(&needs, &bytes);
    if (!file) return false;
    mkdir(j->folder, 0777);
    write_exports(b, j->work);
    write_needs(file, b);
    fclose(file);
    const bool written = needs && write_text(j->folder, "needs", needs);
    free(needs);
    if (!written) return false;
    return (is_python(b->file) || take_step(j, compiler_link(j->options, b, j->work), "linking")) &&
           imports_hold(j) && publish(j);
}

static bool needs_are_there(build *b)
{
    for (int i = 0; b->needs[i]; i++) {
        if (b->needs[i]->ok) continue;
        if (b->needs[i]->prebuilt)
            set_log(b, "%s", b->needs[i]->log);
        else
            set_log(b, "it needs %s, which did not build", b->needs[i]->file);
        return false;
    }
    return true;
}

static void link_library(job *j)
{
    build *b = j->build;
    if (j->finished) return;
    j->finished = true;
    if (!needs_are_there(b)) return;
    if (j->compiled) b->ok = link_with_needs(j);
    if (j->killed) return; /* it is tried again next time */
    mkdir(j->folder, 0777);
    write_text(j->folder, "log", b->log ? b->log : "");
}

/* ---- many builds ----------------------------------------------------------------------------- */

typedef struct queue {
    void (*step)(job *);
    job **jobs;
    int count, next;
    pthread_mutex_t lock;
} queue;

static size_t size_of(const job *j)
{
    size_t bytes = 0;
    for (size_t i = 0; i < TEXTS; i++) bytes += j->texts[i].count;
    return bytes;
}

static int largest_first(const void *a, const void *b)
{
    const size_t one = size_of(*(job *const *)a), other = size_of(*(job *const *)b);
    return (one < other) - (one > other);
}

static void *work(void *argument)
{
    queue *q = argument;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        int mine = q->next++;
        if (q->step == compile && mine < q->count)
            report_progress("compiling %d of %d", mine + 1, q->count);
        pthread_mutex_unlock(&q->lock);
        if (mine >= q->count) return NULL;
        if (!q->jobs[mine]->finished) q->step(q->jobs[mine]);
    }
}

/* A large source that came last would have one core at work, and the others idle. */
static void do_all(void (*step)(job *), job *jobs, int count)
{
    pthread_t threads[64];
    queue q = {.step = step, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
    q.jobs = calloc((size_t)count + 1, sizeof *q.jobs);
    for (int i = 0; i < count; i++) q.jobs[i] = &jobs[i];
    qsort(q.jobs, (size_t)count, sizeof *q.jobs, largest_first);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    for (int i = 0; i < cores && i < count && i < 64; i++) {
        if (pthread_create(&threads[started], NULL, work, &q) == 0) started++;
    }
    if (started == 0) work(&q);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    free(q.jobs);
}

static bool must_wait(const job *jobs, int count, const build *b)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; b->needs[k] && !jobs[i].finished; k++) {
            if (b->needs[k] == jobs[i].build) return true;
        }
    }
    return false;
}

static void link_if_ready(job *j)
{
    if (j->ready) link_library(j);
}

/* In rounds: those whose needs are there. */
static void link_all(job *jobs, int count)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < count; i++) {
            job *j = &jobs[i];
            j->ready = !j->finished && !must_wait(jobs, count, j->build);
            any = any || j->ready;
        }
        do_all(link_if_ready, jobs, count);
    }
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

/* What is linked with others into prebuilt/ needs a name of its own. */
const char *library_name(const build *b, char name[LIBRARY_NAME])
{
    if (is_python(b->file)) return base_name(b->file);
    if (!b->processor && !b->prebuilt) return "exercise.so";
    snprintf(name, LIBRARY_NAME, "%d%s.so", b->exercise->id, b->baseline ? "_baseline" : "");
    return name;
}

static void top_of(const options *o, const build *b, char top[PATH_MAX])
{
    if (b->own && o->objects)
        snprintf(top, PATH_MAX, "%s", o->objects);
    else
        snprintf(top, PATH_MAX, "%s/objects", o->build);
}

/* Several graders work at a time, also from several machines: each has folders of its own. */
static void name_scratch(job *j, const char *top, int index)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    snprintf(j->scratch, sizeof j->scratch, "%s/work_%s_%d_%d", top, host, (int)getpid(), index);
}

static void prepare(const options *o, job *j, build *b, int index)
{
    char top[PATH_MAX];
    j->options = o;
    j->build = b;
    b->ok = false;
    free(b->log); /* of a build with others */
    b->log = NULL;
    if (b->prebuilt) {
        prebuilt_take(o, b);
        j->finished = true;
        return;
    }
    j->finished = !read_sources(o, b, j->texts);
    if (j->finished) return;
    top_of(o, b, top);
    name_scratch(j, top, index);
    snprintf(j->work, sizeof j->work, "%s/%.*s", j->scratch,
             (int)(strrchr(b->exercise->file, '/') - b->exercise->file), b->exercise->file);
    set_source(b, j->texts);
    hash_object(o, b, j->texts, j->sources);
    find_object(j);
}

/* What it is linked with has its key by now. */
static void find_library(job *j)
{
    build *b = j->build;
    char top[PATH_MAX], name[LIBRARY_NAME];
    if (j->finished) return;
    set_key(j->options, b, j->object);
    top_of(j->options, b, top);
    snprintf(j->folder, sizeof j->folder, "%s/%.32s", top, b->key);
    snprintf(b->library, sizeof b->library, "%s/%s", j->folder, library_name(b, name));
    j->finished = !j->killed && built_before(b, j->folder);
    if (!j->finished) return;
    b->ok = access(b->library, R_OK) == 0;
}

/* A twin waits for the other. */
static void find_libraries(job *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        find_library(&jobs[i]);
        jobs[i].twin = !jobs[i].finished && twin_exists(jobs, i);
    }
    for (int i = 0; i < count; i++) jobs[i].finished = jobs[i].finished || jobs[i].twin;
}

static void take_twin(job *j)
{
    build *b = j->build;
    b->ok = built_before(b, j->folder) && access(b->library, R_OK) == 0;
}

static void trim_objects(const job *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        if (!*jobs[i].objects || jobs[i].kept) continue;
        objects_trim(jobs[i].objects);
        return;
    }
}

void build_all(const options *o, build *builds[], int count)
{
    job *jobs = calloc((size_t)count, sizeof *jobs);
    const int headers = contracts_hold(o);
    for (int i = 0; i < count; i++) prepare(o, &jobs[i], builds[i], i);
    do_all(compile, jobs, count);
    find_libraries(jobs, count);
    link_all(jobs, count);
    for (int i = 0; i < count; i++) {
        if (jobs[i].twin) take_twin(&jobs[i]);
        if (!builds[i]->log) builds[i]->log = strdup("");
        for (size_t k = 0; k < TEXTS; k++) free(jobs[i].texts[k].bytes);
        if (*jobs[i].scratch) remove_tree(jobs[i].scratch);
    }
    trim_objects(jobs, count);
    if (headers >= 0) close(headers);
    free(jobs);
}
