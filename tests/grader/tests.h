/* tests.h: every suite of the grader's own tests, under the name of its file. */
#ifndef GRADER_TESTS_H
#define GRADER_TESTS_H

#include <check.h>
#undef fail /* Check's old name for ck_abort; the grader's is in case.h */

Suite *suite_compare(void);    /* test_compare.c */
Suite *suite_pattern(void);    /* test_pattern.c */
Suite *suite_process(void);    /* test_process.c */
Suite *suite_terminal(void);   /* test_terminal.c */
Suite *suite_options(void);    /* test_options.c */
Suite *suite_score(void);      /* test_score.c */
Suite *suite_checks(void);     /* test_checks.c */
Suite *suite_submission(void); /* test_submission.c */
Suite *suite_traffic(void);    /* test_traffic.c: traffic, counts */
Suite *suite_catalog(void);    /* test_catalog.c */
Suite *suite_idx(void);        /* test_idx.c */
Suite *suite_history(void);    /* test_history.c */
Suite *suite_loop(void);       /* test_loop.c: student/progress, student/findings */
Suite *suite_digits(void);     /* test_digits.c */
Suite *suite_random(void);     /* test_random.c */
Suite *
suite_resnet18(void);      /* test_resnet18.c: common/resnet18_layout, weights, resnet18_weights */
Suite *suite_gpt(void);    /* test_gpt.c */
Suite *suite_resnet(void); /* test_resnet_cases.c */
Suite *suite_sizes(void);  /* test_sizes.c */
Suite *suite_hidden(void); /* test_hidden.c */
Suite *suite_views(void);  /* test_views.c: the formats of views/ */
Suite *suite_gradescope(void);     /* test_gradescope.c: views/gradescope and its specification */
Suite *suite_schema(void);         /* test_schema.c: views/schema, escape, locate */
Suite *suite_verify(void);         /* test_verify.c: sign, verify */
Suite *suite_speed(void);          /* test_speed.c */
Suite *suite_usage(void);          /* test_usage.c */
Suite *suite_wall_clock(void);     /* test_wall_clock.c: timings by the wall clock */
Suite *suite_noisy(void);          /* test_noisy.c */
Suite *suite_files(void);          /* test_files.c: hash, origin, hint, device, common/ */
Suite *suite_build(void);          /* test_build.c: build, compiler, libraries */
Suite *suite_several(void);        /* test_several.c: grade/several, grade/checker */
Suite *suite_prebuilt(void);       /* test_prebuilt.c */
Suite *suite_judge(void);          /* test_judge.c: run, judge, inputs, reference */
Suite *suite_results(void);        /* test_results.c: results, report, cache */
Suite *suite_element(void);        /* test_element.c */
Suite *suite_kinds(void);          /* test_kinds.c: every kind of argument, on a device */
Suite *suite_worker(void);         /* test_worker.c: channel, argument, call */
Suite *suite_calls(void);          /* test_calls.c: worker/calls */
Suite *suite_promises(void);       /* test_promises.c: promises, failures */
Suite *suite_device_process(void); /* test_device_process.c: device_process, account */
Suite *suite_parallel(void);       /* test_parallel.c */
Suite *suite_sandbox(void);        /* test_sandbox.c */
Suite *suite_gpu(void);            /* test_gpu.c */
Suite *suite_file(void);           /* test_file.c: call/file, worker/reads */
Suite *suite_answers(void);        /* test_answers.c: correctness/answers, course/answers */
Suite *suite_python(void);         /* test_python.c: worker/python */
Suite *suite_threads(void);        /* test_threads.c */
Suite *suite_claims(void);         /* test_expectations.c */
Suite *suite_compare_runs(void);   /* test_compare_runs.c */

Suite *suite_corpus(void); /* test_corpus.c */

/* ---- made.c: what tests make ----------------------------------------------------------------- */

/** The text becomes the file of this name, in folders that are made if need be. */
void write_text(const char *text, const char *path, ...) __attribute__((format(printf, 2, 3)));
/** C becomes folder/made.so. */
void make_library(const char *folder, const char *source);
#endif
