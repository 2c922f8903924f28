/* Not the contract. */
#define OWN_HEADER
#include <stddef.h>
void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k);
