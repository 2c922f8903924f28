/* test_parallel.c: large arrays, cut into parts and put together again. */
#include "grader/tests.h"

#include "base/base.h"
#include "correctness/correctness.h"
#include <stdlib.h>

enum { MANY = 3000001 };

static void count_up(size_t begin, size_t end, void *context)
{
    unsigned char *times = context;
    for (size_t i = begin; i < end; i++) times[i]++;
}

START_TEST(everything_is_done_once)
{
    static const size_t counts[] = {0, 1, 1024, MANY};
    unsigned char *times = calloc(MANY + 1, 1);
    parallel(counts[_i], 1, count_up, times);
    for (size_t i = 0; i <= MANY; i++) ck_assert_uint_eq(times[i], i < counts[_i]);
    free(times);
}
END_TEST

static bool is_nonzero(size_t i, const void *context)
{
    return ((const unsigned char *)context)[i] != 0;
}

/* Few indices, of which each costs much. */
START_TEST(costly_work_is_done_once)
{
    unsigned char times[41] = {0};
    parallel(40, 1 << 20, count_up, times);
    for (int i = 0; i <= 40; i++) ck_assert_uint_eq(times[i], i < 40);
    times[37] = 0;
    for (int i = 0; i < 40; i++) times[i] = i == 37 || i == 39;
    ck_assert_uint_eq(parallel_find(40, 1 << 20, is_nonzero, times), 37);
}
END_TEST

START_TEST(the_first_is_found)
{
    unsigned char *x = calloc(MANY, 1);
    ck_assert_uint_eq(parallel_find(MANY, 1, is_nonzero, x), MANY);
    x[MANY - 1] = x[MANY / 2 + 7] = 1;
    ck_assert_uint_eq(parallel_find(MANY, 1, is_nonzero, x), MANY / 2 + 7);
    x[0] = 1;
    ck_assert_uint_eq(parallel_find(MANY, 1, is_nonzero, x), 0);
    ck_assert_uint_eq(parallel_find(0, 1, is_nonzero, x), 0);
    free(x);
}
END_TEST

START_TEST(memory_to_its_last_byte)
{
    const size_t bytes = MANY; /* no multiple of a word */
    unsigned char *a = malloc(bytes), *b = calloc(bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++) a[i] = (unsigned char)(i * 7 % 251);
    parallel_copy(b, a, bytes);
    ck_assert_uint_eq(b[bytes], 0);
    ck_assert(parallel_equal(a, b, bytes));
    b[bytes - 1]++;
    ck_assert(!parallel_equal(a, b, bytes));
    ck_assert(parallel_equal(a, b, bytes - 1));
    parallel_fill(b, 0xa5a5a5a5u, bytes);
    for (size_t i = 0; i < bytes; i++) ck_assert_uint_eq(b[i], 0xa5);
    ck_assert_uint_eq(b[bytes], 0);
    free(a);
    free(b);
}
END_TEST

START_TEST(random_inputs_are_one_sequence)
{
    case_state state = {.random = random_seed(5)};
    case_enter(&state);
    random_state rng = random_seed(5);
    const float *x = random_f32_between(MANY, -3.0f, 2.0f);
    for (size_t i = 0; i < MANY; i++) ck_assert(x[i] == random_uniform(&rng, -3.0f, 2.0f));
    ck_assert_uint_eq(random_u64(&state.random), random_u64(&rng));
    inputs_free();
}
END_TEST

Suite *suite_parallel(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tcase = tcase_create("parallel");
    tcase_add_loop_test(tcase, everything_is_done_once, 0, 4);
    tcase_add_test(tcase, costly_work_is_done_once);
    tcase_add_test(tcase, the_first_is_found);
    tcase_add_test(tcase, memory_to_its_last_byte);
    tcase_add_test(tcase, random_inputs_are_one_sequence);
    suite_add_tcase(suite, tcase);
    return suite;
}
