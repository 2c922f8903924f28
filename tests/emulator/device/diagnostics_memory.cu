/* diagnostics_memory.cu: what a finding says of memory: by how much, beside what, allocated and
 * freed where; and neighbours of each mistake that are right, of which nothing is said. */
#include "check.h"
/* What is announced stands on the very line, however long. */
// clang-format off



/* ---- distances, in the elements that the kernel uses ----------------------------------------- */

template <typename T> __global__ void fill(T *p, int from, int count)
{
    int i = from + (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < from + count) p[i] = T(i); // FINDING floats_past: out-of-bounds // FINDING one_double_before: out-of-bounds // FINDING nearer_neighbour: out-of-bounds
}

// STDERR floats_past: 3 floats past the end of a 400-byte buffer allocated at
// STDERR floats_past: , 5 times
CASE(floats_past)
{
    float *p = device_array<float>(100); // ALLOCATED floats_past
    fill<<<1, 32>>>(p, 103, 5);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(floats_to_the_end)
{
    float *p = device_array<float>(100);
    fill<<<1, 32>>>(p, 95, 5);
    SYNC();
}

// STDERR one_double_before: 1 double before the start of a 64-byte buffer
CASE(one_double_before)
{
    double *p = device_array<double>(8); // ALLOCATED one_double_before
    fill<<<1, 1>>>(p, -1, 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

// STDERR nearer_neighbour: 3 doubles before the start of a 64-byte buffer
CASE(nearer_neighbour)
{
    device_array<double>(1000);
    double *p = device_array<double>(8); // ALLOCATED nearer_neighbour
    fill<<<1, 1>>>(p, -3, 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(first_double)
{
    fill<<<1, 1>>>(device_array<double>(8), 0, 1);
    SYNC();
}

__global__ void put_byte(unsigned char *p, int at)
{
    p[at] = 1; // FINDING bytes_past: out-of-bounds
}

// STDERR bytes_past: 2 bytes past the end of a 10-byte buffer
CASE(bytes_past)
{
    put_byte<<<1, 1>>>(device_array<unsigned char>(10), 12); // ALLOCATED bytes_past
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(last_byte)
{
    put_byte<<<1, 1>>>(device_array<unsigned char>(10), 9);
    SYNC();
}

__global__ void copy_vectors(float4 *to, const float4 *from)
{
    to[threadIdx.x] = from[threadIdx.x]; // FINDING half_a_vector: out-of-bounds
}

// STDERR half_a_vector: reads 16 bytes, just past the end of a 24-byte buffer
CASE(half_a_vector)
{
    float *from = to_device(std::vector<float>(6, 1.0f)); // ALLOCATED half_a_vector
    copy_vectors<<<1, 2>>>(device_array<float4>(2), (const float4 *)from);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(whole_vectors)
{
    float *from = to_device(std::vector<float>(8, 1.0f));
    copy_vectors<<<1, 2>>>(device_array<float4>(2), (const float4 *)from);
    SYNC();
}

/* ---- variables of the program ---------------------------------------------------------------- */

__device__ int table[10];
__constant__ float weights[4];

__global__ void set_table(int at)
{
    table[at] = 1; // FINDING past_a_variable: out-of-bounds
}

// STDERR past_a_variable: just past the end of the 40-byte variable table
CASE(past_a_variable)
{
    set_table<<<1, 1>>>(10);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(end_of_a_variable)
{
    set_table<<<1, 1>>>(9);
    SYNC();
}

__global__ void read_weights(float *out, int at)
{
    *out = weights[at]; // FINDING past_a_constant: out-of-bounds
}

// STDERR past_a_constant: 2 floats past the end of the 16-byte variable weights
CASE(past_a_constant)
{
    read_weights<<<1, 1>>>(device_array<float>(1), 6);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(end_of_a_constant)
{
    read_weights<<<1, 1>>>(device_array<float>(1), 3);
    SYNC();
}

__global__ void read_shared(float *out, int at)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + at]; // FINDING past_a_shared_array: out-of-bounds
}

// STDERR past_a_shared_array: 4 floats past the end of the 128-byte shared array tile
CASE(past_a_shared_array)
{
    read_shared<<<1, 32>>>(device_array<float>(32), 36);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

/* ---- freed, null, not the device's ----------------------------------------------------------- */

__global__ void increment(int *p)
{
    p[threadIdx.x] += 1; // FINDING freed_before: use-after-free // FINDING just_past_freed: out-of-bounds // FINDING null: null-pointer // FINDING stack: host-pointer // FINDING heap: host-pointer // FINDING wild: out-of-bounds
}

// STDERR freed_before: at byte 8 of a 128-byte buffer allocated at
CASE(freed_before)
{
    int *p = device_array<int>(32); // ALLOCATED freed_before
    OK(cudaMemset(p, 0, 128));
    OK(cudaFree(p)); // FREED freed_before
    increment<<<1, 1>>>(p + 2);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(freed_after)
{
    int *p = to_device(std::vector<int>(32, 1));
    increment<<<1, 32>>>(p);
    OK(cudaFree(p));
    OK(cudaDeviceSynchronize());
}

CASE(just_past_freed)
{
    int *p = device_array<int>(64); // ALLOCATED just_past_freed
    OK(cudaFree(p)); // FREED just_past_freed
    increment<<<1, 1>>>(p + 64);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(memory_that_came_back)
{
    for (int i = 0; i < 100; i++) {
        int *p = to_device(std::vector<int>(32, i));
        increment<<<1, 32>>>(p);
        CHECK(to_host(p, 1)[0] == i + 1);
        OK(cudaFree(p));
    }
}

CASE(null)
{
    increment<<<1, 32>>>(nullptr);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(no_thread_touches_null)
{
    increment<<<1, 1>>>(to_device(std::vector<int>(1, 1)));
    fill<float><<<1, 32>>>(nullptr, 0, 0);
    SYNC();
}

// STDERR stack: a kernel needs memory from cudaMalloc
CASE(stack)
{
    int host[32] = {};
    increment<<<1, 32>>>(host);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(heap)
{
    std::vector<int> host(32, 7);
    increment<<<1, 32>>>(host.data());
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(managed_is_no_host_pointer)
{
    int *p;
    OK(cudaMallocManaged(&p, 128));
    memset(p, 0, 128);
    increment<<<1, 32>>>(p);
    SYNC();
    CHECK(p[31] == 1);
    OK(cudaFree(p));
}

CASE(wild)
{
    increment<<<1, 1>>>((int *)0x123456789000);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

/* ---- alignment ------------------------------------------------------------------------------- */

__global__ void load_pair(double *out, const char *p, int offset)
{
    *out = *(const double *)(p + offset); // FINDING odd_double: misaligned
}

// STDERR odd_double: at byte 4 of a 64-byte buffer allocated at
CASE(odd_double)
{
    char *p = to_device(std::vector<char>(64, 0)); // ALLOCATED odd_double
    load_pair<<<1, 1>>>(device_array<double>(1), p, 4);
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

CASE(even_double)
{
    char *p = to_device(std::vector<char>(64, 0));
    load_pair<<<1, 1>>>(device_array<double>(1), p, 8);
    SYNC();
}

/* ---- memory that nothing has written --------------------------------------------------------- */

__global__ void add(float *out, const float *a, const float *b, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = a[i] + b[i]; // FINDING nobody_filled_b: uninitialised // FINDING half_filled: uninitialised
}

// STDERR nobody_filled_b: at byte 0 of a 128-byte buffer allocated at
CASE(nobody_filled_b)
{
    float *a = to_device(std::vector<float>(32, 1.0f));
    float *b = device_array<float>(32); // ALLOCATED nobody_filled_b
    add<<<1, 32>>>(device_array<float>(32), a, b, 32);
    SYNC();
}

// STDERR half_filled: , 16 times
CASE(half_filled)
{
    float *a = to_device(std::vector<float>(32, 1.0f));
    float *b = device_array<float>(32);
    OK(cudaMemset(b, 0, 64));
    add<<<1, 32>>>(device_array<float>(32), a, b, 32);
    SYNC();
}

CASE(filled_by_a_copy)
{
    float *a = to_device(std::vector<float>(32, 1.0f)), *b = device_array<float>(32);
    OK(cudaMemcpy(b, a, 128, cudaMemcpyDeviceToDevice));
    add<<<1, 32>>>(device_array<float>(32), a, b, 32);
    SYNC();
}

CASE(only_the_filled_half_is_read)
{
    float *a = to_device(std::vector<float>(32, 1.0f)), *b = device_array<float>(32);
    OK(cudaMemset(b, 0, 64));
    add<<<1, 32>>>(device_array<float>(32), a, b, 16);
    SYNC();
}

struct padded {
    char c;
    double d;
};

__global__ void copy_padded(padded *to, const padded *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

CASE(padding_is_no_data)
{
    padded *from = to_device(std::vector<padded>(32, padded{1, 2.0}));
    copy_padded<<<1, 32>>>(device_array<padded>(32), from);
    SYNC();
}

/* ---- the same in launch after launch --------------------------------------------------------- */

__global__ void read_one(float *out, const float *in)
{
    *out = *in; // FINDING said_three_times: uninitialised
}

// STDERR said_three_times: kernel read_one, again 7 times
CASE(said_three_times)
{
    float *in = device_array<float>(1), *out = device_array<float>(1);
    for (int i = 0; i < 10; i++) read_one<<<1, 1>>>(out, in);
    SYNC();
}

/* ---- after a fault --------------------------------------------------------------------------- */

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
