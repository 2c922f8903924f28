/* standard_library.cu: headers of C++ that speak of __noinline__, or include those that do. */
#include <condition_variable>
#include <execution>
#include <filesystem>
#include <future>
#include <memory>
#include <regex>

#include "check.h"

__noinline__ __device__ int twice(int x)
{
    return 2 * x;
}

__global__ void answer(int *p)
{
    *p = twice(21);
}

CASE(beside_a_kernel)
{
    auto p = std::make_shared<int *>(device_array<int>(1));
    answer<<<1, 1>>>(*p);
    SYNC();
    CHECK(to_host(*p, 1)[0] == 42);
    CHECK(std::regex_match("aaa", std::regex("a+")));
}
