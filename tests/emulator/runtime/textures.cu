/* textures.cu: what a kernel reads through texture objects of one and two dimensions, against the
 * formulas of the CUDA programming guide ("Texture Fetching") on the host. On an H200 the values are
 * the same; there the cases of mistakes fail, which a GPU does not see. */
#include "check.h"

enum { WIDTH = 12, HEIGHT = 9 };

/* ---- making them ----------------------------------------------------------------------------- */

template <class T> static cudaArray_t make_array(const T *texels, int width, int height)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    cudaArray_t array = nullptr;
    size_t row = width * sizeof(T);
    OK(cudaMallocArray(&array, &desc, width, height));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels, row, row, height ? height : 1,
                           cudaMemcpyHostToDevice));
    return array;
}

static cudaTextureDesc reading(cudaTextureAddressMode x, cudaTextureAddressMode y,
                               cudaTextureFilterMode filter, bool normalized)
{
    cudaTextureDesc desc = {};
    desc.addressMode[0] = x;
    desc.addressMode[1] = y;
    desc.filterMode = filter;
    desc.normalizedCoords = normalized;
    return desc;
}

static const cudaTextureDesc plain =
    reading(cudaAddressModeClamp, cudaAddressModeClamp, cudaFilterModePoint, false);

static cudaTextureObject_t over(cudaArray_t array, const cudaTextureDesc &desc)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture = 0;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    OK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    return texture;
}

template <class T> static cudaResourceDesc linear(T *memory, size_t count)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = count * sizeof(T);
    return resource;
}

template <class T> static cudaTextureObject_t over(T *memory, size_t count)
{
    cudaResourceDesc resource = linear(memory, count);
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
    return texture;
}

/* ---- integers from memory -------------------------------------------------------------------- */

template <class T> __global__ void fetch(T *to, cudaTextureObject_t t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex1Dfetch<T>(t, n - 1 - i);
}

template <class T> static bool fetches(const std::vector<T> &texels)
{
    size_t n = texels.size();
    T *memory = to_device(texels), *to = device_array<T>(n);
    cudaTextureObject_t texture = over(memory, n);
    fetch<T><<<1, 64>>>(to, texture, (int)n);
    SYNC();
    std::vector<T> got = to_host(to, n);
    bool same = true;
    for (size_t i = 0; i < n; i++) same &= !memcmp(&got[i], &texels[n - 1 - i], sizeof(T));
    OK(cudaDestroyTextureObject(texture));
    return same;
}

CASE(linear_memory)
{
    CHECK(fetches<float>({1.5f, -2, 3e10f, 0}));
    CHECK(fetches<int>({1, -2, 1 << 30, INT32_MIN}));
    CHECK(fetches<unsigned>({1, 0xffffffff, 7}));
    CHECK(fetches<unsigned char>({1, 255, 128, 0, 9}));
    CHECK(fetches<short>({-1, 32767, -32768}));
    CHECK(fetches<uchar4>({{1, 2, 3, 4}, {255, 254, 253, 252}}));
    CHECK(fetches<short2>({{-1, 2}, {300, -300}}));
    CHECK(fetches<int2>({{-1, 2}, {3, 4}, {5, 6}}));
    CHECK(fetches<float2>({{1, 2}, {3, 4.5f}}));
    CHECK(fetches<float4>({{1, 2, 3, 4}, {5, 6, 7, 8}}));
    CHECK(fetches<uint4>({{1, 2, 3, 4}, {5, 6, 7, 8}}));
}

/* ---- every way to read a plane of floats ----------------------------------------------------- */

__global__ void read_plane(float *to, const float2 *at, int n, cudaTextureObject_t t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex2D<float>(t, at[i].x, at[i].y);
}

__global__ void read_line(float *to, const float2 *at, int n, cudaTextureObject_t t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex1D<float>(t, at[i].x);
}

struct plane {
    const float *texels;
    int width, height;
    float border;
    cudaTextureDesc desc;
};

static int reflect(int i, int n)
{
    int in = ((i % (2 * n)) + 2 * n) % (2 * n);
    return in < n ? in : 2 * n - 1 - in;
}

