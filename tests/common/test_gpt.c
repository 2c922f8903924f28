/* test_gpt.c: where a GPT's parameters lie (common/gpt_layout.c). */
#include "grader/tests.h"

#include "gpt_layout.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const gpt_config gpt2 = {50257, 1024, 12, 12, 768};

START_TEST(test_gpt2_has_as_many_as_it_is_known_for)
{
    ck_assert_uint_eq(gpt_params(&gpt2), 124439808);
    ck_assert_int_eq(gpt_arrays(&gpt2), 2 + 12 * 12 + 2);
}
END_TEST

/* Array behind array, and the list and the structs agree. */
START_TEST(test_arrays_have_no_gaps)
{
    const gpt_config c = {11, 7, 3, 2, 6};
    size_t at = 0;
    for (int i = 0; i < gpt_arrays(&c); i++) {
        const gpt_array a = gpt_array_at(&c, i);
        ck_assert_uint_eq(a.begin, at);
        at += a.rows * a.cols;
    }
    ck_assert_uint_eq(at, gpt_params(&c));
    for (int layer = 0; layer < c.layers; layer++) {
        const gpt_layer l = gpt_layer_at(&c, layer);
        ck_assert_uint_eq(l.ln1_w, gpt_array_at(&c, 2 + 12 * layer).begin);
        ck_assert_uint_eq(l.qkv_w, gpt_array_at(&c, 4 + 12 * layer).begin);
        ck_assert_uint_eq(l.fcproj_b, gpt_array_at(&c, 13 + 12 * layer).begin);
    }
    ck_assert_str_eq(gpt_array_at(&c, 4 + 12).name, "1.qkv_w");
    ck_assert_uint_eq(gpt_array_at(&c, 4).rows, 18);
    ck_assert_uint_eq(gpt_wpe(&c), 66);
    ck_assert_uint_eq(gpt_lnf_b(&c), gpt_params(&c) - 6);
}
END_TEST

START_TEST(test_heads_divide_channels)
{
    ck_assert(gpt_config_is_valid(&gpt2));
    ck_assert(!gpt_config_is_valid(&(gpt_config){5, 4, 1, 2, 3}));
    ck_assert(!gpt_config_is_valid(&(gpt_config){5, 0, 1, 1, 3}));
}
END_TEST

/* Normalizations begin as 1 and 0, matrices small, those that add to x smaller. */
START_TEST(test_init)
{
    const gpt_config c = {64, 32, 2, 2, 32};
    float *params = malloc(gpt_params(&c) * sizeof *params);
    gpt_init(params, &c, 5);
    for (int i = 0; i < gpt_arrays(&c); i++) {
        const gpt_array a = gpt_array_at(&c, i);
        const bool one = i >= 2 && ((i - 2) % 12 == 0 || (i - 2) % 12 == 6);
        const bool adds = i >= 2 && ((i - 2) % 12 == 4 || (i - 2) % 12 == 10);
        double squares = 0.0;
        for (size_t k = 0; k < a.rows * a.cols; k++) {
            const float p = params[a.begin + k];
            squares += (double)p * p;
            if (!a.matrix) ck_assert(p == (one ? 1.0f : 0.0f));
        }
        const double deviation = sqrt(squares / (double)(a.rows * a.cols));
        if (a.matrix) ck_assert_double_eq_tol(deviation, adds ? 0.01 : 0.02, 0.002);
    }
    free(params);
}
END_TEST

/* Not ln 50257 = 10.825: the logits of a new network are not all 0. */
START_TEST(test_first_loss)
{
    ck_assert_double_eq_tol(gpt_first_loss(&gpt2), 10.9785, 1e-4);
}
END_TEST

Suite *suite_gpt(void)
{
    Suite *suite = suite_create("gpt");
    TCase *tests = tcase_create("gpt");
    tcase_add_test(tests, test_gpt2_has_as_many_as_it_is_known_for);
    tcase_add_test(tests, test_arrays_have_no_gaps);
    tcase_add_test(tests, test_heads_divide_channels);
    tcase_add_test(tests, test_init);
    tcase_add_test(tests, test_first_loss);
    suite_add_tcase(suite, tests);
    return suite;
}
