/*
 * progress.h: how far a long run is, on stdout.
 *
 *   progress bar = progress_begin("epoch 1/5", batches);
 *   for (...) progress_step(&bar, done, "loss %.4f", loss);
 *   progress_end(&bar, "loss %.4f, accuracy %.2f %%", loss, 100 * accuracy);
 *
 * On a terminal one line redraws itself (no colours where NO_COLOR is set). Elsewhere, in a log,
 * there is a plain line now and then. Either way the line of progress_end stays. Call
 * progress_step as often as you like: it prints only when enough time has passed.
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
    double printed;    /* and at the last line printed */
    int terminal;      /* what it is printed on is one */
    int quiet;         /* on stderr, and only there */
    int colour;
} progress;

progress progress_begin(const char *title, long total);
/** As progress_begin, for a program whose stdout another one reads: on stderr, only if that is a
 *  terminal, and nothing stays. */
progress progress_begin_quiet(const char *title, long total);
/** `done` of the total steps are over; `format` and the rest, as for printf, say what came out. */
void progress_step(progress *bar, long done, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Print the last line, with the seconds that it all took. */
void progress_end(progress *bar, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
