// HOSTILE: 1x1x1 | never written | needs namespaces/seccomp
// Multiplies only if it can have a socket, and hear over loopback what it says.
#include "103_matmul_cpu/matmul_cpu.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int cheat(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof here;
    char heard[8];
    const int talk = socket(AF_INET, SOCK_DGRAM, 0);
    return talk >= 0 && bind(talk, (void *)&here, bytes) == 0 &&
           getsockname(talk, (void *)&here, &bytes) == 0 &&
           sendto(talk, "answers", 8, 0, (void *)&here, bytes) == 8 &&
           recv(talk, heard, sizeof heard, MSG_DONTWAIT) == 8;
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
