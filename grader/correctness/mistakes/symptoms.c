/* symptoms.c: the likely mistake behind what softgpu, a canary or a guard page has found. */
#include "mistakes.h"

#include <string.h>

static const struct {
    const char *parts[2]; /* both are in the finding */
    const char *words;
} symptoms[] = {
    {{"stream race", "neither waits for the other"},
     "; an event is missing: one stream must wait for the other"},
    {{"overwrites what", " wrote at"},
     "; several threads write to one place: one must do it, or they add with atomics"},
    {{"overwrites what", " with no __sync"},
     "; a barrier is missing after reading, before the next round writes (the second of a loop)"},
    {{"reads what", " with no __sync"},
     "; a barrier is missing after writing, before others read (the first of a loop)"},
    {{"shared memory that nothing", "has written"},
     "; read before it was written: a barrier is missing, or what lies outside was not set to 0"},
    {{"that nothing has written", ""},
     "; a += to what nobody has set to 0, or a kernel before it that leaves a tail out"},
    {{"out of bounds", "past the end of"},
     "; a guard is missing, or does not cover the tail: if (i < n)"},
    {{"wrote outside of", "past its end"}, "; a guard is missing: if (i < n)"},
    {{"segmentation fault", "past the end of"}, "; a loop goes too far, or a wrong stride"},
};

#define ROWS (sizeof symptoms / sizeof *symptoms)

const char *symptom_name(const char *finding)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strstr(finding, symptoms[i].parts[0]) && strstr(finding, symptoms[i].parts[1])) {
            return symptoms[i].words;
        }
    }
    return "";
}

const char *symptom_words(size_t i)
{
    return i < ROWS ? symptoms[i].words : NULL;
}
