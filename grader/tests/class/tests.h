/* tests.h: the tests of `make class`; each suite under the name of its file. */
#ifndef CLASS_TESTS_H
#define CLASS_TESTS_H

#include <check.h>
#undef fail

#include "class/class.h"

Suite *suite_unpack(void);    /* test_unpack.c */
Suite *suite_gradebook(void); /* test_gradebook.c */
Suite *suite_resume(void);    /* test_resume.c */

#endif
