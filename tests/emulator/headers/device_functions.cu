/* device_functions.cu: functions of kernels that few programs use: extremes of unsigned numbers,
 * numbers side by side in a word, new and delete, a program's own function by an intrinsic's name.
 */
// ALONE: in a namespace its functions would hide the intrinsics of their names
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

/* Functions of the program's own, of its own type. */
struct both {
    float x;
    int y;
};
template <class T> __device__ T __ldg(const T *p)
{
    return *p;
}
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    value.x = __shfl_sync(mask, value.x, lane);
    value.y = __shfl_sync(mask, value.y, lane);
    return value;
}

__global__ void own_functions(both *p)
{
    both mine = __ldg(&p[threadIdx.x]);
    p[threadIdx.x] = __shfl_sync(0xffffffff, mine, 7);
}

CASE(names_of_intrinsics)
{
    std::vector<both> h_p(32);
    for (int i = 0; i < 32; i++) h_p[i] = both{i * 0.5f, 3 * i};
    both *p = to_device(h_p);
    own_functions<<<1, 32>>>(p);
    SYNC();
    CHECK(to_host(p, 32)[2].x == 3.5f && to_host(p, 32)[31].y == 21);
}

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
    *o++ = __vavgs4(a, b);
    *o++ = __vabsss4(a);
    *o++ = __fns(0x50, 2, 2);
}

CASE(four_bytes_in_a_word)
{
    unsigned *out = device_array<unsigned>(12);
    side_by_side<<<1, 1>>>(out, 0x7f80ff01, 0x01020304);
    SYNC();
    const unsigned wanted[] = {0x80820205, 0x7e7efbfd, 0x7f020304,
                               0x7f80ff04, 0x7e7efc03, 0xffffff00,
                               0x7f820205, 0x40418103, 0x7e + 0x7e + 0xfc + 3,
                               0x40c10103, 0x7f7f0101, 6};
    auto h_out = to_host(out, 12);
    for (int i = 0; i < 12; i++) CHECK(h_out[i] == wanted[i]);
}

__global__ void rare(double *out, const double *x)
{
    double *o = out;
    *o++ = erfinv(x[0]);
    *o++ = erfinv(x[1]);
    *o++ = erfcinv(x[2]);
    *o++ = normcdfinv(x[3]);
    *o++ = erfcx(x[4]);
    *o++ = erfcx(x[5]);
    *o++ = cyl_bessel_i0(x[4]);
    *o++ = cyl_bessel_i1(-x[5]);
    *o++ = norm4d(x[1], x[2], x[3], x[4]);
    *o++ = rnorm(3, x + 3);
    *o++ = normcdfinvf((float)x[3]);
    *o++ = rnorm3df((float)x[3], (float)x[4], (float)x[5]);
}

CASE(special_functions)
{
    double *x = to_device(std::vector<double>{0.3, -0.9999, 1e-30, 0.025, 2, 30});
    double *out = device_array<double>(12);
    rare<<<1, 1>>>(out, x);
    SYNC();
    const double wanted[] = {0.27246271472675437,  -2.7510639057120798, 8.1486162231698653,
                             -1.9599639845400543,  0.25539567631050575, 0.018795888861416751,
                             2.2795853023360673,   -768532038938.95715, 2.2361630106054435,
                             0.033259493764552887, -1.9599639845,       0.0332594938};
    auto h_out = to_host(out, 12);
    for (int i = 0; i < 12; i++) CHECK(near(h_out[i], wanted[i], i < 10 ? 1e-12 : 1e-6));
}

__global__ void halves(unsigned *out)
{
    half2 a = __floats2half2_rn(1, NAN), b = __floats2half2_rn(1, 2), c = __floats2half2_rn(3, 4);
    __nv_bfloat162 p = __floats2bfloat162_rn(1, 2), q = __floats2bfloat162_rn(3, 2);
    out[0] = __hequ2_mask(a, b) | __hlt2_mask(b, a);
    out[1] = __hge2_mask(p, q);
    out[2] = __hbltu2(a, c) + 2 * __hbeq2(p, q);
    half2 product = __hcmadd(b, c, b);
    memcpy(&out[3], &product, 4);
    __nv_bfloat162 low = __lows2bfloat162(p, q);
    memcpy(&out[4], &low, 4);
}

CASE(pairs_of_halves)
{
    unsigned *out = device_array<unsigned>(5);
    halves<<<1, 1>>>(out);
    SYNC();
    auto h_out = to_host(out, 5);
    CHECK(h_out[0] == 0xffffffff && h_out[1] == 0xffff0000 && h_out[2] == 1);
    CHECK(h_out[3] == 0x4a00c400); /* (1 + 2i)(3 + 4i) + 1 + 2i = -4 + 12i */
    CHECK(h_out[4] == 0x40403f80);
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
