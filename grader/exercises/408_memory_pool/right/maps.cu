// RIGHT: C++ containers, eight classes for each power of two, events borrowed from a stock, asked
// before they are waited for
#include "408_memory_pool/memory_pool.h"
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace
{

struct Free {
    void *at;
    cudaEvent_t after; /* or nothing that anybody must wait for */
};

struct Out {
    size_t bytes, wanted;
};

size_t round_up(size_t bytes)
{
    size_t step = 256;
    while (bytes / step >= 16) step *= 2;
    return (bytes + step - 1) / step * step;
}

} // namespace

struct pool {
    size_t limit;
    pool_statistics numbers;
    std::unordered_map<void *, Out> out;
    std::multimap<size_t, Free> free_by_size;
    std::vector<cudaEvent_t> stock;

    cudaEvent_t borrow()
    {
        cudaEvent_t event = nullptr;
        if (stock.empty()) {
            cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        } else {
            event = stock.back();
            stock.pop_back();
        }
        return event;
    }

    void give_back_to_device(size_t most)
    {
        while (numbers.reserved > most && !free_by_size.empty()) {
            auto last = std::prev(free_by_size.end());
            if (last->second.after) {
                cudaEventSynchronize(last->second.after);
                stock.push_back(last->second.after);
            }
            cudaFree(last->second.at);
            numbers.reserved -= last->first;
            free_by_size.erase(last);
        }
    }

    void *from_device(size_t bytes)
    {
        void *at = nullptr;
        if (bytes > limit) return nullptr;
        give_back_to_device(limit - bytes);
        if (numbers.reserved > limit - bytes) return nullptr;
        if (cudaMalloc(&at, bytes) != cudaSuccess) {
            cudaGetLastError();
            give_back_to_device(0);
            if (cudaMalloc(&at, bytes) != cudaSuccess) {
                cudaGetLastError();
                return nullptr;
            }
        }
        numbers.reserved += bytes;
        return at;
    }
};

cudaError_t pool_create(pool **p, size_t reserve_limit)
{
    *p = new pool{reserve_limit};
    return cudaSuccess;
}

cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream)
{
    *ptr = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > SIZE_MAX / 2) return cudaErrorMemoryAllocation;
    const size_t rounded = round_up(bytes);
    const auto found = p->free_by_size.find(rounded);
    if (found != p->free_by_size.end()) {
        const Free block = found->second;
        if (block.after) {
            const cudaError_t done = cudaEventQuery(block.after);
            if (done == cudaErrorNotReady) cudaGetLastError();
            if (done != cudaSuccess) {
                const cudaError_t error = cudaStreamWaitEvent(stream, block.after, 0);
                if (error != cudaSuccess) return error;
            }
            p->stock.push_back(block.after);
        }
        p->free_by_size.erase(found);
        p->numbers.hits++;
        *ptr = block.at;
    } else if (!(*ptr = p->from_device(rounded))) {
        return cudaErrorMemoryAllocation;
    }
    p->out[*ptr] = Out{rounded, bytes};
    p->numbers.allocations++;
    p->numbers.in_use += bytes;
    if (p->numbers.in_use > p->numbers.peak) p->numbers.peak = p->numbers.in_use;
    return cudaSuccess;
}

cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream)
{
    if (!ptr) return cudaSuccess;
    const auto found = p->out.find(ptr);
    if (found == p->out.end()) return cudaErrorInvalidValue;
    const cudaEvent_t after = p->borrow();
    const cudaError_t error = cudaEventRecord(after, stream);
    if (error != cudaSuccess) return error;
    p->free_by_size.insert({found->second.bytes, Free{ptr, after}});
    p->numbers.in_use -= found->second.wanted;
    p->out.erase(found);
    return cudaSuccess;
}

cudaError_t pool_reset(pool *p)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return error;
    for (const auto &block : p->out)
        p->free_by_size.insert({block.second.bytes, Free{block.first, nullptr}});
    p->out.clear();
    p->numbers.in_use = 0;
    return cudaSuccess;
}

cudaError_t pool_stats(const pool *p, pool_statistics *statistics)
{
    *statistics = p->numbers;
    return cudaSuccess;
}

cudaError_t pool_destroy(pool *p)
{
    if (!p) return cudaSuccess;
    const cudaError_t error = pool_reset(p);
    p->give_back_to_device(0);
    for (cudaEvent_t event : p->stock) cudaEventDestroy(event);
    delete p;
    return error;
}
