/* host_layers.c: layers on the CPU, as plain as they are: what these cost is the roadmap's column
 * "CPU". */
#include "program.h"

#include <math.h>

void host_batchnorm(float *y, const float *x, const float *mean, const float *var,
                    const float *gamma, const float *beta, int batch, int channels, int pixels,
                    float eps)
{
    for (int plane = 0; plane < batch * channels; plane++) {
        const int c = plane % channels;
        const float scale = gamma[c] / sqrtf(var[c] + eps), shift = beta[c] - scale * mean[c];
        for (int i = 0; i < pixels; i++) *y++ = scale * *x++ + shift;
    }
}

void host_relu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] < 0.0f ? 0.0f : x[i]; /* NaN stays NaN */
}

void host_add_relu(float *y, const float *x, const float *shortcut, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float sum = x[i] + shortcut[i];
        y[i] = sum < 0.0f ? 0.0f : sum;
    }
}

/* The largest of what the window sees of the image: the padding takes no part. */
static float largest_of(const float *x, int side, int top, int left, int kernel)
{
    float largest = -INFINITY;
    for (int i = top < 0 ? 0 : top; i < top + kernel && i < side; i++) {
        for (int j = left < 0 ? 0 : left; j < left + kernel && j < side; j++) {
            if (!(x[i * side + j] <= largest)) largest = x[i * side + j];
        }
    }
    return largest;
}

void host_maxpool(float *y, const float *x, int planes, int side, int kernel, int stride, int pad)
{
    const int out = resnet18_out_size(side, kernel, stride, pad);
    for (int plane = 0; plane < planes; plane++, x += (size_t)side * side) {
        for (int i = 0; i < out * out; i++) {
            *y++ = largest_of(x, side, i / out * stride - pad, i % out * stride - pad, kernel);
        }
    }
}

void host_avgpool(float *y, const float *x, int planes, int pixels)
{
    for (int plane = 0; plane < planes; plane++) {
        double sum = 0.0;
        for (int i = 0; i < pixels; i++) sum += *x++;
        y[plane] = (float)(sum / pixels);
    }
}

void host_linear(float *y, const float *x, const float *w, const float *bias, int batch,
                 int in_features, int out_features)
{
    for (int row = 0; row < batch; row++) {
        for (int o = 0; o < out_features; o++) {
            float sum = 0.0f;
            for (int i = 0; i < in_features; i++) {
                sum += x[(size_t)row * in_features + i] * w[(size_t)o * in_features + i];
            }
            y[(size_t)row * out_features + o] = sum + bias[o];
        }
    }
}
