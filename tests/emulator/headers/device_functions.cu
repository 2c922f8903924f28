/* device_functions.cu: functions of kernels that few programs use: extremes of unsigned numbers,
 * numbers side by side in a word, new and delete, a program's own function by an intrinsic's name.
 */
#include "check.h"

__global__ void extremes(unsigned long long *out)
{
    out[0] = umin(umax(3u, 0x80000000u), 0xfffffff0u);
    out[1] = ullmax(1ull, ~0ull);
    out[2] = (unsigned long long)llmin(-5ll, 3ll);
}

CASE(extremes_of_unsigned)
{
    auto *out = device_array<unsigned long long>(3);
    extremes<<<1, 1>>>(out);
    SYNC();
    auto h_out = to_host(out, 3);
    CHECK(h_out[0] == 0x80000000u && h_out[1] == ~0ull && h_out[2] == -5ull);
}

__global__ void side_by_side(unsigned *out, unsigned a, unsigned b)
{
    unsigned *o = out;
    *o++ = __vadd4(a, b);
    *o++ = __vsub2(a, b);
    *o++ = __vmaxs4(a, b);
    *o++ = __vmaxu4(a, b);
    *o++ = __vabsdiffu4(a, b);
    *o++ = __vcmpgtu4(a, b);
    *o++ = __vaddss4(a, b);
    *o++ = __vavgu4(a, b);
    *o++ = __vsadu4(a, b);
}

CASE(four_bytes_in_a_word)
{
    unsigned *out = device_array<unsigned>(9);
    side_by_side<<<1, 1>>>(out, 0x7f80ff01, 0x01020304);
    SYNC();
    const unsigned wanted[] = {0x80820205, 0x7e7efbfd, 0x7f020304,
                               0x7f80ff04, 0x7e7efc03, 0xffffff00,
                               0x7f820205, 0x40418103, 0x7e + 0x7e + 0xfc + 3};
    auto h_out = to_host(out, 9);
    for (int i = 0; i < 9; i++) CHECK(h_out[i] == wanted[i]);
}

struct shape {
    __device__ virtual int area() = 0;
    __device__ virtual ~shape()
    {
    }
};

struct square : shape {
    int side;
    __device__ square(int side) : side(side)
    {
    }
    __device__ int area() override
    {
        return side * side;
    }
};

__global__ void allocate(int *out)
{
    shape *s = new square(6);
    int *numbers = new int[4];
    numbers[3] = s->area();
    *out = numbers[3];
    delete[] numbers;
    delete s;
}

CASE(new_and_delete)
{
    int *out = device_array<int>(1);
    allocate<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 36);
}
