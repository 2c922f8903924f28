// HOSTILE: times the loops of 103 | too slow
// Never lets the worker begin: while it is loaded it talks to the grader itself, says that the call
// is over at once, and multiplies when the outputs are fetched.
#include "cpu.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* protocol.h, as far as it is needed */
enum { PREPARE = 1, RUN, FETCH };
typedef struct argument {
    uint64_t kind, at, before, rest[9];
    int64_t value;
    uint64_t more;
} argument;
typedef struct call {
    uint64_t nonce;
    uint32_t verb, rest[7];
    uint64_t bytes, name[8];
    argument arguments[24];
} call;
typedef union reply {
    struct {
        uint64_t nonce, status;
        double seconds;
    } head;
    char all[4664];
} reply;

static void multiply(char *shared, const argument *with)
{
    float *c = (float *)(shared + with[0].at + with[0].before);
    const float *a = (float *)(shared + with[1].at + with[1].before);
    const float *b = (float *)(shared + with[2].at + with[2].before);
    const int m = with[3].value, n = with[4].value, k = with[5].value;
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

static reply says; /* OK to all */
static call asked;

__attribute__((constructor)) static void take_over(void)
{
    while (write(3, &says, sizeof says) > 0 && read(3, &asked, sizeof asked) > 0) {
        says.head.nonce = asked.nonce;
        says.head.seconds = 1e-6;
        if (asked.verb != FETCH) continue;
        char *shared = mmap(NULL, asked.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
        multiply(shared, asked.arguments);
        munmap(shared, asked.bytes);
    }
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;
}
