/* hashed_answer.c: a line of answers against its hash. */
#include "exercises/shared/answers/hashed_answer.h"

#include "correctness/case.h"

#include <stdio.h>
#include <string.h>

#define DIGITS_OF_HASH 12

bool is_hashed_answer(const char *key, const char *said, const char *hashed)
{
    char text[256], hex[HASH_HEX];
    const int length = snprintf(text, sizeof text, "%s = %s", key, said);
    hash *h = hash_begin();
    hash_bytes(h, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    hash_end(h, hex);
    return hashed && strncmp(hex, hashed, DIGITS_OF_HASH) == 0;
}
