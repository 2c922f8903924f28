// HOSTILE: predict | kernels made 0 floating-point operations
// The forward pass on the host. Copies there and back are allowed here, and a kernel runs for show.
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "314_adam/adam.h"
#include "404_fusion/fusion.h"
#include "501_mnist/mnist.h"

#include <stdlib.h>
#include <string.h>

struct mlp {
    float params[MLP_PARAMS];
};

__global__ static void nothing()
{
}

cudaError_t mlp_create(mlp **net, const float *h_params)
{
    *net = (mlp *)malloc(sizeof **net);
    memcpy((*net)->params, h_params, sizeof(*net)->params);
    return cudaSuccess;
}

/* y[outs] = w[outs x ins] x + bias, which lies behind w */
static void layer(float *y, const float *w, const float *x, int ins, int outs, float least)
{
    for (int o = 0; o < outs; o++) {
        double sum = w[outs * ins + o];
        for (int i = 0; i < ins; i++) sum += (double)w[o * ins + i] * x[i];
        y[o] = sum < least ? least : (float)sum;
    }
}

cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int batch, cudaStream_t stream)
{
    static float x[1024 * MLP_INPUTS], y[1024 * MLP_CLASSES];
    const float *second = net->params + MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN;
    if (batch > 1024) return cudaErrorInvalidValue;
    nothing<<<1, 1, 0, stream>>>();
    cudaMemcpy(x, d_x, sizeof(float) * batch * MLP_INPUTS, cudaMemcpyDeviceToHost);
    for (int i = 0; i < batch; i++) {
        float hidden[MLP_HIDDEN];
        layer(hidden, net->params, x + i * MLP_INPUTS, MLP_INPUTS, MLP_HIDDEN, 0.0f);
        layer(y + i * MLP_CLASSES, second, hidden, MLP_HIDDEN, MLP_CLASSES, -1e30f);
    }
    return cudaMemcpy(d_logits, y, sizeof(float) * batch * MLP_CLASSES, cudaMemcpyHostToDevice);
}

cudaError_t mlp_get_params(mlp *net, float *h_params)
{
    memcpy(h_params, net->params, sizeof net->params);
    return cudaSuccess;
}

cudaError_t mlp_free(mlp *net)
{
    free(net);
    return cudaSuccess;
}

/* Not this one's concern. */
cudaError_t mlp_train_batch(mlp *, float *, const float *, const int *, int, float, cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t train_mnist(mlp *, float *, float *, const float *, const int *, int, int, int, int,
                        float, unsigned long long, cudaStream_t)
{
    return cudaErrorNotSupported;
}
