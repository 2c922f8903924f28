/* options.c: the command line of the grader. The Makefile writes it; make help explains it. */
#include "course.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: grader grade|build|run|hint|corpus|mutants|prebuild|report|\n"
    "              "
    "progress|next|compare|watch|findings|profile|see|isolation|verify|needs|drawn|messages "
    "[EXERCISE] [options]\n"
    "  --submission DIR   folder with phase1_cpu, phase2_cuda_basics, ... (default .)\n"
    "  --backend B        cpu (the software GPU) or cuda (default cpu)\n"
    "  --exercise \"ID...\" only these\n"
    "  --phase N          only this phase\n"
    "  next, watch: --all not only along the path\n"
    "  --case NAME        only this case        --seed N   with this seed\n"
    "  run: --shape AxB   in this shape\n"
    "  see: --block X,Y,Z --warp N  what is shown first\n"
    "  --results FILE     where results.json goes (default results/results.json)\n"
    "  --fresh            also what has not changed\n"
    "  --strict           exit status 1 unless all points were reached\n"
    "  --no-checks        on a GPU: not on softgpu too\n"
    "  --slow N           under a checker: deadlines N times as long, no timing\n"
    "  --rounds N         measure a timing that decides nothing N times at most (default 4)\n"
    "  --own              link exercises with the submission's own earlier ones\n"
    "  --jobs N           so many exercises at a time, timings alone (default on a GPU: one for\n"
    "                     four cores; else 1);\n"
    "                     of the corpus, submissions (default: processors)\n"
    "  --hidden FILE      an instructor's: the seed of a class, and more cases\n"
    "  --reveal           show what is hidden of them\n"
    "  --history FILE     verdicts are added here, and looked up (default: none)\n"
    "  compare: --class FILE  class.json of make class\n"
    "  report: --format F (junit, gradescope, github, summary, csv, html, markdown, grades, "
    "tests)\n"
    "  --output FILE      where the report goes (default standard output),\n"
    "                     or prebuild's libraries\n"
    "  --objects DIR      where the submission is built (default: in the build folder)\n"
    "  --key FILE         the instructor's: grade signs with it, verify checks\n"
    "  verify: --allow-unsigned  without a key, do not miss a signature\n"
    "  --visibility V     who sees Gradescope's tests when\n";

