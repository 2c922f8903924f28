// prints: 0.5 0.5 0.5 0 0
#include <stdio.h>
#include <math.h>
__global__ void sines(double *out)
{
    out[0] = sinpi(3.0);
    out[1] = cospi(2.5);
}
int main()
{
    double h[2], *d;
    cudaMalloc(&d, sizeof h);
    sines<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g %g\n", rsqrtf(4.0f), rcbrtf(8.0f), normcdff(0.0f), fabs(h[0]), fabs(h[1]));
    cudaFree(d);
    return 0;
}
