/* progress.c: one line that shows the work in progress; on a terminal it is overwritten. */
#include "base.h"

#include <stdarg.h>
#include <unistd.h>

bool on_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

void report_progress(const char *format, ...)
{
    char line[100];
    va_list arguments;
    if (!on_terminal()) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    printf("\r\033[K%.78s", line);
    fflush(stdout);
}
