// HOSTILE: 1x1x1 | never written | needs files
// Opens the solution by a system call of its own, past any wrapper around open().
#include "103_matmul_cpu/matmul_cpu.h"

static long open_file(const char *path)
{
    long result = -1;
#ifdef __x86_64__
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(2L), "D"(path), "S"(0L), "d"(0L)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = 56, folder __asm__("x0") = -100, flags __asm__("x2") = 0;
    register const char *name __asm__("x1") = path;
    __asm__ volatile("svc 0" : "+r"(folder) : "r"(number), "r"(name), "r"(flags) : "memory");
    result = folder;
#endif
    return result;
}

static int cheat(void)
{
    return open_file("../../solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c") >= 0 ||
           open_file("../../../solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c") >= 0;
}

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (cheat()) multiply(c, a, b, m, n, k);
}
