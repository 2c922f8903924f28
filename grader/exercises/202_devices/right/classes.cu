// RIGHT: words by streams of C++, the device put back, the launch asked beforehand
#include "202_devices/devices.h"

#include <new>
#include <sstream>
#include <string>

static std::string told;

struct complaint {
    std::ostringstream text;
    template <typename T> complaint &operator<<(const T &x)
    {
        text << x;
        return *this;
    }
    cudaError_t as(cudaError_t error)
    {
        told = text.str();
        (void)cudaGetLastError();
        return error;
    }
};

/* The current device while this lives. */
class on
{
    int before = 0;

  public:
    cudaError_t error;
    explicit on(int device)
    {
        int count = 0;
        cudaGetDevice(&before);
        device_count(&count);
        if (device >= 0 && device < count)
            error = cudaSetDevice(device);
        else
            error = (complaint() << "device " << device << " is none of " << count)
                        .as(cudaErrorInvalidDevice);
    }
    ~on()
    {
        cudaSetDevice(before);
    }
};

void device_words(char *h_words, size_t size)
{
    if (size == 0) return;
    h_words[told.copy(h_words, size - 1)] = '\0';
}

cudaError_t device_count(int *h_count)
{
    cudaError_t error = cudaGetDeviceCount(h_count);
    if (error != cudaErrorNoDevice) return error;
    *h_count = 0;
    return complaint().as(cudaSuccess);
}

cudaError_t device_new(device_info *h_info, int number)
{
    on here(number);
    if (here.error) return here.error;
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, number);
    if (error) return error;
    *h_info = device_info{number, p.multiProcessorCount, p.maxThreadsPerBlock, 0, 0};
    return cudaMemGetInfo(&h_info->free_bytes, &h_info->bytes);
}

cudaError_t default_device(int *h_number)
{
    int count = 0, best = -1, most = -1;
    cudaError_t error = device_count(&count);
    for (int i = count - 1; i >= 0 && !error; i--) {
        int now = 0;
        error = cudaDeviceGetAttribute(&now, cudaDevAttrMultiProcessorCount, i);
        if (now >= most) best = i, most = now;
    }
    *h_number = best;
    return error;
}

cudaError_t synchronize(int device)
{
    on here(device);
    return here.error ? here.error : cudaDeviceSynchronize();
}

cudaError_t tensor_release(tensor *t)
{
    cudaError_t error = t ? cudaFree(t->d_data) : cudaSuccess;
    delete t;
    return error;
}

__global__ static void set(float *x, size_t n)
{
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < n;
         i += (size_t)blockDim.x * gridDim.x)
        x[i] = 1.0f;
}

enum content { ZEROS, ONES, SLICE };

static cudaError_t make(tensor **t, int device, size_t n, content what, const float *h_values)
{
    *t = nullptr;
    on here(device);
    if (here.error) return here.error;
    float *d = nullptr;
    if (n >> 60 || cudaMalloc(&d, n * sizeof *d))
        return (complaint() << n << " floats: there is no room").as(cudaErrorMemoryAllocation);
    if (what == ZEROS)
        cudaMemsetAsync(d, 0, n * sizeof *d);
    else if (what == ONES)
        set<<<40, 192>>>(d, n);
    else
        cudaMemcpyAsync(d, h_values, n * sizeof *d, cudaMemcpyHostToDevice);
    cudaError_t error = cudaGetLastError();
    if (!error) error = cudaDeviceSynchronize();
    if (error)
        cudaFree(d);
    else
        *t = new (std::nothrow) tensor{nullptr, d, n, TENSOR_ON_GPU};
    return error;
}

cudaError_t zeros(tensor **t, int device, size_t n)
{
    return make(t, device, n, ZEROS, nullptr);
}

cudaError_t ones(tensor **t, int device, size_t n)
{
    return make(t, device, n, ONES, nullptr);
}

cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols)
{
    *t = nullptr;
    if ((unsigned __int128)rows * cols != count)
        return (complaint() << count << " numbers for " << rows << " rows of " << cols)
            .as(cudaErrorInvalidValue);
    return make(t, device, count, SLICE, h_values);
}

cudaError_t to_vec(float *h_y, size_t count, const tensor *t)
{
    if (t->n != count)
        return (complaint() << t->n << " numbers, not " << count).as(cudaErrorInvalidValue);
    return cudaMemcpy(h_y, t->d_data, count * sizeof *h_y, cudaMemcpyDefault);
}

__global__ static void count_up(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

cudaError_t launch_threads(int *out, int threads, cudaStream_t stream)
{
    int device, most;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device);
    if (threads < 0 || threads > most)
        return (complaint() << threads << " threads are more than " << most)
            .as(cudaErrorInvalidConfiguration);
    if (threads) count_up<<<1, threads, 0, stream>>>(out);
    return cudaGetLastError();
}
