/*
 * progress.c: how much is done, and how long the rest may take, with a margin: the spread of the
 * times so far says how well they predict the others.
 */
#include "gradings.h"

#include "timer.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/*
 * Each of the n left takes m seconds, give or take d; m itself is known from k only. Their sum is
 * n m, give or take d sqrt(n + n n / k), of which two are taken; at_once of them go at a time, of
 * which those at work are half done. Of one that is done nobody knows d: it is taken for m.
 */
void time_left(const progress *p, char text[64])
{
    const double k = (double)p->done, mean = p->seconds / k, undone = (double)(p->all - p->done);
    const double n = undone - 0.5 * fmin((double)p->at_work, undone);
    if (p->done == 0) {
        snprintf(text, 64, "too early to say how long");
        return;
    }
    const double spread =
        p->done == 1 ? mean : sqrt(fmax(0, p->squares / k - mean * mean) * k / (k - 1));
    const double at_once = fmax(1, fmin((double)p->at_once, undone));
    const double give = 2 * spread * sqrt(n + n * n / k) / at_once, middle = n * mean / at_once;
    const double unit = middle < 90 ? 1 : 60;
    char more[32] = "";
    if (give >= unit / 2) snprintf(more, sizeof more, " ± %.0f", round(give / unit));
    snprintf(text, 64, "%.0f%s %s left", ceil(middle / unit), more, unit == 1 ? "s" : "min");
}

static void clear_line(void)
{
    if (isatty(STDOUT_FILENO)) printf("\r\033[K");
}

/* What the grader said last of itself. */
static void print_reason(const char *log)
{
    char line[512], reason[512] = "";
    FILE *file = fopen(log, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "grader: ", 8) == 0) strcpy(reason, line);
    }
    if (file) fclose(file);
    reason[strcspn(reason, "\n")] = '\0';
    if (*reason) printf("         %s\n", reason);
}

void progress_done(progress *p, const class_options *o, const submission *s, double seconds)
{
    char left[64], verdict[64];
    p->done++;
    p->seconds += seconds;
    p->squares += seconds * seconds;
    snprintf(verdict, sizeof verdict, "%.1f of %.1f points", real_of(s->results, "points"),
             real_of(s->results, "max_points"));
    time_left(p, left);
    clear_line();
    printf("  %4zu of %zu  %-24s %s, %.0f s; %s\n", p->done, p->all, s->student,
           s->failed ? "the grader failed" : verdict, seconds, p->done < p->all ? left : "done");
    if (s->failed) {
        print_reason(graded_path(o, s, ".log"));
        printf("         see %s; the next make class tries again\n", graded_path(o, s, ".log"));
    }
    fflush(stdout);
}

void progress_show(progress *p)
{
    char left[64];
    const double now = seconds_now();
    if (!isatty(STDOUT_FILENO) || now - p->shown < 1) return;
    p->shown = now;
    time_left(p, left);
    clear_line();
    printf("  %4zu of %zu  %zu at work, for %.0f s; %s", p->done, p->all, p->at_work,
           now - p->began, left);
    fflush(stdout);
}
