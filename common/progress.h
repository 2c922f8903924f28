/*
 * progress.h: the progress of a long run, on stdout.
 *
 *   progress bar = progress_begin("epoch 1/5", batches);
 *   for (...) progress_step(&bar, done, "loss %.4f", loss);
 *   progress_end(&bar, "loss %.4f, accuracy %.2f %%", loss, 100 * accuracy);
 *
 * On a terminal one line is redrawn (without colours if NO_COLOR is set). Elsewhere, as in a log, a
 * plain line is printed now and then. In both, the line of progress_end stays. Call progress_step
 * as often as you like: it prints only when enough time has passed.
 */
#ifndef COURSE_PROGRESS_H
#define COURSE_PROGRESS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *title; /* the caller's; must live as long as the bar */
    long total;        /* steps of the whole run */
    double started;    /* seconds_now() at the beginning */
    double printed;    /* and when a line was last printed */
    int terminal;      /* the output is a terminal */
    int quiet;         /* print to stderr, and only if it is a terminal */
    int colour;
} progress;

progress progress_begin(const char *title, long total);
/** As progress_begin, for a program whose stdout another program reads: it prints to stderr, only
 *  if that is a terminal, and no line stays. */
progress progress_begin_quiet(const char *title, long total);
/** `done` of the total steps are over; `format` and the rest, as for printf, are the results. */
void progress_step(progress *bar, long done, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Print the last line, with the seconds of the whole run. */
void progress_end(progress *bar, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
