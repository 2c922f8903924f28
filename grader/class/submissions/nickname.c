/*
 * nickname.c: a student who puts a file leaderboard.txt with a nickname next to phase1_cpu appears
 * under this name on the leaderboard; no other student appears.
 */
#include "submissions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#define FILE_MOST 1024 /* bytes */

/* Letters and digits of any language; nothing that could turn, hide or stack up text. */
static const char *wrong_nickname(const char *text)
{
    size_t characters = 0;
    mbstate_t state = {0};
    while (*text) {
        wchar_t c;
        const size_t bytes = mbrtowc(&c, text, strlen(text), &state);
        if (bytes == (size_t)-1 || bytes == (size_t)-2) return "is not UTF-8";
        if (!iswalnum((wint_t)c) && !wcschr(L" ._-'", c)) {
            return "may hold letters, digits, blanks and . _ - ' only";
        }
        if (++characters > NICKNAME_MOST) return "has more than 24 characters";
        text += bytes;
    }
    return characters == 0 ? "is empty" : NULL;
}

static void take_nickname(submission *s, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n > 0 && strchr(" \t", line[n - 1]);) line[--n] = '\0';
    const char *wrong = wrong_nickname(line);
    if (wrong) {
        snprintf(s->note, sizeof s->note, "leaderboard.txt %s", wrong);
    } else {
        snprintf(s->nickname, sizeof s->nickname, "%s", line);
    }
}

void nickname_read(const char *folder, const char *file, submission *s)
{
    char copy[PATH_MAX], line[FILE_MOST + 1] = "";
    time_t ignored = 0;
    snprintf(copy, sizeof copy, "%s/leaderboard.txt", s->folder);
    const int error = copy_plain(folder, file, copy, FILE_MOST, &ignored);
    if (error == ENOENT) return;
    FILE *written = error == 0 ? fopen(copy, "r") : NULL;
    if (written && fgets(line, sizeof line, written)) {
        take_nickname(s, line);
    } else {
        snprintf(s->note, sizeof s->note, "leaderboard.txt cannot be read, or is too large");
    }
    if (written) fclose(written);
    unlink(copy);
}

/* "ace", "ace (2)": no nickname has brackets of its own. */
void number_nicknames(submission *all, size_t count)
{
    for (size_t i = count; i-- > 1;) {
        int same = 1;
        for (size_t j = 0; j < i; j++) same += strcmp(all[i].nickname, all[j].nickname) == 0;
        const size_t n = strlen(all[i].nickname);
        if (n > 0 && same > 1) {
            snprintf(all[i].nickname + n, sizeof all[i].nickname - n, " (%d)", same);
        }
    }
}
