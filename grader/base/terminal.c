/*
 * terminal.c: output may hold text that a student wrote: a name, a compiler's line, a kernel's
 * output. It must not control the terminal. All output goes through here, and only the grader's own
 * control characters come out: line ends, colours and the line that is overwritten.
 */
#include "base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEQUENCE_MOST = 12 };

typedef struct output {
    int file;
    unsigned char kept[SEQUENCE_MOST]; /* the beginning of what may be a command or a character */
    size_t count;
} output;

static bool put(int file, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t n = write(file, bytes, count);
        if (n <= 0) return false;
        bytes += n, count -= (size_t)n;
    }
    return true;
}

/* A colour, or the rest of the line emptied, from the escape character on? @return 1 yes, -1 not
 * yet */
static int is_ours(const unsigned char *s, size_t count)
{
    if (count > 1 && s[1] != '[') return 0;
    for (size_t i = 2; i < count; i++) {
        if (s[i] == 'm' || s[i] == 'K') return i + 1 == count;
        if (!strchr("0123456789;", s[i])) return 0;
    }
    return count < SEQUENCE_MOST ? -1 : 0;
}

/* Is it whole, and harmless? Commands of one byte are so in UTF-8 as well: two bytes from 0xc2 on.
 */
static int is_harmless(const unsigned char *s, size_t count)
{
    if (s[0] == '\033') return is_ours(s, count);
    if (s[0] == 0xc2) return count < 2 ? -1 : s[1] < 0x80 || s[1] > 0x9f;
    return (s[0] >= ' ' && s[0] != 0x7f) || s[0] == '\n' || s[0] == '\t' || s[0] == '\r';
}

static void take(output *o, unsigned char byte, unsigned char *to, size_t *count)
{
    o->kept[o->count++] = byte;
    const int harmless = is_harmless(o->kept, o->count);
    if (harmless < 0) return;
    if (!harmless) o->kept[0] = '?';
    for (size_t i = 0; i < o->count; i++)
        to[(*count)++] = i > 0 && !harmless && is_harmless(&o->kept[i], 1) <= 0 ? '?' : o->kept[i];
    o->count = 0;
}

static ssize_t write_harmless(void *cookie, const char *bytes, size_t count)
{
    unsigned char *to = malloc(count + SEQUENCE_MOST);
    size_t n = 0;
    for (size_t i = 0; to && i < count; i++) take(cookie, (unsigned char)bytes[i], to, &n);
    const bool written = to && put(((output *)cookie)->file, to, n);
    free(to);
    return written ? (ssize_t)count : 0;
}

static void guard(FILE **stream, output *o, int mode)
{
    fflush(*stream);
    FILE *guarded = fopencookie(o, "w", (cookie_io_functions_t){.write = write_harmless});
    if (!guarded) return;
    setvbuf(guarded, NULL, mode, BUFSIZ);
    *stream = guarded;
}

void guard_output(void)
{
    static output out = {.file = STDOUT_FILENO}, err = {.file = STDERR_FILENO};
    guard(&stdout, &out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    guard(&stderr, &err, _IONBF);
}
