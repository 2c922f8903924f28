// RIGHT: one thread reads all, from a queue; plain reads
/* The queue has a number for each read. The reader takes them in turn, and the caller compares how
 * far it has come with the number of the buffer that it wants. */
#include "414_loader/loader.h"
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

struct buffer {
    char *bytes = nullptr;
    cudaEvent_t over = nullptr;
    size_t batch = 0, length = 0;
    bool taken = false;            /* by a batch that was asked for and not loaded */
    unsigned long long ticket = 0; /* of its last read */
    cudaError_t outcome = cudaSuccess;
};

struct guard {
    std::unique_lock<std::mutex> held;
    explicit guard(std::mutex &m) : held(m)
    {
    }
};

} // namespace

struct loader {
    int file = -1, device = 0;
    size_t size = 0, stride = 0, count = 0;
    std::vector<buffer> ring;
    size_t turn = 0;
    buffer *latest = nullptr;
    std::mutex mutex;
    std::condition_variable asked, answered;
    std::deque<buffer *> queue;
    unsigned long long tickets = 0, answers = 0;
    bool stop = false;
    std::thread reader;

    cudaError_t fill(buffer &b)
    {
        cudaError_t waited = cudaEventSynchronize(b.over);
        if (waited) return waited;
        size_t got = 0;
        while (got < b.length) {
            ssize_t n;
            do n = pread(file, b.bytes + got, b.length - got, (off_t)(b.batch * stride + got));
            while (n < 0 && errno == EINTR);
            if (n < 1) return cudaErrorOperatingSystem;
            got += (size_t)n;
        }
        return cudaSuccess;
    }

    void serve()
    {
        cudaSetDevice(device);
        guard g(mutex);
        for (;;) {
            asked.wait(g.held, [this] { return stop || !queue.empty(); });
            if (stop) return;
            buffer *b = queue.front();
            queue.pop_front();
            g.held.unlock();
            const cudaError_t outcome = fill(*b);
            g.held.lock();
            b->outcome = outcome;
            answers++;
            answered.notify_all();
        }
    }

    buffer *holding(size_t batch)
    {
        for (buffer &b : ring)
            if (b.taken && b.batch == batch) return &b;
        return nullptr;
    }

    buffer *spare()
    {
        for (size_t i = 0; i < ring.size(); i++) {
            buffer &b = ring[(turn + i) % ring.size()];
            if (!b.taken) return &b;
        }
        return nullptr;
    }

    void ask(buffer *b, size_t batch)
    {
        turn = (size_t)(b - ring.data()) + 1;
        b->batch = batch;
        b->length = batch + 1 < count ? stride : size - batch * stride;
        b->taken = true;
        b->ticket = ++tickets;
        queue.push_back(b);
        asked.notify_one();
    }

    void wait(guard &g, const buffer *b)
    {
        answered.wait(g.held, [&] { return answers >= b->ticket; });
    }
};

static cudaError_t examine(loader *l, const char *path, size_t record_bytes, size_t batch)
{
    struct stat about;
    l->file = open(path, O_RDONLY);
    if (l->file < 0 || fstat(l->file, &about) || (about.st_mode & S_IFMT) != S_IFREG)
        return cudaErrorFileNotFound;
    l->size = (size_t)about.st_size;
    const size_t records = l->size / record_bytes;
    if (records * record_bytes != l->size) return cudaErrorInvalidSource;
    l->stride = record_bytes * (batch > records ? records : batch);
    l->count = l->size ? (l->size - 1) / l->stride + 1 : 0;
    return cudaGetDevice(&l->device);
}

extern "C" cudaError_t loader_open(loader **out, const char *path, size_t record_bytes, int batch,
                                   int depth)
{
    *out = nullptr;
    if (!record_bytes || batch <= 0 || depth <= 0 || depth > 8) return cudaErrorInvalidValue;
    loader *l = new (std::nothrow) loader;
    if (!l) return cudaErrorMemoryAllocation;
    cudaError_t error = examine(l, path, record_bytes, (size_t)batch);
    if (!error) l->ring.resize((size_t)depth);
    for (buffer &b : l->ring) {
        if (!error) error = cudaHostAlloc(&b.bytes, l->stride + 1, cudaHostAllocPortable);
        if (!error) error = cudaEventCreateWithFlags(&b.over, cudaEventDisableTiming);
    }
    if (error) {
        loader_close(l);
        cudaGetLastError();
        return error;
    }
    l->reader = std::thread(&loader::serve, l);
    *out = l;
    return cudaSuccess;
}

extern "C" cudaError_t prefetch_next_batch(loader *l, size_t batch_idx)
{
    if (batch_idx >= l->count) return cudaErrorInvalidValue;
    guard g(l->mutex);
    if (l->holding(batch_idx)) return cudaSuccess;
    buffer *b = l->spare();
    if (!b) return cudaErrorNotReady;
    l->ask(b, batch_idx);
    return cudaSuccess;
}

extern "C" cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx,
                                         cudaStream_t stream)
{
    if (batch_idx >= l->count) return cudaErrorInvalidValue;
    guard g(l->mutex);
    buffer *b = l->holding(batch_idx);
    if (!b) {
        b = l->spare();
        if (!b) {
            b = &l->ring[l->turn % l->ring.size()];
            l->wait(g, b);
        }
        l->ask(b, batch_idx);
    }
    l->wait(g, b);
    b->taken = false;
    if (b->outcome) return b->outcome;
    l->latest = b;
    cudaError_t error =
        cudaMemcpyAsync(d_batch, b->bytes, b->length, cudaMemcpyHostToDevice, stream);
    return error ? error : cudaEventRecord(b->over, stream);
}

extern "C" cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes)
{
    *h_buffer = l->latest ? l->latest->bytes : nullptr;
    *bytes = l->latest ? l->latest->length : 0;
    return cudaSuccess;
}

extern "C" cudaError_t loader_close(loader *l)
{
    if (!l) return cudaSuccess;
    {
        guard g(l->mutex);
        l->stop = true;
        l->asked.notify_one();
    }
    if (l->reader.joinable()) l->reader.join();
    cudaError_t error = cudaSuccess;
    for (buffer &b : l->ring) {
        if (b.over && !error) error = cudaEventSynchronize(b.over);
        if (b.over) cudaEventDestroy(b.over);
        cudaFreeHost(b.bytes);
    }
    if (l->file >= 0) close(l->file);
    delete l;
    return error;
}
