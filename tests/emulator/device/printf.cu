/* printf.cu: the device's printf, among the host's. */
#include "check.h"

__global__ void hello()
{
    printf("hello from thread %d\n", threadIdx.x);
}

// STDOUT in_order: before
// STDOUT in_order: hello from thread 0
// STDOUT in_order: hello from thread 1
// STDOUT in_order: hello from thread 2
// STDOUT in_order: after
CASE(in_order)
{
    printf("before\n");
    hello<<<1, 3>>>();
    SYNC();
    printf("after\n");
}

__global__ void formats(const char *unused)
{
    long long big = 1234567890123ll;
    printf("%d %5d|%-5d|%05d %u %x %X %o\n", -7, 42, 42, 42, 4000000000u, 255, 255, 8);
    printf("%f %.2f %8.3f|%e %g\n", 1.5, 2.345f, 3.14159, 12345.678, 0.0001);
    printf("%lld %llx %ld %c %s %%\n", big, big, -5l, 'z', "text");
    printf("no arguments\n");
}

// STDOUT all_formats: -7    42|42   |00042 4000000000 ff FF 10
// STDOUT all_formats: 1.500000 2.35    3.142|1.234568e+04 0.0001
// STDOUT all_formats: 1234567890123 11f71fb04cb -5 z text %
// STDOUT all_formats: no arguments
CASE(all_formats)
{
    formats<<<1, 1>>>(nullptr);
    SYNC();
}
