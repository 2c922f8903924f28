/*
 * 214_matmul_registers.cu: c = a * b, where each thread keeps 8 x 8 elements of c in registers.
 *
 * The idea: in 211 a multiply-add reads two values from shared memory. A thread that owns TM x TN
 * elements of c reads TM values of a and TN of b for each step along k, keeps them in registers,
 * and uses each value of a TN times, and of b TM times: 16 reads for 64 multiply-adds instead of
 * 128.
 *
 * A block of 256 threads computes 128 x 128 elements. Thread (x, y) owns the rows y, y + 16, ...
 * and the columns x, x + 16, ...: neighbouring threads read neighbouring words of b's tile, which
 * lie in different banks, and store neighbouring elements of c. The tile of a is transposed, so
 * that one step along k is one row of it. Its rows are 4 words longer: threads that load one row of
 * a store a column here, each into another bank.
 *
 * The cost removed: shared memory's bandwidth, of which 211 needs eight times as much.
 * The cost left: 16 loads compete with 64 multiply-adds for issue slots, where wider loads would be
 * 4 (401); and the block waits for each tile before it computes with it (2a).
 */
#include "214_matmul_registers/matmul_registers.h"
#include "not_implemented.h"

/* TODO: the sizes, and matmul_registers_kernel: two tiles in shared memory, TM x TN sums in
   registers, three nested loops that must unroll (about 63 lines). */

cudaError_t matmul_registers(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream)
{
    /* TODO: one block of THREADS threads per tile of c, rounding up; launch unless c is empty
       (about 4 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
