// host pointer
/* The structure was copied to the device, what it points to was not. */
#include <cstdlib>
#include <device_arrays.h>

struct Layer {
    float *weights;
    int inputs;
};

__global__ void forward(float *y, const float *x, const Layer *layer)
{
    float sum = 0;
    for (int k = 0; k < layer->inputs; k++) sum += layer->weights[k] * x[k]; // HERE
    y[threadIdx.x] = sum;
}

int main()
{
    float *weights = (float *)calloc(16, sizeof *weights);
    Layer layer = {weights, 16}, *d_layer;
    cudaMalloc(&d_layer, sizeof layer);
    cudaMemcpy(d_layer, &layer, sizeof layer, cudaMemcpyHostToDevice);
    float *x = filled<float>(16, 0), *y = unwritten<float>(32);
    forward<<<1, 32>>>(y, x, d_layer);
    return cudaDeviceSynchronize();
}
