/* copies_2d.cu: copies and fills of planes and boxes, in streams and in graphs. */
#include "check.h"

enum { WIDTH = 10, HEIGHT = 6, DEPTH = 3 };

static std::vector<int> iota(int n)
{
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i;
    return v;
}

struct plane {
    int *p;
    size_t pitch;
    plane()
    {
        OK(cudaMallocPitch(&p, &pitch, WIDTH * sizeof(int), HEIGHT));
        OK(cudaMemset2D(p, pitch, 0, pitch, HEIGHT));
    }
    int at(int row, int column) const
    {
        return to_host(p + row * (pitch / sizeof(int)) + column, 1)[0];
    }
};

CASE(planes_in_a_stream)
{
    cudaStream_t stream;
    plane a, b;
    std::vector<int> host = iota(WIDTH * HEIGHT), back(WIDTH * HEIGHT);
    OK(cudaStreamCreate(&stream));
    OK(cudaMemcpy2DAsync(a.p, a.pitch, host.data(), 40, 40, HEIGHT, cudaMemcpyHostToDevice,
                         stream));
    OK(cudaMemcpy2DAsync(b.p, b.pitch, a.p, a.pitch, 40, HEIGHT, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpy2DAsync(back.data(), 40, b.p, b.pitch, 40, HEIGHT, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(back == host && b.at(5, 9) == 59);
    OK(cudaMemset2DAsync(b.p, b.pitch, 0xff, 8, 3, stream));
    CHECK(b.at(2, 1) == -1 && b.at(2, 2) == 22 && b.at(3, 0) == 30);
}

/* Part of a plane: neither its neighbours in the row nor the padding are touched. */
CASE(a_window)
{
    plane a;
    std::vector<int> host = iota(WIDTH * HEIGHT);
    OK(cudaMemcpy2D(a.p + 2, a.pitch, host.data() + 11, 40, 12, 2, cudaMemcpyHostToDevice));
    CHECK(a.at(0, 1) == 0 && a.at(0, 2) == 11 && a.at(0, 4) == 13 && a.at(0, 5) == 0);
    CHECK(a.at(1, 2) == 21 && a.at(2, 2) == 0);
}

CASE(past_the_end_of_a_plane)
{
    plane a;
    std::vector<int> host = iota(WIDTH * HEIGHT * 2);
    FAILS(cudaMemcpy2D(a.p, a.pitch, host.data(), 40, 40, HEIGHT + 1, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    FAILS(cudaMemcpy2D(a.p, a.pitch, host.data(), 39, 40, 2, cudaMemcpyHostToDevice),
          cudaErrorInvalidPitchValue);
    FAILS(cudaMemset2D(a.p, 8, 0, 40, 2), cudaErrorInvalidValue);
    OK(cudaMemcpy2D(a.p, a.pitch, host.data(), 40, 0, 5, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(a.p, a.pitch, host.data(), 40, 40, 0, cudaMemcpyHostToDevice));
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
}

CASE(boxes)
{
    cudaPitchedPtr box;
    std::vector<int> host = iota(WIDTH * HEIGHT * DEPTH), back(WIDTH * HEIGHT * DEPTH);
    cudaExtent all = make_cudaExtent(40, HEIGHT, DEPTH), part = make_cudaExtent(8, 2, 2);
    OK(cudaMalloc3D(&box, all));
    CHECK(box.xsize == 40 && box.ysize == HEIGHT && box.pitch >= 40);
    OK(cudaMemset3D(box, 0, all));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host.data(), 40, WIDTH, HEIGHT);
    p.dstPtr = box;
    p.srcPos = make_cudaPos(4, 1, 1), p.dstPos = make_cudaPos(8, 3, 0);
    p.extent = part;
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3DAsync(&p, 0));
    cudaMemcpy3DParms whole = {};
    whole.srcPtr = box, whole.dstPtr = make_cudaPitchedPtr(back.data(), 40, WIDTH, HEIGHT);
    whole.extent = all, whole.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&whole));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                bool inside = z < 2 && y >= 3 && y < 5 && x >= 2 && x < 4;
                int from = ((z + 1) * HEIGHT + y - 2) * WIDTH + x - 1;
                CHECK(back[(z * HEIGHT + y) * WIDTH + x] == (inside ? from : 0));
            }
}

CASE(captured_planes)
{
    plane a, b;
    std::vector<int> host = iota(WIDTH * HEIGHT + 1);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[3];
    size_t count = 3, one = 1;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpy2DAsync(a.p, a.pitch, host.data(), 40, 40, HEIGHT, cudaMemcpyHostToDevice,
                         stream));
    OK(cudaMemcpy2DAsync(b.p, b.pitch, a.p, a.pitch, 40, HEIGHT, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemset2DAsync(a.p, a.pitch, 1, 4, 2, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, nodes, &count));
    cudaMemcpy3DParms p;
    OK(cudaGraphGetRootNodes(graph, &nodes[0], &one));
    OK(cudaGraphMemcpyNodeGetParams(nodes[0], &p));
    CHECK(count == 3 && one == 1 && p.extent.width == 40 && p.extent.height == HEIGHT && p.dstPtr.ptr == a.p);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    host[59] = 1000;
    OK(cudaGraphLaunch(exec, stream));
    CHECK(b.at(5, 9) == 1000 && b.at(0, 1) == 1 && a.at(1, 0) == 0x01010101 && a.at(2, 0) == 20);
    p.srcPtr.ptr = host.data() + 1;
    OK(cudaGraphExecMemcpyNodeSetParams(exec, nodes[0], &p));
    OK(cudaGraphLaunch(exec, stream));
    CHECK(b.at(5, 9) == 60 && b.at(0, 0) == 1);
}

CASE(batch)
{
    int *a = device_array<int>(16), *b = device_array<int>(16);
    std::vector<int> one(16, 1), two(16, 2);
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    void *to[] = {a, b};
    const void *from[] = {one.data(), two.data()};
    size_t bytes[] = {64, 32};
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t index = 0;
    OK(cudaMemset(b, 0, 64));
    OK(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &index, 1, stream));
    CHECK(to_host(a, 16)[15] == 1 && to_host(b, 16)[7] == 2 && to_host(b, 16)[8] == 0);
}

/* A copy carries along which bytes were never written. */
__global__ void read(const int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // FINDING unwritten_bytes_travel: uninitialised
}

CASE(unwritten_bytes_travel)
{
    plane a;
    int *fresh = device_array<int>(32), *out = device_array<int>(32);
    OK(cudaMemset(fresh, 0, 16));
    OK(cudaMemcpy2D(out, 64, fresh, 64, 64, 2, cudaMemcpyDeviceToDevice));
    read<<<1, 32>>>(out, out + 0);
    SYNC();
}
