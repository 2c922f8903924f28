#include "random.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* The first numbers of SplitMix64 with seed 1234567, as its authors publish them. */
START_TEST(test_is_splitmix64)
{
    random_state rng = random_seed(1234567);
    ck_assert_uint_eq(random_u64(&rng), 6457827717110365317u);
    ck_assert_uint_eq(random_u64(&rng), 3203168211198807973u);
    ck_assert_uint_eq(random_u64(&rng), 9817491932198370423u);
}
END_TEST

START_TEST(test_same_seed_same_numbers)
{
    random_state a = random_seed(7), b = random_seed(7), c = random_seed(8);
    uint64_t first = random_u64(&a);
    ck_assert_uint_eq(first, random_u64(&b));
    ck_assert_uint_ne(first, random_u64(&c));
}
END_TEST

START_TEST(test_below_is_even)
{
    random_state rng = random_seed(1);
    int counts[6] = {0};
    for (int i = 0; i < 60000; i++) {
        uint64_t n = random_below(&rng, 6);
        ck_assert_uint_lt(n, 6);
        counts[n]++;
    }
    for (int i = 0; i < 6; i++) ck_assert_int_le(abs(counts[i] - 10000), 500); /* 5 deviations */
    ck_assert_uint_eq(random_below(&rng, 1), 0);
}
END_TEST

/* Two thirds of 2^64: with `bits % n` alone the lower half would come twice as often. */
START_TEST(test_below_is_unbiased_for_large_n)
{
    random_state rng = random_seed(2);
    const uint64_t n = 0xaaaaaaaaaaaaaaaa;
    int low = 0;
    for (int i = 0; i < 10000; i++) low += random_below(&rng, n) < n / 2;
    ck_assert_int_le(abs(low - 5000), 250);
}
END_TEST

START_TEST(test_uniform_stays_inside)
{
    random_state rng = random_seed(3);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        float x = random_uniform(&rng, -1, 3);
        ck_assert(x >= -1 && x < 3);
        sum += x;
    }
    ck_assert_double_eq_tol(sum / 100000, 1.0, 0.02);
    /* Between two neighbours there is nothing else than the lower one. */
    for (int i = 0; i < 1000; i++) ck_assert(random_uniform(&rng, 1, nextafterf(1, 2)) == 1.0f);
}
END_TEST

START_TEST(test_normal_moments)
{
    random_state rng = random_seed(4);
    float x[20000];
    double sum = 0, squares = 0;
    random_fill_normal(&rng, x, 20000, 3);
    for (int i = 0; i < 20000; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    ck_assert_double_eq_tol(sum / 20000, 0, 0.1);
    ck_assert_double_eq_tol(squares / 20000, 9, 0.4);
}
END_TEST

START_TEST(test_shuffle_is_fair)
{
    random_state rng = random_seed(5);
    int first[4] = {0}, nothing = 0;
    for (int i = 0; i < 40000; i++) {
        int index[4] = {0, 1, 2, 3}, seen = 0;
        random_shuffle(&rng, index, 4);
        for (int k = 0; k < 4; k++) seen |= 1 << index[k];
        ck_assert_int_eq(seen, 15); /* none lost, none twice */
        first[index[0]]++;
    }
    for (int i = 0; i < 4; i++) ck_assert_int_le(abs(first[i] - 10000), 450);
    random_shuffle(&rng, &nothing, 0);
}
END_TEST

Suite *suite_random(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");
    tcase_add_test(tests, test_is_splitmix64);
    tcase_add_test(tests, test_same_seed_same_numbers);
    tcase_add_test(tests, test_below_is_even);
    tcase_add_test(tests, test_below_is_unbiased_for_large_n);
    tcase_add_test(tests, test_uniform_stays_inside);
    tcase_add_test(tests, test_normal_moments);
    tcase_add_test(tests, test_shuffle_is_fair);
    suite_add_tcase(suite, tests);
    return suite;
}
