// WRONG: 17x33x65 | less precise than fp32
/* Multiplies with 10 bits of mantissa, as a tensor core does in its TF32 mode. */
#include "cpu.h"
#include <stdint.h>
#include <string.h>

static float ten_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & ~(uint32_t)0x1fff;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) {
                sum += ten_bits(a[(size_t)i * k + p]) * ten_bits(b[(size_t)p * n + j]);
            }
            c[(size_t)i * n + j] = sum;
        }
    }
}
