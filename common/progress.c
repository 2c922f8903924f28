#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include "timer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BAR_WIDTH 24 /* characters */

/* Seconds between two lines. */
#define REDRAW_INTERVAL 0.1
#define LOG_INTERVAL    10.0

progress progress_begin(const char *title, long total)
{
    const char *no_color = getenv("NO_COLOR");
    double now = seconds_now();
    progress bar = {
        .title = title, .total = total, .started = now, .printed = now, .terminal = isatty(1)};
    bar.colour = bar.terminal && (no_color == NULL || no_color[0] == '\0');
    return bar;
}

progress progress_begin_quiet(const char *title, long total)
{
    progress bar = progress_begin(title, total);
    bar.terminal = isatty(2);
    bar.colour = bar.colour && bar.terminal;
    bar.quiet = 1;
    return bar;
}

static FILE *stream_of(const progress *bar)
{
    return bar->quiet ? stderr : stdout;
}

static void draw_bar(const progress *bar, long done)
{
    FILE *out = stream_of(bar);
    long filled = bar->total > 0 ? done * BAR_WIDTH / bar->total : 0;
    fprintf(out, "\r\033[K%s [%s", bar->title, bar->colour ? "\033[32m" : "");
    for (long i = 0; i < BAR_WIDTH; i++) putc(i < filled ? '#' : '.', out);
    fprintf(out, "%s] ", bar->colour ? "\033[0m" : "");
}

void progress_step(progress *bar, long done, const char *format, ...)
{
    double now = seconds_now();
    if (bar->quiet && !bar->terminal) return;
    if (now - bar->printed < (bar->terminal ? REDRAW_INTERVAL : LOG_INTERVAL)) return;
    bar->printed = now;

    if (bar->terminal)
        draw_bar(bar, done);
    else
        printf("%s: %ld of %ld, ", bar->title, done, bar->total);
    va_list args;
    va_start(args, format);
    vfprintf(stream_of(bar), format, args);
    va_end(args);
    if (!bar->terminal) putchar('\n');
    fflush(stream_of(bar));
}

void progress_end(progress *bar, const char *format, ...)
{
    if (bar->quiet) {
        if (bar->terminal) fputs("\r\033[K", stderr);
        return;
    }
    printf("%s%s: ", bar->terminal ? "\r\033[K" : "", bar->title);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf(" (%.1f s)\n", seconds_now() - bar->started);
    fflush(stdout);
}
