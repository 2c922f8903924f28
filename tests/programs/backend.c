/*
 * backend.c: the library of programs/backend, on the CPU and on a GPU: both answer alike, to what
 * makes sense and to what does not. The last line counts.
 */
#include "../../programs/backend/backend.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int passed, failures;

static void check(const device *d, const char *what, bool right)
{
    passed += right;
    failures += !right;
    if (!right) printf("FAILED on %s: %s\n", d->name, what);
}

static bool says(failure failed, const char *words)
{
    if (failed && strcmp(failed, words) == 0) return true;
    printf("'%s' instead of '%s'\n", failed ? failed : "nothing", words);
    return false;
}

static bool is_none(const matrix *m)
{
    return m->data == NULL && m->rows == 0 && m->cols == 0;
}

static bool holds(const matrix *m, size_t n, const float *expected)
{
    float h_values[16];
    return !matrix_to_vec(h_values, n, m) && memcmp(h_values, expected, n * sizeof(float)) == 0;
}

/* ---- what makes sense ------------------------------------------------------------------------ */

static void check_elementwise(device *d)
{
    static const float x[6] = {-2, -1, 0, 1, 2, 3}, sums[6] = {-1, 0, 1, 2, 3, 4},
                       squares[6] = {4, 1, 0, 1, 4, 9}, positive[6] = {0, 0, 0, 1, 2, 3};
    float sigmoid[6];
    matrix a, b, y[4];
    failure failed = matrix_from_slice(&a, d, x, 6, 2, 3), also = matrix_ones(&b, d, 2, 3);
    check(d, "matrices are made", !failed && !also);
    check(d, "add", !matrix_elementwise(&y[0], MATRIX_ADD, &a, &b) && holds(&y[0], 6, sums));
    check(d, "mul", !matrix_elementwise(&y[1], MATRIX_MUL, &a, &a) && holds(&y[1], 6, squares));
    check(d, "relu",
          !matrix_elementwise(&y[2], MATRIX_RELU, &a, NULL) && holds(&y[2], 6, positive));
    check(d, "sigmoid",
          !matrix_elementwise(&y[3], MATRIX_SIGMOID, &a, NULL) &&
              !matrix_to_vec(sigmoid, 6, &y[3]) && sigmoid[2] == 0.5f && sigmoid[5] > 0.952f);
    for (int i = 0; i < 4; i++) matrix_free(&y[i]);
    matrix_free(&a);
    matrix_free(&b);
}

/* Products of no length are zeros, and matrices of no elements are matrices. */
static void check_empty(device *d)
{
    static const float zeros[6] = {0};
    float total = 1.0f;
    matrix a, b, c;
    check(d, "0 columns", !matrix_zeros(&a, d, 2, 0) && !matrix_from_slice(&b, d, NULL, 0, 0, 3));
    check(d, "2 x 0 times 0 x 3", !matrix_matmul(&c, &a, &b) && holds(&c, 6, zeros));
    check(d, "the sum of nothing", !matrix_sum(&total, &a) && total == 0.0f);
    matrix_free(&c);
    check(d, "relu of nothing", !matrix_elementwise(&c, MATRIX_RELU, &a, NULL) && c.rows == 2);
    matrix_free(&c);
}

/* ---- what does not --------------------------------------------------------------------------- */

static void check_refusals(device *d, device *other)
{
    static const float x[6] = {0};
    float h_values[5];
    char words[200];
    matrix a, b, far, y;
    bool made =
        !matrix_ones(&a, d, 2, 3) && !matrix_ones(&b, d, 3, 2) && !matrix_ones(&far, other, 3, 2);
    check(d, "matrices are made", made);
    check(d, "a product", says(matrix_matmul(&y, &a, &a), "shape mismatch: [2, 3] x [2, 3]"));
    check(d, "is not left", is_none(&y));
    check(d, "an addition",
          says(matrix_elementwise(&y, MATRIX_ADD, &a, &b), "shape mismatch: [2, 3] + [3, 2]"));
    check(d, "a slice",
          says(matrix_from_slice(&y, d, x, 6, 2, 2), "shape mismatch: 6 numbers are no [2, 2]"));
    check(d, "is not left", is_none(&y));
    check(d, "numbers",
          says(matrix_to_vec(h_values, 5, &a), "shape mismatch: [2, 3] is not 5 numbers"));
    check(d, "a shape", says(matrix_zeros(&y, d, -1, 3), "no shape: [-1, 3]"));
    snprintf(words, sizeof words, "two devices: one %s x one %s", d->name, other->name);
    check(d, "devices", says(matrix_matmul(&y, &a, &far), words));
    failure failed = matrix_zeros(&y, d, INT32_MAX, INT32_MAX);
    check(d, "what nobody has",
          failed && strncmp(failed, "out of memory: 17179869168.0 GiB", 32) == 0);
    check(d, "and it goes on", !matrix_matmul(&y, &a, &b) && y.rows == 2 && y.cols == 2);
    matrix_free(&y);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&far);
}

int main(void)
{
    device cpu, gpu, none;
    failure failed = device_open(&cpu, DEVICE_CPU);
    if (!failed) failed = device_open(&gpu, best_device());
    if (failed) {
        printf("%s\n", failed);
        return 1;
    }
    device *const both[] = {&cpu, &gpu};
    for (int i = 0; i < 2; i++) {
        check_elementwise(both[i]);
        check_empty(both[i]);
        check_refusals(both[i], both[1 - i]);
    }
    check(&cpu, "a device below 0", says(device_open(&none, -2), "no device -2: there are 1"));
    memory_use now;
    check(&gpu, "nothing is left in use", !device_memory(&gpu, &now) && now.in_use == 0);
    device_close(&gpu);
    device_close(&cpu);
    printf("%d passed, %d failed\n", passed, failures);
    return failures != 0;
}
