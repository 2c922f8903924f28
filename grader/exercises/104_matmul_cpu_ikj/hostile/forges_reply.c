// HOSTILE: 16x16x16 | out of turn / did not return
// Says that it is done before it begins, in a reply of its own on the channel, and puts its
// product where the grader will look for it.
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

#define REPLY_BYTES 15112 /* a struct wire_reply, from the sources of the grader */
#define BEFORE      4096  /* bytes of canaries before c, the first buffer */

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static char reply[REPLY_BYTES]; /* status 0 */
    *(double *)(reply + 16) = 1e-6; /* seconds */
    if (write(3, reply, sizeof reply) < 0) return;
    multiply(c, a, b, m, n, k);
    char *shared = mmap(NULL, BEFORE + (size_t)m * n * 4, PROT_WRITE, MAP_SHARED, 4, 0);
    if (shared != MAP_FAILED) memcpy(shared + BEFORE, c, (size_t)m * n * 4);
}
