/* memory_errors.cu: what a kernel must not do to memory, each said once, at its line; and right
 * neighbours of each mistake, of which nothing may be said. */
#include "check.h"

__global__ void write_all(float *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = 1.0f; // FINDING write_past_end: out-of-bounds
}

CASE(write_past_end)
{
    write_all<<<1, 128>>>(device_array<float>(100));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(write_exactly_to_the_end)
{
    write_all<<<4, 25>>>(device_array<float>(100));
    SYNC();
}

__global__ void read_before(float *out, const float *p)
{
    out[threadIdx.x] = p[(int)threadIdx.x - 1]; // FINDING read_before_start: out-of-bounds
}

CASE(read_before_start)
{
    float *p = to_device(std::vector<float>(64, 1.0f));
    read_before<<<1, 32>>>(device_array<float>(32), p);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(read_before_is_legal_inside)
{
    float *p = to_device(std::vector<float>(64, 1.0f));
    read_before<<<1, 32>>>(device_array<float>(32), p + 1);
    SYNC();
}

__global__ void read_far(int *out, const int *p, long long distance)
{
    *out = p[distance]; // FINDING read_far_away: out-of-bounds
}

CASE(read_far_away)
{
    int *p = to_device(std::vector<int>(64, 1));
    read_far<<<1, 1>>>(device_array<int>(1), p, 1ll << 33);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void last_vector(float4 *out, const float4 *in, int n)
{
    int i = threadIdx.x;
    if (i * 4 < n) out[i] = in[i]; // FINDING vector_load_over_the_end: out-of-bounds
}

CASE(vector_load_over_the_end)
{
    float *in = to_device(std::vector<float>(30, 1.0f));
    last_vector<<<1, 32>>>(device_array<float4>(8), (float4 *)in, 30);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(vector_load_of_all)
{
    float *in = to_device(std::vector<float>(32, 1.0f));
    last_vector<<<1, 32>>>(device_array<float4>(8), (float4 *)in, 32);
    SYNC();
}

__global__ void dereference(int *out, const int *p)
{
    *out = *p; // FINDING null_pointer: null-pointer
}

CASE(null_pointer)
{
    dereference<<<1, 1>>>(device_array<int>(1), nullptr);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void read_host(int *out, const int *p)
{
    out[threadIdx.x] = p[threadIdx.x]; // FINDING host_pointer_in_kernel: host-pointer
}

CASE(host_pointer_in_kernel)
{
    std::vector<int> host(32, 7);
    read_host<<<1, 32>>>(device_array<int>(32), host.data());
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void read_freed(int *out, const int *p)
{
    out[threadIdx.x] = p[threadIdx.x]; // FINDING use_after_free: use-after-free
}

CASE(use_after_free)
{
    int *p = to_device(std::vector<int>(32, 7)), *out = device_array<int>(32);
    OK(cudaFree(p));
    read_freed<<<1, 32>>>(out, p);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void write_odd(char *p)
{
    *(int *)(p + 1) = 7; // FINDING misaligned_int: misaligned
}

CASE(misaligned_int)
{
    write_odd<<<1, 1>>>(device_array<char>(64));
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

__global__ void load_vector(float4 *out, const float *in, int offset)
{
    *out = *(const float4 *)(in + offset); // FINDING misaligned_vector: misaligned
}

CASE(misaligned_vector)
{
    float *in = to_device(std::vector<float>(64, 1.0f));
    load_vector<<<1, 1>>>(device_array<float4>(1), in, 2);
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

CASE(aligned_vector)
{
    float *in = to_device(std::vector<float>(64, 1.0f));
    load_vector<<<1, 1>>>(device_array<float4>(1), in, 4);
    SYNC();
}

__global__ void shared_write(int *out, int n)
{
    __shared__ int s[32];
    for (int i = threadIdx.x; i < n; i += 32)
        s[i] = i; // FINDING shared_write_past_end: out-of-bounds
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

CASE(shared_write_past_end)
{
    shared_write<<<1, 32>>>(device_array<int>(32), 33);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(shared_write_inside)
{
    shared_write<<<1, 32>>>(device_array<int>(32), 32);
    SYNC();
}

__global__ void shared_read(int *out, int shift)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + shift]; // FINDING shared_read_past_end: out-of-bounds
}

CASE(shared_read_past_end)
{
    shared_read<<<1, 64>>>(device_array<int>(64), 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void dynamic_shared(int *out)
{
    extern __shared__ int d[];
    d[threadIdx.x] = 1; // FINDING too_little_dynamic_shared: out-of-bounds
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x]; // MAYBE too_little_dynamic_shared: out-of-bounds
}

CASE(too_little_dynamic_shared)
{
    dynamic_shared<<<1, 64, 32 * sizeof(int)>>>(device_array<int>(64));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(enough_dynamic_shared)
{
    dynamic_shared<<<1, 64, 64 * sizeof(int)>>>(device_array<int>(64));
    SYNC();
}

__global__ void add_one(float *out, const float *in)
{
    float x = in[threadIdx.x]; // FINDING uninitialised_global: uninitialised
    out[threadIdx.x] = x + 1;
}

CASE(uninitialised_global)
{
    add_one<<<1, 32>>>(device_array<float>(32), device_array<float>(32));
    SYNC();
}

CASE(initialised_by_memset)
{
    float *in = device_array<float>(32);
    OK(cudaMemset(in, 0, 32 * sizeof(float)));
    add_one<<<1, 32>>>(device_array<float>(32), in);
    SYNC();
}

CASE(initialised_by_a_kernel)
{
    float *in = device_array<float>(32);
    write_all<<<1, 32>>>(in);
    add_one<<<1, 32>>>(device_array<float>(32), in);
    SYNC();
}

__global__ void half_filled(float *out)
{
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1;
    __syncthreads();
    float x = s[threadIdx.x]; // FINDING uninitialised_shared: uninitialised
    out[threadIdx.x] = x * 2;
}

CASE(uninitialised_shared)
{
    half_filled<<<1, 64>>>(device_array<float>(64));
    SYNC();
}

CASE(filled_as_far_as_read)
{
    half_filled<<<1, 32>>>(device_array<float>(64));
    SYNC();
}

// ENV checks_can_be_off: SOFTGPU_CHECKS=off
CASE(checks_can_be_off)
{
    add_one<<<1, 32>>>(device_array<float>(32), device_array<float>(32));
    SYNC();
}

__global__ void copy_one(int *to, const int *from)
{
    *to = *from;
}

// ENV fault_is_sticky: SOFTGPU_THREADS=1
__global__ void write_null(int *p)
{
    *p = 1; // FINDING fault_is_sticky: null-pointer
}

CASE(fault_is_sticky)
{
    int *p = device_array<int>(1), value;
    write_null<<<1, 1>>>(nullptr);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
    FAILS(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    FAILS(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    copy_one<<<1, 1>>>(p, p);
    FAILS(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    OK(cudaSetDevice(0));
}
