/* copies.cu: cudaMemcpy and cudaMemset in all directions and shapes. */
#include "check.h"

static std::vector<int> iota(int n)
{
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i;
    return v;
}

CASE(directions)
{
    std::vector<int> host = iota(100), back(100);
    int *a = device_array<int>(100), *b = device_array<int>(100);
    OK(cudaMemcpy(a, host.data(), 400, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(back.data(), b, 400, cudaMemcpyDeviceToHost));
    CHECK(back == host);
    OK(cudaMemcpy(back.data() + 50, a + 10, 40, cudaMemcpyDefault));
    CHECK(back[50] == 10 && back[59] == 19 && back[60] == 60);
    OK(cudaMemcpy(back.data(), host.data() + 1, 4, cudaMemcpyHostToHost));
    CHECK(back[0] == 1);
    OK(cudaMemcpyPeer(b, 0, a + 1, 0, 4));
    CHECK(to_host(b, 1)[0] == 1);
}

CASE(fills)
{
    unsigned char *p = device_array<unsigned char>(100);
    OK(cudaMemset(p, 0xab, 100));
    OK(cudaMemset(p + 10, 300, 5));
    std::vector<unsigned char> got = to_host(p, 100);
    CHECK(got[9] == 0xab && got[10] == 300 % 256 && got[14] == 300 % 256 && got[15] == 0xab);
}

CASE(pitched)
{
    int *p, back[4][5];
    size_t pitch;
    std::vector<int> host = iota(20);
    OK(cudaMallocPitch(&p, &pitch, 5 * sizeof(int), 4));
    CHECK(pitch >= 20 && pitch % 256 == 0);
    OK(cudaMemset2D(p, pitch, 0, 5 * sizeof(int), 4));
    OK(cudaMemcpy2D(p, pitch, host.data(), 20, 20, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back, 20, p, pitch, 20, 4, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(back, host.data(), sizeof back));
    OK(cudaMemcpy2D(back, 20, (char *)p + pitch, pitch, 8, 2, cudaMemcpyDeviceToHost));
    CHECK(back[0][0] == 5 && back[1][1] == 11 && back[0][2] == 2);
    FAILS(cudaMemcpy2D(p, 8, host.data(), 20, 20, 4, cudaMemcpyHostToDevice),
          cudaErrorInvalidPitchValue);
}

CASE(three_dimensions)
{
    cudaPitchedPtr box;
    int back[2][3][4] = {};
    std::vector<int> host = iota(24);
    OK(cudaMalloc3D(&box, make_cudaExtent(16, 3, 2)));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host.data(), 16, 16, 3);
    p.dstPtr = box;
    p.extent = make_cudaExtent(16, 3, 2);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    p.srcPtr = box;
    p.dstPtr = make_cudaPitchedPtr(back, 16, 16, 3);
    p.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&p));
    CHECK(!memcmp(back, host.data(), sizeof back));
}

CASE(large_copy)
{
    std::vector<int> host = iota(3 << 20);
    int *p = to_device(host);
    CHECK(to_host(p, host.size()) == host);
}
