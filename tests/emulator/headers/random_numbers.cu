/* random_numbers.cu: random numbers of each thread: the very ones that cuRAND draws. */
#include <curand_kernel.h>

#include "check.h"

/* After a jump of every kind. */
template <typename State> __global__ void draw(unsigned *words, float *floats, double *doubles)
{
    State s;
    curand_init(1234567890123ull, threadIdx.x ? 123456789012345ull : 0, 3 * threadIdx.x, &s);
    unsigned *w = words + 4 * threadIdx.x;
    w[0] = curand(&s);
    w[1] = curand(&s);
    skipahead(1000003ull, &s);
    w[2] = curand(&s);
    skipahead_sequence(77ull, &s);
    w[3] = curand(&s);
    if (threadIdx.x) return;
    floats[0] = curand_uniform(&s);
    floats[1] = curand_normal(&s);
    floats[2] = curand_normal(&s);
    floats[3] = curand_normal(&s);
    floats[4] = curand_log_normal(&s, 0.5f, 0.25f);
    doubles[0] = curand_uniform_double(&s);
    doubles[1] = curand_normal_double(&s);
    doubles[2] = curand_normal_double(&s);
    floats[5] = curand_normal2(&s).y;
    doubles[3] = curand_log_normal_double(&s, 0.5, 0.25);
    w[3] ^= curand(&s);
}

template <typename State>
static void compare(std::vector<unsigned> words, std::vector<double> floats,
                    std::vector<double> doubles)
{
    unsigned *w = device_array<unsigned>(words.size());
    float *f = device_array<float>(floats.size());
    double *d = device_array<double>(doubles.size());
    draw<State><<<1, 2>>>(w, f, d);
    SYNC();
    CHECK(to_host(w, words.size()) == words);
    for (size_t i = 0; i < floats.size(); i++) CHECK(near(to_host(f, floats.size())[i], floats[i]));
    for (size_t i = 0; i < doubles.size(); i++)
        CHECK(near(to_host(d, doubles.size())[i], doubles[i], 1e-12));
}

CASE(xorwow)
{
    compare<curandState>(
        {0x2f091a51, 0xbc22958a, 0x0b3b223f, 0xd01d63ad, 0x560417a2, 0x8ec82c33, 0x04ee868a,
         0xaf0efefc},
        {0.9003545, -0.20738788, -0.35117015, 0.36855474, 1.8543402, -0.39729673},
        {0.959535649806831, -0.235910079550212, -0.384951935857484, 1.823591709844});
}

CASE(philox)
{
    compare<curandStatePhilox4_32_10_t>(
        {0x450d0f76, 0x73e09021, 0x083a4df1, 0x7a6cd4ce, 0xe47776b0, 0x3867f641, 0xe213bea1,
         0x9e1da46b},
        {0.97386777, -0.66773278, -0.93904537, -0.26540908, 1.6459445, 0.83615178},
        {0.766883685719222, -0.165681716873492, 0.804254136926307, 1.77770812908624});
}

__global__ void draw_four(float *out)
{
    curandStatePhilox4_32_10_t s;
    curand_init(7, 1, 2, &s);
    float4 a = curand_uniform4(&s), b = curand_normal4(&s);
    out[0] = a.x, out[1] = a.w, out[2] = b.y, out[3] = b.z;
}

CASE(four_at_once)
{
    float *out = device_array<float>(4);
    draw_four<<<1, 1>>>(out);
    SYNC();
    const double wanted[] = {0.31122178, 0.84983867, -0.41597617, -1.3383321};
    for (int i = 0; i < 4; i++) CHECK(near(to_host(out, 4)[i], wanted[i]));
}
