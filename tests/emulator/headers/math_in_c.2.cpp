/* Part of math_in_c.cu. */
#include <cuda_runtime.h>

float root_of(float x)
{
    return sqrtf(x) + (float)fabs(0.0);
}
