/* tests.h: the tests of `make class`; each suite under the name of its file. */
#ifndef CLASS_TESTS_H
#define CLASS_TESTS_H

#include "grader/tests.h"

#include "class/class.h"

Suite *suite_unpack(void);       /* test_unpack.c */
Suite *suite_gradebook(void);    /* test_gradebook.c */
Suite *suite_resume(void);       /* test_resume.c */
Suite *suite_changes(void);      /* test_changes.c */
Suite *suite_key(void);          /* test_key.c */
Suite *suite_leaderboard(void);  /* test_leaderboard.c */
Suite *suite_slurm(void);        /* test_slurm.c */
Suite *suite_progress(void);     /* test_progress.c */
Suite *suite_distribution(void); /* test_distribution.c */
Suite *suite_feedback(void);     /* test_feedback.c */
Suite *suite_similar(void);      /* test_similar.c */

/* course.c: a class with a fake grader; class_set_up() and class_tear_down() are a fixture. */
extern char in[96], out[96], fake_folder[64];
extern class_options run;
void class_set_up(void), class_tear_down(void);
void hand_in(const char *student, const char *content);
void hand_in_all(int students);
/** Tell the fake grader: verdict or machine. */
void behave(const char *what, const char *how);
pid_t start_run(void);
/** How many lines of the fake grader's log begin so; how many results there are. */
int lines(const char *begin);
int results(void);
bool report_has(const char *report, const char *words);

#endif
