/* main.c: the command line of `make class`. What follows "--" is the grader's. */
#include "class.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: class --submissions DIR [options] -- GRADER grade [its options]\n"
    "  --out DIR         where gradebook, page and results go (default results/class)\n"
    "  --settings FILE   weights, due dates and late penalties (class.ini)\n"
    "  --format F        write OUT/F.csv too, for import: moodle or canvas\n"
    "  --jobs N          submissions that are graded at once (default: half of the processors,\n"
    "                    or two a GPU)\n"
    "  --gpus LIST       GPUs to share out among them: 0,1\n"
    "  --rerun           grade everything anew, and say which verdicts changed\n"
    "  --scheduler S     local, or slurm: an array of jobs\n"
    "  --task N --list FILE --generation G   what slurm.c asks of a task\n";

static const struct option names[] = {{"submissions", required_argument, NULL, 's'},
                                      {"out", required_argument, NULL, 'o'},
                                      {"settings", required_argument, NULL, 'i'},
                                      {"format", required_argument, NULL, 'f'},
                                      {"jobs", required_argument, NULL, 'j'},
                                      {"gpus", required_argument, NULL, 'g'},
                                      {"rerun", no_argument, NULL, 'r'},
                                      {"scheduler", required_argument, NULL, 'c'},
                                      {"task", required_argument, NULL, 't'},
                                      {"list", required_argument, NULL, 'l'},
                                      {"generation", required_argument, NULL, 'n'},
                                      {NULL, 0, NULL, 0}};

typedef struct command_line {
    class_options options;
    const char *list; /* of a task */
    long task;        /* -1: none */
} command_line;

static bool set_scheduler(class_options *o, const char *name)
{
    o->slurm = strcmp(name, "slurm") == 0;
    if (o->slurm || strcmp(name, "local") == 0) return true;
    fprintf(stderr, "class: the scheduler is local or slurm, not \"%s\"\n", name);
    return false;
}

static bool set_format(class_options *o, const char *name)
{
    o->format = name;
    if (strcmp(name, "moodle") == 0 || strcmp(name, "canvas") == 0) return true;
    fprintf(stderr, "class: the format of a gradebook is moodle or canvas, not \"%s\"\n", name);
    return false;
}

static bool set_option(command_line *c, int letter)
{
    class_options *o = &c->options;
    switch (letter) {
    case 's': o->submissions = optarg; return true;
    case 'o': o->out = optarg; return true;
    case 'i': o->settings = optarg; return true;
    case 'f': return set_format(o, optarg);
    case 'j': return (o->jobs = atoi(optarg)) > 0;
    case 'g': o->gpus = optarg; return true;
    case 'r': o->rerun = true; return true;
    case 'c': return set_scheduler(o, optarg);
    case 't': c->task = atol(optarg); return true;
    case 'l': c->list = optarg; return true;
    case 'n': o->generation = atoi(optarg); return true;
    default: return false;
    }
}

/* The graders work in other folders: they need whole paths. */
static const char *absolute(const char *path)
{
    char *whole, *here = getcwd(NULL, 0);
    if (*path == '/' || !here || asprintf(&whole, "%s/%s", here, path) < 0) return path;
    return whole;
}

static bool parse(command_line *c, int argc, char **argv)
{
    bool good = true;
    for (int letter; good && (letter = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
        good = set_option(c, letter);
    }
    c->options.grader = (const char *const *)argv + optind;
    return good && optind < argc &&
           (c->task >= 0 ? c->list != NULL : c->options.submissions != NULL);
}

/* On a GPU two for each: one builds while the other measures. Elsewhere half of the processors. */
static int usual_jobs(const class_options *o)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int gpus = 1;
    for (const char *at = o->gpus; at && *at; at++) gpus += *at == ',';
    if (o->gpus && *o->gpus) return 2 * gpus;
    return processors > 3 ? (int)(processors / 2) : 1;
}

/* An exercise that does not exist would be every student's failure. */
static bool grader_understands(const char *const *words)
{
    options o;
    int count = 0;
    while (words[count]) count++;
    char **copy = calloc((size_t)count + 1, sizeof *copy); /* getopt puts them into another order */
    memcpy(copy, words, (size_t)count * sizeof *copy);
    optind = 0; /* from the start again */
    const bool good = options_parse(&o, count, copy);
    free(copy);
    return good;
}

int main(int argc, char **argv)
{
    const char *build = getenv("COURSE_BUILD");
    command_line c = {.task = -1};
    guard_output();
    c.options = (class_options){.out = "results/class", .build = build ? build : "build"};
    if (!parse(&c, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    if (!grader_understands(c.options.grader)) return 2;
    if (c.options.jobs == 0) c.options.jobs = usual_jobs(&c.options);
    c.options.out = absolute(c.options.out);
    if (c.task >= 0) return slurm_task(&c.options, c.list, c.task);
    c.options.submissions = absolute(c.options.submissions);
    return class_run(&c.options);
}
