/*
 * log.c: the messages of compilers, each once. nvcc prints a message for each architecture that it
 * compiles for, and the host's compiler prints it again; after the first it remarks how warnings
 * are switched off.
 */
#include "compiling.h"

#include <stdlib.h>
#include <string.h>

static bool has(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

static bool is_warning(const char *line)
{
    return has(line, strcspn(line, "\n"), ": warning");
}

static bool is_remark(const char *line)
{
    const size_t length = strcspn(line, "\n");
    return strncmp(line, "Remark: The warnings can be suppressed", 38) == 0 ||
           has(line, length, " warning generated") || has(line, length, " warnings generated");
}

/* From here to the next warning or remark. */
static size_t block_at(const char *at)
{
    size_t n = 0;
    do {
        n += strcspn(at + n, "\n");
        n += at[n] == '\n';
    } while (at[n] && !is_warning(at + n) && !is_remark(at + n));
    return n;
}

/* Of "FILE:3:13: warning", did nvcc warn of that line? It writes "FILE(3): warning". */
static bool nvcc_has_it(const char *said, size_t length, const char *line)
{
    char words[512];
    const char *colon = strchr(line, ':');
    const long number = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (number <= 0) return false;
    snprintf(words, sizeof words, "%.*s(%ld): warning", (int)(colon - line), line, number);
    return has(said, length, words);
}

static bool is_known(const char *said, size_t length, const char *block, size_t n)
{
    while (n > 0 && block[n - 1] == '\n') n--;
    return is_warning(block) &&
           (memmem(said, length, block, n) || nvcc_has_it(said, length, block));
}

void log_once(char *log)
{
    char *to = log;
    for (size_t n, at = 0; log[at]; at += n) {
        n = block_at(log + at);
        if (is_remark(log + at) || is_known(log, (size_t)(to - log), log + at, n)) continue;
        memmove(to, log + at, n);
        to += n;
    }
    *to = '\0';
}
