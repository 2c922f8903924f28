// HOSTILE: 1x1x1 | never written
// Includes the solution, if the compiler can see it anywhere.
#include "cpu.h"

#if __has_include("../../../solutions/phase1_cpu/103_matmul_cpu.c")
#include "../../../solutions/phase1_cpu/103_matmul_cpu.c"
#elif __has_include("../../solutions/phase1_cpu/103_matmul_cpu.c")
#include "../../solutions/phase1_cpu/103_matmul_cpu.c"
#elif __has_include("../solutions/phase1_cpu/103_matmul_cpu.c")
#include "../solutions/phase1_cpu/103_matmul_cpu.c"
#else
void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;
}
#endif
