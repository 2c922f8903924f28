#include "digits.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 4000

static unsigned char images[COUNT * DIGIT_PIXELS], labels[COUNT];

START_TEST(test_same_seed_same_digits)
{
    static unsigned char again[20 * DIGIT_PIXELS], again_labels[20];
    digits_generate(images, labels, 20, 1);
    digits_generate(again, again_labels, 20, 1);
    ck_assert_mem_eq(images, again, sizeof again);
    ck_assert_mem_eq(labels, again_labels, sizeof again_labels);
    digits_generate(again, again_labels, 20, 2);
    ck_assert_mem_ne(images, again, sizeof again);
}
END_TEST

START_TEST(test_all_digits_come)
{
    int counts[10] = {0};
    digits_generate(images, labels, COUNT, 3);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_uint_le(labels[i], 9);
        counts[labels[i]]++;
    }
    for (int i = 0; i < 10; i++) ck_assert_int_le(abs(counts[i] - COUNT / 10), 100);
}
END_TEST

/* Most of an image is background, some of it is ink, and the ink is not at the border. */
START_TEST(test_images_show_something)
{
    digits_generate(images, labels, 1000, 4);
    for (int i = 0; i < 1000; i++) {
        int ink = 0, corners = 0;
        const unsigned char *image = images + i * DIGIT_PIXELS;
        for (int p = 0; p < DIGIT_PIXELS; p++) ink += image[p] > 160;
        ck_assert_int_ge(ink, 10);
        ck_assert_int_le(ink, 250);
        for (int p = 0; p < 4; p++) {
            int y = p / 2 * (DIGIT_SIDE - 1), x = p % 2 * (DIGIT_SIDE - 1);
            corners += image[y * DIGIT_SIDE + x] > 160;
        }
        ck_assert_int_eq(corners, 0);
    }
}
END_TEST

/* Nearest class mean: far better than guessing, far from right, so there is something to learn. */
START_TEST(test_not_trivial)
{
    static double mean[10][DIGIT_PIXELS];
    int right = 0;
    digits_generate(images, labels, COUNT, 5);
    for (int i = 0; i < COUNT / 2; i++)
        for (int p = 0; p < DIGIT_PIXELS; p++)
            mean[labels[i]][p] += images[i * DIGIT_PIXELS + p] / (COUNT / 20.0);
    for (int i = COUNT / 2; i < COUNT; i++) {
        double nearest = INFINITY;
        int guess = 0;
        for (int digit = 0; digit < 10; digit++) {
            double distance = 0;
            for (int p = 0; p < DIGIT_PIXELS; p++)
                distance += pow(images[i * DIGIT_PIXELS + p] - mean[digit][p], 2);
            if (distance < nearest) {
                nearest = distance;
                guess = digit;
            }
        }
        right += guess == labels[i];
    }
    ck_assert_int_gt(right, COUNT / 2 * 30 / 100);
    ck_assert_int_lt(right, COUNT / 2 * 90 / 100);
}
END_TEST

Suite *suite_digits(void)
{
    Suite *suite = suite_create("digits");
    TCase *tests = tcase_create("digits");
    tcase_add_test(tests, test_same_seed_same_digits);
    tcase_add_test(tests, test_all_digits_come);
    tcase_add_test(tests, test_images_show_something);
    tcase_add_test(tests, test_not_trivial);
    suite_add_tcase(suite, tests);
    return suite;
}
