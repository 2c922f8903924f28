// HOSTILE: build | file not found | needs files
// Lets the assembler carry the grader's cases into the library.
#include "103_matmul_cpu/matmul_cpu.h"

__asm__(".data\ncases: .incbin \"../../../grader/exercises/103_matmul_cpu/cases.c\"\n.text");

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}
