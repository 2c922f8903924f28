// prints: 12 27 16 75
#include <stdio.h>
class Shape
{
  public:
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape()
    {
    }
};
class Square : public Shape
{
    float side;

  public:
    __device__ explicit Square(float s) : side(s)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};
class Circle : public Shape
{
    float radius;

  public:
    __device__ explicit Circle(float r) : radius(r)
    {
    }
    __device__ float area() const override
    {
        return 3 * radius * radius;
    }
};
__device__ __noinline__ float area_of(const Shape *s)
{
    return s->area();
}
__global__ void areas(float *out)
{
    Shape *s;
    if (threadIdx.x % 2)
        s = new Circle(threadIdx.x);
    else
        s = new Square(threadIdx.x);
    out[threadIdx.x] = area_of(s);
    delete s;
}
int main()
{
    float *d, h[32];
    cudaMalloc(&d, sizeof h);
    areas<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", h[1] + 9, h[3], h[4], h[5]);
    cudaFree(d);
    return 0;
}
