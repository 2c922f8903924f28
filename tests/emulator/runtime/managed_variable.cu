/* managed_variable.cu: a variable that both sides call by its name. */
// NEEDS: nvcc, `__managed__` variables
#include "check.h"

__managed__ int shared_number = 5;

__global__ void increment_managed()
{
    shared_number += 10;
}

CASE(managed_variable)
{
    CHECK(shared_number == 5);
    shared_number = 7;
    increment_managed<<<1, 1>>>();
    SYNC();
    CHECK(shared_number == 17);
}