static const struct option names[] = {{"submission", required_argument, NULL, 'd'},
                                      {"backend", required_argument, NULL, 'b'},
                                      {"exercise", required_argument, NULL, 'e'},
                                      {"phase", required_argument, NULL, 'p'},
                                      {"all", no_argument, NULL, 'a'},
                                      {"case", required_argument, NULL, 'c'},
                                      {"seed", required_argument, NULL, 's'},
                                      {"shape", required_argument, NULL, 'S'},
                                      {"block", required_argument, NULL, 'x'},
                                      {"warp", required_argument, NULL, 'w'},
                                      {"results", required_argument, NULL, 'r'},
                                      {"fresh", no_argument, NULL, 'f'},
                                      {"strict", no_argument, NULL, 't'},
                                      {"own", no_argument, NULL, 'o'},
                                      {"no-checks", no_argument, NULL, 'n'},
                                      {"slow", required_argument, NULL, 'l'},
                                      {"jobs", required_argument, NULL, 'j'},
                                      {"rounds", required_argument, NULL, 'N'},
                                      {"format", required_argument, NULL, 'F'},
                                      {"output", required_argument, NULL, 'O'},
                                      {"history", required_argument, NULL, 'H'},
                                      {"hidden", required_argument, NULL, 'i'},
                                      {"reveal", no_argument, NULL, 'R'},
                                      {"visibility", required_argument, NULL, 'V'},
                                      {"class", required_argument, NULL, 'C'},
                                      {"objects", required_argument, NULL, 'B'},
                                      {"key", required_argument, NULL, 'k'},
                                      {"allow-unsigned", no_argument, NULL, 'u'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static bool set_backend(options *o, const char *name)
{
    o->backend = strcmp(name, "cuda") == 0 ? BACKEND_CUDA : BACKEND_CPU;
    if (o->backend == BACKEND_CUDA || strcmp(name, "cpu") == 0) return true;
    fprintf(stderr, "grader: the backend is cpu or cuda, not \"%s\"\n", name);
    return false;
}

static bool set_number(unsigned long long *to, const char *name, const char *text)
{
    char *end;
    *to = strtoull(text, &end, 0);
    if (*text && !*end) return true;
    fprintf(stderr, "grader: %s takes a number, not \"%s\"\n", name, text);
    return false;
}

static bool set_block(options *o, const char *text)
{
    unsigned xyz[3];
    int end = 0;
    o->block = text;
    if (sscanf(text, "%u,%u,%u%n", &xyz[0], &xyz[1], &xyz[2], &end) == 3 && !text[end]) return true;
    fprintf(stderr, "grader: --block takes three numbers such as 0,0,0, not \"%s\"\n", text);
    return false;
}

static bool set_option(options *o, int letter)
{
    unsigned long long number = 0;
    switch (letter) {
    case 'd':
        o->submission_given = true;
        o->submission = optarg;
        return true;
    case 'b': return set_backend(o, optarg);
    case 'e': o->exercises = optarg; return true;
    case 'p':
        if (!set_number(&number, "--phase", optarg)) return false;
        o->phase = (int)number;
        return true;
    case 'a': o->all = true; return true;
    case 'c': o->case_name = optarg; return true;
    case 'S': o->shape = optarg; return true;
    case 's': o->seed_given = true; return set_number(&o->seed, "--seed", optarg);
    case 'x': return set_block(o, optarg);
    case 'w':
        if (!set_number(&number, "--warp", optarg)) return false;
        o->warp = (int)number;
        return true;
    case 'r': o->results = optarg; return true;
    case 'F': o->format = optarg; return true;
    case 'O': o->output = optarg; return true;
    case 'H': o->history = optarg; return true;
    case 'C': o->class_results = optarg; return true;
    case 'i': o->hidden = optarg; return true;
    case 'R': o->reveal = true; return true;
    case 'V': o->visibility = optarg; return true;
    case 'B': o->objects = optarg; return true;
    case 'k': o->key = optarg; return true;
    case 'u': o->allow_unsigned = true; return true;
    case 'l':
        if (!set_number(&number, "--slow", optarg)) return false;
        o->slow = (double)number;
        return true;
    case 'j':
        if (!set_number(&number, "--jobs", optarg)) return false;
        o->jobs = (int)number;
        return true;
    case 'N':
        if (!set_number(&number, "--rounds", optarg)) return false;
        o->rounds = (int)number;
        return true;
    case 'f': o->fresh = true; return true;
    case 't': o->strict = true; return true;
    case 'o': o->own = true; return true;
    case 'n': o->without_checks = true; return true;
    default: fputs(usage, letter == 'h' ? stdout : stderr); return false;
    }
}

/* By its number or its name. */
static const exercise *find_word(const char *word, size_t length)
{
    char *end;
    const int id = id_parse(word, &end);
    if (length > 0 && end == word + length) return catalog_find(id);
    for (const exercise *const *e = catalog(); *e; e++) {
        if (strlen((*e)->name) == length && !strncmp((*e)->name, word, length)) return *e;
    }
    return NULL;
}

/* Every word of --exercise names an exercise that exists: from here on they are numbers. */
static bool read_exercises(options *o)
{
    static char ids[4096];
    size_t used = 0;
    ids[0] = '\0';
    for (const char *at = o->exercises; at && *at; at += strspn(at, " ,")) {
        const size_t length = strcspn(at, " ,");
        const exercise *e = find_word(at, length);
        if (!e || used + 16 > sizeof ids) {
            fprintf(stderr, "grader: there is no exercise \"%.*s\"; there are", (int)length, at);
            for (const exercise *const *one = catalog(); *one; one++)
                fprintf(stderr, " %s", id_words((*one)->id));
            fprintf(stderr, " (make progress has their names)\n");
            return false;
        }
        used += (size_t)snprintf(ids + used, sizeof ids - used, "%s%s", used ? " " : "",
                                 id_words(e->id));
        at += length;
    }
    if (o->exercises) o->exercises = ids;
    return true;
}

static bool phase_exists(const options *o)
{
    int last = 0;
    for (const exercise *const *e = catalog(); *e; e++) {
        const int phase = id_phase((*e)->id);
        if (!o->phase || phase == o->phase) return true;
        if (phase > last) last = phase;
    }
    fprintf(stderr, "grader: there is no phase %d; there are 1 to %d\n", o->phase, last);
    return false;
}

/* How many letters they begin with alike. */
static int likeness(const char *a, const char *b)
{
    int n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

/* The cases of an exercise, those first that begin like the name. */
static void list_cases(const exercise *e, const char *name)
{
    fprintf(stderr, "grader: %s has no case '%s'; it has", id_words(e->id), name);
    for (int alike = (int)strlen(name); alike >= 0; alike--) {
        for (const grading_case *c = e->cases; c->name; c++) {
            if (c->line == 0 && likeness(c->name, name) == alike) fprintf(stderr, " '%s'", c->name);
        }
    }
    fprintf(stderr, "\n");
}

bool options_case_exists(const options *o)
{
    for (const exercise *const *e = catalog(); *e && o->case_name; e++) {
        for (const grading_case *c = (*e)->cases; options_want(o, *e) && c->name; c++) {
            if (strcmp(c->name, o->case_name) == 0) return true;
        }
    }
    for (const exercise *const *e = catalog(); *e && o->case_name; e++) {
        if (options_want(o, *e)) list_cases(*e, o->case_name);
    }
    return !o->case_name;
}

/* Compilers and workers run in folders of their own: they need whole paths. */
static const char *absolute(char whole[PATH_MAX], const char *given, const char *otherwise)
{
    const char *path = given && *given ? given : otherwise;
    return realpath(path, whole) ? whole : path;
}

static bool set_isolation(options *o, const char *wish)
{
    if (!wish || !*wish || strcmp(wish, "best") == 0) return true;
    o->isolation = strcmp(wish, "off") == 0 ? ISOLATION_OFF : ISOLATION_REQUIRED;
    if (o->isolation == ISOLATION_OFF || strcmp(wish, "required") == 0) return true;
    fprintf(stderr, "grader: ISOLATION is best, required or off, not \"%s\"\n", wish);
    return false;
}

bool options_parse(options *o, int argc, char **argv)
{
    static char root[PATH_MAX], build[PATH_MAX]; /* there is one command line */
    *o = (options){.submission = ".", .results = "results/results.json"};
    if (!set_isolation(o, getenv("ISOLATION"))) return false;
    o->root = absolute(root, getenv("COURSE_ROOT"), ".");
    o->build = absolute(build, getenv("COURSE_BUILD"), "build");
    for (int letter; (letter = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (!set_option(o, letter)) return false;
    }
    if (optind >= argc) {
        fputs(usage, stderr);
        return false;
    }
    o->command = argv[optind];
    if (optind + 1 < argc) o->exercises = argv[optind + 1];
    return read_exercises(o) && phase_exists(o);
}

bool options_want(const options *o, const exercise *e)
{
    char *end;
    if (o->phase && id_phase(e->id) != o->phase) return false;
    if (!o->exercises || !*o->exercises) return true;
    for (const char *at = o->exercises; *at; at = end) {
        if (id_parse(at, &end) == e->id) return true;
        while (*end == ' ' || *end == ',') end++;
    }
    return false;
}
