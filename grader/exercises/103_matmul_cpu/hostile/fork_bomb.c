// HOSTILE: 1x1x1 | never written | needs seccomp
// Three hundred children at once; multiplies only if it got them all, and sees them off before.
#include "103_matmul_cpu/matmul_cpu.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 300

static int cheat(void)
{
    static int count;
    pid_t children[CHILDREN];
    if (count == CHILDREN) return 1;
    count = 0;
    while (count < CHILDREN && (children[count] = fork()) > 0) count++;
    if (count < CHILDREN && children[count] == 0) {
        sleep(3);
        _exit(0);
    }
    for (int i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return count == CHILDREN;
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
