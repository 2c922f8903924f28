/*
 * hashed_answer.h: answers that whoever reads a case file shall not read there.
 */
#ifndef GRADER_HASHED_ANSWER_H
#define GRADER_HASHED_ANSWER_H

#include <stdbool.h>

/** @param hashed the first 12 digits of the SHA-256 of the line, as
 *                printf 'rotate_groups_line = 1' | sha256sum has them; or NULL: it is none */
bool is_hashed_answer(const char *key, const char *said, const char *hashed);

#endif
