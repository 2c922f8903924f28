/* main.c: the command line of `make class`. What follows "--" is the grader's. */
#include "class/class.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
    "usage: class --submissions DIR [options] -- GRADER grade [its options]\n"
    "  --out DIR         where gradebook, page and results go (default results/class)\n"
    "  --settings FILE   weights and late penalties (class.ini)\n"
    "  --jobs N          submissions that are graded at once (default: half of the processors)\n";

static const struct option names[] = {{"submissions", required_argument, NULL, 's'},
                                      {"out", required_argument, NULL, 'o'},
                                      {"settings", required_argument, NULL, 'i'},
                                      {"jobs", required_argument, NULL, 'j'},
                                      {NULL, 0, NULL, 0}};

static bool set_option(class_options *o, int letter)
{
    switch (letter) {
    case 's': o->submissions = optarg; return true;
    case 'o': o->out = optarg; return true;
    case 'i': o->settings = optarg; return true;
    case 'j': return (o->jobs = atoi(optarg)) > 0;
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

int main(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    class_options o = {.out = "results/class", .jobs = processors > 3 ? (int)(processors / 2) : 1};
    bool good = true;
    for (int letter; good && (letter = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
        good = set_option(&o, letter);
    }
    if (!good || !o.submissions || optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    const char *build = getenv("COURSE_BUILD");
    o.build = build ? build : "build";
    o.out = absolute(o.out);
    o.submissions = absolute(o.submissions);
    o.grader = (const char *const *)argv + optind;
    return class_run(&o);
}
