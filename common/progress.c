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

static void draw_bar(const progress *bar, long done)
{
    long filled = bar->total > 0 ? done * BAR_WIDTH / bar->total : 0;
    printf("\r\033[K%s [%s", bar->title, bar->colour ? "\033[32m" : "");
    for (long i = 0; i < BAR_WIDTH; i++) putchar(i < filled ? '#' : '.');
    printf("%s] ", bar->colour ? "\033[0m" : "");
}

void progress_step(progress *bar, long done, const char *format, ...)
{
    double now = seconds_now();
    if (now - bar->printed < (bar->terminal ? REDRAW_INTERVAL : LOG_INTERVAL)) return;
    bar->printed = now;

    if (bar->terminal)
        draw_bar(bar, done);
    else
        printf("%s: %ld of %ld, ", bar->title, done, bar->total);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    if (!bar->terminal) putchar('\n');
    fflush(stdout);
}

void progress_end(progress *bar, const char *format, ...)
{
    printf("%s%s: ", bar->terminal ? "\r\033[K" : "", bar->title);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf(" (%.1f s)\n", seconds_now() - bar->started);
    fflush(stdout);
}
