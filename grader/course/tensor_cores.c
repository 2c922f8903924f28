/* tensor_cores.c: the peak rates of the tensor cores of each architecture. */
#include "course.h"

/* By NVIDIA's white papers on the architectures; a multiply-add counts two. */
double tensor_operations(int capability, precision p)
{
    static const struct {
        int capability;
        double operations[PRECISION_COUNT];
    } rows[] = {{75, {[IN_HALF] = 1024, [IN_INT8] = 2048}},
                {80, {[IN_TF32] = 1024, [IN_HALF] = 2048, [IN_INT8] = 4096}},
                {86, {[IN_TF32] = 256, [IN_HALF] = 1024, [IN_INT8] = 2048}},
                {89, {[IN_TF32] = 256, [IN_HALF] = 1024, [IN_INT8] = 2048}},
                {90, {[IN_TF32] = 2048, [IN_HALF] = 4096, [IN_INT8] = 8192}},
                {100, {[IN_TF32] = 4096, [IN_HALF] = 8192, [IN_INT8] = 16384}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].capability == capability) return rows[i].operations[p];
    }
    return 0.0;
}
