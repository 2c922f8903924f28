/* unsupported.cu: what softgpu lacks is refused by name and line, kernel by kernel: the others of
 * the same file run. */
// NEEDS: nvcc, types and functions of surfaces and of other textures, which softgpu refuses
#include "check.h"

__global__ void fine(int *out)
{
    *out = 1;
}

// STDERR a_texture_of_other_kinds: uses tex.3d.v4.f32.f32
__global__ void texture(cudaTextureObject_t t, float *out)
{
    *out = tex3D<float>(t, 1, 2, 3); // FINDING a_texture_of_other_kinds: unsupported
}

// STDERR a_surface: uses suld.b.2d
__global__ void surface(cudaSurfaceObject_t s, float *out)
{
    surf2Dread(out, s, 4, 2); // FINDING a_surface: unsupported
}

// STDERR four_rows_of_a_tensor: uses cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4
#define GATHER                                                                                     \
    "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], "  \
    "[%1, {%0, %0, %0, %0, %0}], [%0];"
__global__ void gather(float *in)
{
    asm volatile(GATHER ::"r"(0), "l"(in)); // FINDING four_rows_of_a_tensor: unsupported
}

// STDERR tensor_maps_that_a_kernel_changes: uses tensormap.replace.tile
#define REPLACE "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %0;"
__global__ void replace(float *map)
{
    asm volatile(REPLACE ::"l"(map)); // FINDING tensor_maps_that_a_kernel_changes: unsupported
}

// STDERR tensor_cores_of_blackwell: uses tcgen05.alloc.cta_group::1
#define ALLOCATE "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
__global__ void blackwell()
{
    asm volatile(ALLOCATE ::"r"(0), "r"(32)); // FINDING tensor_cores_of_blackwell: unsupported
}

// STDERR sparse_matrices: uses mma.sp.sync.aligned
#define SPARSE                                                                                     \
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%0,%0,%0}, {%1,%1}, {%1,%1}, "       \
    "{%0,%0,%0,%0}, %1, 0x0;"
__global__ void sparse(float *out)
{
    asm volatile(SPARSE : "+f"(*out) : "r"(0)); // FINDING sparse_matrices: unsupported
}

// STDERR a_special_register: uses mov.u32 %pm3
__global__ void counter(unsigned *out)
{
    asm volatile("mov.u32 %0, %%pm3;" : "=r"(*out)); // FINDING a_special_register: unsupported
}

CASE(a_texture_of_other_kinds)
{
    texture<<<1, 32>>>(0, device_array<float>(1));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(a_surface)
{
    surface<<<1, 32>>>(0, device_array<float>(1));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(four_rows_of_a_tensor)
{
    gather<<<1, 32>>>(device_array<float>(4));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(tensor_maps_that_a_kernel_changes)
{
    replace<<<1, 32>>>(device_array<float>(32));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(tensor_cores_of_blackwell)
{
    blackwell<<<1, 32>>>();
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(sparse_matrices)
{
    sparse<<<1, 32>>>(device_array<float>(1));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(a_special_register)
{
    counter<<<1, 1>>>(device_array<unsigned>(1));
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}

CASE(the_others_run)
{
    int *out = device_array<int>(1);
    fine<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 1);
}