/* @return -1: the border */
static int place(int i, int n, cudaTextureAddressMode mode, bool normalized)
{
    if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
    if (mode == cudaAddressModeWrap && normalized) return ((i % n) + n) % n;
    if (mode == cudaAddressModeMirror && normalized) return reflect(i, n);
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static float texel(const plane &p, int x, int y)
{
    x = place(x, p.width, p.desc.addressMode[0], p.desc.normalizedCoords);
    y = place(y, p.height, p.desc.addressMode[1], p.desc.normalizedCoords);
    return x < 0 || y < 0 ? p.border : p.texels[y * p.width + x];
}

static float expected(const plane &p, float2 at)
{
    double x = at.x, y = at.y;
    if (p.desc.normalizedCoords) x *= p.width, y *= p.height;
    if (p.desc.filterMode == cudaFilterModePoint) return texel(p, (int)floor(x), (int)floor(y));
    x = floor((x - 0.5) * 256 + 0.5) / 256; /* weights have 8 bits behind the point */
    y = floor((y - 0.5) * 256 + 0.5) / 256;
    int i = (int)floor(x), j = (int)floor(y);
    double a = x - i, b = y - j;
    double both = floor(a * b * 256 + 0.5) / 256; /* rounded, as an H200 does */
    return (float)((1 - a - b + both) * texel(p, i, j) + (a - both) * texel(p, i + 1, j) +
                   (b - both) * texel(p, i, j + 1) + both * texel(p, i + 1, j + 1));
}

/* Inside, outside, between texels; of halves and eighths, which every float holds. */
static std::vector<float2> places(const plane &p, bool flat)
{
    std::vector<float2> at;
    for (int i = -40; i < 60; i++) {
        float x = p.width * (i + 0.25f) / 16, y = flat ? 0.5f : p.height * (i % 23 + 0.25f) / 8;
        if (p.desc.normalizedCoords) x /= p.width, y /= p.height;
        at.push_back({x, y});
    }
    return at;
}

static int wrong(const plane &p, cudaTextureObject_t t, bool flat)
{
    std::vector<float2> at = places(p, flat);
    int n = (int)at.size(), wrong = 0;
    float *to = device_array<float>(n);
    if (flat)
        read_line<<<1, 128>>>(to, to_device(at), n, t);
    else
        read_plane<<<1, 128>>>(to, to_device(at), n, t);
    SYNC();
    std::vector<float> got = to_host(to, n);
    for (int i = 0; i < n; i++) wrong += !near(got[i], expected(p, at[i]), 1e-5);
    return wrong;
}

static std::vector<float> numbers(int n)
{
    std::vector<float> x(n);
    for (int i = 0; i < n; i++) x[i] = (float)(i * 37 % 64) / 4 - 3;
    return x;
}

/* All address modes, filters and kinds of coordinates. */
template <class Test> static void each_reading(Test test)
{
    for (int k = 0; k < 64; k++) {
        cudaTextureDesc desc =
            reading((cudaTextureAddressMode)(k & 3), (cudaTextureAddressMode)(k >> 2 & 3),
                    (cudaTextureFilterMode)(k >> 4 & 1), k >> 5 & 1);
        desc.borderColor[0] = k & 1 ? 2.5f : 0;
        test(desc);
    }
}

CASE(a_plane_of_an_array)
{
    std::vector<float> x = numbers(WIDTH * HEIGHT);
    cudaArray_t array = make_array(x.data(), WIDTH, HEIGHT);
    each_reading([&](const cudaTextureDesc &desc) {
        cudaTextureObject_t t = over(array, desc);
        CHECK(wrong({x.data(), WIDTH, HEIGHT, desc.borderColor[0], desc}, t, false) == 0);
        OK(cudaDestroyTextureObject(t));
    });
    OK(cudaFreeArray(array));
}

CASE(a_line_of_an_array)
{
    std::vector<float> x = numbers(WIDTH);
    cudaArray_t array = make_array(x.data(), WIDTH, 0);
    each_reading([&](cudaTextureDesc desc) {
        desc.addressMode[1] = cudaAddressModeClamp;
        cudaTextureObject_t t = over(array, desc);
        CHECK(wrong({x.data(), WIDTH, 1, desc.borderColor[0], desc}, t, true) == 0);
        OK(cudaDestroyTextureObject(t));
    });
    OK(cudaFreeArray(array));
}

CASE(a_plane_with_a_pitch)
{
    std::vector<float> x = numbers(WIDTH * HEIGHT);
    cudaResourceDesc resource = {};
    auto &plane = resource.res.pitch2D;
    const size_t row = WIDTH * sizeof(float);
    resource.resType = cudaResourceTypePitch2D;
    OK(cudaMallocPitch(&plane.devPtr, &plane.pitchInBytes, row, HEIGHT));
    OK(cudaMemcpy2D(plane.devPtr, plane.pitchInBytes, x.data(), row, row, HEIGHT,
                    cudaMemcpyHostToDevice));
    plane.desc = cudaCreateChannelDesc<float>();
    plane.width = WIDTH;
    plane.height = HEIGHT;
    each_reading([&](const cudaTextureDesc &desc) {
        cudaTextureObject_t t = 0;
        OK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
        CHECK(wrong({x.data(), WIDTH, HEIGHT, desc.borderColor[0], desc}, t, false) == 0);
        OK(cudaDestroyTextureObject(t));
    });
}

/* ---- integers that become floats ------------------------------------------------------------- */

__global__ void read_units(float4 *to, cudaTextureObject_t t)
{
    to[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
}

template <class T> static std::vector<float4> units(const std::vector<T> &texels)
{
    cudaTextureDesc desc = plain;
    desc.readMode = cudaReadModeNormalizedFloat;
    int n = (int)texels.size();
    float4 *to = device_array<float4>(n);
    read_units<<<1, n>>>(to, over(make_array(texels.data(), n, 1), desc));
    SYNC();
    return to_host(to, n);
}

CASE(normalized_floats)
{
    std::vector<float4> u = units<uchar4>({{0, 255, 51, 1}, {2, 3, 4, 5}});
    CHECK(u[0].x == 0 && u[0].y == 1 && near(u[0].z, 0.2) && near(u[0].w, 1 / 255.0));
    CHECK(near(u[1].w, 5 / 255.0));
    std::vector<float4> s = units<char4>({{127, -127, -128, 1}});
    CHECK(s[0].x == 1 && s[0].y == -1 && s[0].z == -1 && near(s[0].w, 1 / 127.0));
    std::vector<float4> w = units<ushort4>({{65535, 0, 13107, 1}});
    CHECK(w[0].x == 1 && w[0].y == 0 && near(w[0].z, 0.2) && near(w[0].w, 1 / 65535.0));
}

/* ---- vectors, two forms ---------------------------------------------------------------------- */

__global__ void read_vectors(float2 *to, uchar4 *integers, cudaTextureObject_t floats,
                             cudaTextureObject_t bytes)
{
    tex2D(to, floats, 1.0f, 0.5f);
    *integers = tex2D<uchar4>(bytes, 1.5f, 0.5f);
}

CASE(vectors)
{
    const float2 floats[] = {{1, 10}, {3, 30}, {5, 50}};
    const uchar4 bytes[] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    cudaTextureDesc linear = plain;
    linear.filterMode = cudaFilterModeLinear;
    float2 *to = device_array<float2>(1);
    uchar4 *integers = device_array<uchar4>(1);
    read_vectors<<<1, 1>>>(to, integers, over(make_array(floats, 3, 1), linear),
                           over(make_array(bytes, 3, 1), plain));
    SYNC();
    float2 f = to_host(to, 1)[0];
    uchar4 u = to_host(integers, 1)[0];
    CHECK(f.x == 2 && f.y == 20);
    CHECK(u.x == 5 && u.y == 6 && u.z == 7 && u.w == 8);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

CASE(copies_of_arrays)
{
    std::vector<float> x = numbers(WIDTH * HEIGHT), got(WIDTH * HEIGHT);
    const size_t row = WIDTH * sizeof(float);
    cudaArray_t array = make_array(x.data(), WIDTH, HEIGHT);
    OK(cudaMemcpy2DFromArray(got.data(), row, array, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(got == x);
    const float patch[] = {100, 101, 102, 103};
    OK(cudaMemcpy2DToArrayAsync(array, 4, 2, patch, 8, 8, 2, cudaMemcpyHostToDevice, 0));
    float back[4] = {};
    OK(cudaMemcpy2DFromArrayAsync(back, 8, array, 4, 2, 8, 2, cudaMemcpyDeviceToHost, 0));
    OK(cudaDeviceSynchronize());
    CHECK(!memcmp(back, patch, sizeof patch));
    FAILS(cudaMemcpy2DToArray(array, 4, 0, x.data(), row, row, 1, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    FAILS(cudaMemcpy2DToArray(array, 0, 1, x.data(), row, row, HEIGHT, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaFreeArray(array));
    FAILS(cudaFreeArray(array), cudaErrorInvalidValue);
    OK(cudaFreeArray(nullptr));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CASE(copies_that_go_on_in_the_next_row)
{
    std::vector<float> x = numbers(WIDTH * HEIGHT), got(WIDTH * HEIGHT);
    cudaArray_t array = make_array(x.data(), WIDTH, HEIGHT);
    const size_t bytes = x.size() * sizeof(float);
    for (float &value : x) value += 1;
    OK(cudaMemcpyToArray(array, 0, 0, x.data(), bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(got.data(), array, 0, 0, bytes, cudaMemcpyDeviceToHost));
    CHECK(got == x);
}

CASE(descriptions)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<short2>(), got;
    CHECK(desc.x == 16 && desc.y == 16 && desc.z == 0 && desc.f == cudaChannelFormatKindSigned);
    cudaArray_t array;
    cudaExtent extent;
    unsigned flags = 77;
    OK(cudaMallocArray(&array, &desc, 8, 4));
    OK(cudaArrayGetInfo(&got, &extent, &flags, array));
    CHECK(got.x == 16 && extent.width == 8 && extent.height == 4 && extent.depth == 0);
    CHECK(flags == cudaArrayDefault);
    OK(cudaGetChannelDesc(&got, array));
    CHECK(got.y == 16 && got.w == 0);
    cudaTextureObject_t t = over(array, plain);
    cudaResourceDesc resource;
    cudaTextureDesc reading;
    OK(cudaGetTextureObjectResourceDesc(&resource, t));
    OK(cudaGetTextureObjectTextureDesc(&reading, t));
    CHECK(resource.resType == cudaResourceTypeArray && resource.res.array.array == array);
    CHECK(reading.addressMode[0] == cudaAddressModeClamp);
    OK(cudaDestroyTextureObject(t));
}

CASE(what_no_texture_can_be)
{
    cudaResourceDesc resource = linear(device_array<int>(64), 64);
    cudaTextureObject_t t;
    cudaTextureDesc desc = plain;
    desc.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr) != cudaSuccess);
    desc = plain;
    desc.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr) != cudaSuccess);
    resource.res.linear.desc.x = 24;
    CHECK(cudaCreateTextureObject(&t, &resource, &plain, nullptr) != cudaSuccess);
    cudaGetLastError();
}

/* ---- mistakes -------------------------------------------------------------------------------- */

// STDERR destroyed: reads through a texture object that was destroyed
__global__ void fetch_destroyed(int *to, cudaTextureObject_t t)
{
    to[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); // FINDING destroyed: use-after-free
}

CASE(destroyed)
{
    int *memory = to_device<int>({1, 2, 3, 4}), *to = device_array<int>(4);
    cudaTextureObject_t t = over(memory, 4);
    OK(cudaDestroyTextureObject(t));
    over(memory, 4);
    fetch_destroyed<<<1, 4>>>(to, t);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void fetch_none(int *to, cudaTextureObject_t t)
{
    to[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); // FINDING never_made: out-of-bounds
}

CASE(never_made)
{
    fetch_none<<<1, 4>>>(device_array<int>(4), 0);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void read_freed(float *to, cudaTextureObject_t t)
{
    *to = tex2D<float>(t, 1.5f, 1.5f); // FINDING array_freed: use-after-free
}

CASE(array_freed)
{
    std::vector<float> x = numbers(WIDTH * HEIGHT);
    cudaArray_t array = make_array(x.data(), WIDTH, HEIGHT);
    cudaTextureObject_t t = over(array, plain);
    OK(cudaFreeArray(array)); // FREED array_freed
    read_freed<<<1, 1>>>(device_array<float>(1), t);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void read_unwritten(float *to, cudaTextureObject_t t)
{
    *to = tex2D<float>(t, 1.5f, 1.5f); // FINDING not_written: uninitialised
}

CASE(not_written)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &desc, 8, 4));
    float row[8] = {};
    OK(cudaMemcpy2DToArray(array, 0, 0, row, sizeof row, sizeof row, 1, cudaMemcpyHostToDevice));
    read_unwritten<<<1, 1>>>(device_array<float>(1), over(array, plain));
    SYNC();
}

__global__ void fetch_too_many(int *to, cudaTextureObject_t t)
{
    to[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); // FINDING past_the_end: out-of-bounds
}

// STDERR past_the_end: fetches texel 4 of a texture that has 4
CASE(past_the_end)
{
    int *memory = to_device<int>({1, 2, 3, 4, 5, 6, 7, 8});
    fetch_too_many<<<1, 5>>>(device_array<int>(5), over(memory, 4));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

/* A weight of 0 is no use of the texel beside. */
__global__ void read_middle(float *to, cudaTextureObject_t t)
{
    *to = tex2D<float>(t, 1.5f, 0.5f);
}

CASE(a_neighbour_that_does_not_count)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaTextureDesc linear = plain;
    cudaArray_t array;
    linear.filterMode = cudaFilterModeLinear;
    OK(cudaMallocArray(&array, &desc, 8, 4));
    float row[8] = {1, 2, 3}, *to = device_array<float>(1);
    OK(cudaMemcpy2DToArray(array, 0, 0, row, sizeof row, sizeof row, 1, cudaMemcpyHostToDevice));
    read_middle<<<1, 1>>>(to, over(array, linear));
    SYNC();
    CHECK(to_host(to, 1)[0] == 2);
}
