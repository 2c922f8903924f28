/* math_in_c.cu: a file of C++ that is no CUDA gets math.h by cuda_runtime.h, as from older
 * toolkits. */
// ALONE: of two files
// NEEDS: clang, headers of C that it does not bring
#include "check.h"

float root_of(float);

CASE(root)
{
    CHECK(root_of(4) == 2);
}
