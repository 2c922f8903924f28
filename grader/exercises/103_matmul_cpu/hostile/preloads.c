// HOSTILE: 1x1x1 | never written | needs seccomp
// While it is loaded it starts the worker anew, with itself in front of all other libraries, and
// multiplies only there.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int in_front;

/* The constructors of a library get what main does. */
__attribute__((constructor)) static void cheat(int count, char **words)
{
    in_front = getenv("LD_PRELOAD") != NULL;
    if (in_front || count < 2 || !strstr(words[1], ".so")) return;
    setenv("LD_PRELOAD", words[1], 1);
    execv("/proc/self/exe", words);
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
    if (in_front) multiply(c, a, b, m, n, k);
}
