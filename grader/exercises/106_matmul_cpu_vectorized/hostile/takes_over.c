// HOSTILE: FMA rate / peak of one core | too slow / too noisy
// Never lets the worker begin: while it is loaded it talks to the grader itself, says that the call
// is over at once, and multiplies, by plain dot products, when the outputs are fetched.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* protocol.h, as far as it is needed */
enum { PREPARE = 1, RUN, FETCH };
typedef struct argument {
    uint64_t kind, at, before, rest[11];
    int64_t value;
    uint64_t more;
} argument;
typedef struct call {
    uint64_t nonce;
    uint32_t verb, rest[10];
    uint64_t bytes, name[8];
    argument arguments[24];
} call;
typedef union reply {
    struct {
        uint64_t nonce, status;
        double seconds;
    } head;
    char all[15112];
} reply;

/* Dot products: far below the threshold on any processor. */
static void multiply(char *shared, const argument *with)
{
    float *c = (float *)(shared + with[0].at + with[0].before);
    const float *a = (float *)(shared + with[1].at + with[1].before);
    const float *b = (float *)(shared + with[2].at + with[2].before);
    const int m = with[3].value, n = with[4].value, k = with[5].value;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
    }
}

static reply says; /* OK to all */
static call asked;

__attribute__((constructor)) static void take_over(void)
{
    char *shared = NULL;
    uint64_t mapped = 0;
    while (write(3, &says, sizeof says) > 0 && read(3, &asked, sizeof asked) > 0) {
        says.head.nonce = asked.nonce;
        says.head.seconds = 1e-6;
        if (asked.verb != FETCH) continue;
        if (asked.bytes > mapped) {
            if (mapped) munmap(shared, mapped);
            mapped = asked.bytes;
            shared = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, 4, 0);
        }
        multiply(shared, asked.arguments);
    }
}

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;
}
