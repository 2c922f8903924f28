/*
 * atomic_operations.h: orders, scopes, and what cuda/atomic is made of: loads, stores, exchanges
 * and updates of words in each of them, by PTX on the device, by the compiler's own on the host.
 */
#ifndef SOFTGPU_ATOMIC_OPERATIONS_H
#define SOFTGPU_ATOMIC_OPERATIONS_H

#include "../host_defines.h"

#include <stddef.h>
#include <stdint.h>

/* clang-format off */

namespace cuda
{
namespace std
{
enum memory_order {
    memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release,
    memory_order_acq_rel, memory_order_seq_cst,
};
} // namespace std
using std::memory_order;
using std::memory_order_relaxed;
using std::memory_order_consume;
using std::memory_order_acquire;
using std::memory_order_release;
using std::memory_order_acq_rel;
using std::memory_order_seq_cst;

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace details
{

/* PTX is text: one statement for each scope and order, of which the compiler keeps one. */
#define IN_SCOPE(head, tail, ...)                                                                  \
    {                                                                                              \
        if (scope == thread_scope_system) asm volatile(head ".sys" tail __VA_ARGS__ : "memory");   \
        else if (scope == thread_scope_device) asm volatile(head ".gpu" tail __VA_ARGS__ : "memory"); \
        else asm volatile(head ".cta" tail __VA_ARGS__ : "memory");                                \
    }
#define LOAD(head, tail, ...)                                                                      \
    if (order == memory_order_relaxed) IN_SCOPE(head ".relaxed", tail, __VA_ARGS__)                \
    else IN_SCOPE(head ".acquire", tail, __VA_ARGS__)
#define STORE(head, tail, ...)                                                                     \
    if (order == memory_order_release) IN_SCOPE(head ".release", tail, __VA_ARGS__)                \
    else IN_SCOPE(head ".relaxed", tail, __VA_ARGS__)
#define UPDATE(head, tail, ...)                                                                    \
    if (order == memory_order_relaxed) IN_SCOPE(head ".relaxed", tail, __VA_ARGS__)                \
    else if (order == memory_order_release) IN_SCOPE(head ".release", tail, __VA_ARGS__)           \
    else if (order == memory_order_acq_rel) IN_SCOPE(head ".acq_rel", tail, __VA_ARGS__)           \
    else IN_SCOPE(head ".acquire", tail, __VA_ARGS__)

#ifdef __CUDA_ARCH__
SOFTGPU_DEVICE void fence(memory_order order, thread_scope scope)
{
    if (order == memory_order_seq_cst) IN_SCOPE("fence.sc", ";", ::)
    else if (order != memory_order_relaxed) IN_SCOPE("fence.acq_rel", ";", ::)
}
/* What is in one order with all others comes after a fence that is. */
SOFTGPU_DEVICE void begin(memory_order order, thread_scope scope)
{
    if (order == memory_order_seq_cst) fence(order, scope);
}

#define ACCESS(T, R, r, type)                                                                      \
    SOFTGPU_DEVICE T load(const T *p, memory_order order, thread_scope scope)                      \
    {                                                                                              \
        R v;                                                                                       \
        begin(order, scope);                                                                       \
        LOAD("ld", type " %0, [%1];", : "=" r(v) : "l"(p))                                         \
        return (T)v;                                                                               \
    }                                                                                              \
    SOFTGPU_DEVICE void store(T *p, T v, memory_order order, thread_scope scope)                   \
    {                                                                                              \
        begin(order, scope);                                                                       \
        STORE("st", type " [%0], %1;", :: "l"(p), r((R)v))                                         \
    }
ACCESS(uint8_t, uint16_t, "h", ".b8") ACCESS(uint16_t, uint16_t, "h", ".b16")
ACCESS(uint32_t, uint32_t, "r", ".b32") ACCESS(uint64_t, uint64_t, "l", ".b64")
#undef ACCESS

#define EXCHANGE(T, r, type)                                                                       \
    SOFTGPU_DEVICE T exchange(T *p, T v, memory_order order, thread_scope scope)                   \
    {                                                                                              \
        T old;                                                                                     \
        begin(order, scope);                                                                       \
        UPDATE("atom.exch", type " %0, [%1], %2;", : "=" r(old) : "l"(p), r(v))                    \
        return old;                                                                                \
    }                                                                                              \
    SOFTGPU_DEVICE T compare_exchange(T *p, T expected, T v, memory_order order, thread_scope scope) \
    {                                                                                              \
        T old;                                                                                     \
        begin(order, scope);                                                                       \
        UPDATE("atom.cas", type " %0, [%1], %2, %3;", : "=" r(old) : "l"(p), r(expected), r(v))    \
        return old;                                                                                \
    }
EXCHANGE(uint32_t, "r", ".b32") EXCHANGE(uint64_t, "l", ".b64")
#undef EXCHANGE

/* Of 1 and 2 bytes: within the word around them, until nobody came between. */
template <class T>
SOFTGPU_DEVICE T compare_exchange(T *p, T expected, T v, memory_order order, thread_scope scope)
{
    uint32_t *around = (uint32_t *)((size_t)p & ~(size_t)3);
    const unsigned at = 8 * (unsigned)((size_t)p & 3), ones = (1u << 8 * sizeof(T)) - 1;
    uint32_t old = load(around, memory_order_relaxed, scope), seen;
    do {
        seen = old;
        if ((T)(seen >> at) != expected) return (T)(seen >> at);
        const uint32_t next = (seen & ~(ones << at)) | (uint32_t)v << at;
        old = compare_exchange(around, seen, next, order, scope);
    } while (old != seen);
    return expected;
}
template <class T> SOFTGPU_DEVICE T exchange(T *p, T v, memory_order order, thread_scope scope)
{
    T old = load(p, memory_order_relaxed, scope), seen;
    while ((seen = compare_exchange(p, old, v, order, scope)) != old) old = seen;
    return old;
}
#else
SOFTGPU_BOTH void fence(memory_order, thread_scope) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
template <class T> SOFTGPU_BOTH T load(const T *p, memory_order, thread_scope)
{ return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
template <class T> SOFTGPU_BOTH void store(T *p, T v, memory_order, thread_scope)
{ __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
template <class T> SOFTGPU_BOTH T exchange(T *p, T v, memory_order, thread_scope)
{ return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }
template <class T>
SOFTGPU_BOTH T compare_exchange(T *p, T expected, T v, memory_order, thread_scope)
{
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
#endif

/* Updates that are one instruction of the device. @return false: this one is none */
template <class T, class V>
SOFTGPU_BOTH bool update(const void *, T *, V, memory_order, thread_scope, T &) { return false; }
#ifdef __CUDA_ARCH__
#define NATIVE(name, head, T, r, type)                                                             \
    SOFTGPU_DEVICE bool update(const struct name *, T *p, T v, memory_order order, thread_scope scope, T &old) \
    {                                                                                              \
        begin(order, scope);                                                                       \
        UPDATE("atom." head, type " %0, [%1], %2;", : "=" r(old) : "l"(p), r(v))                   \
        return true;                                                                               \
    }
#else
#define NATIVE(name, head, T, r, type) struct name;
#endif
#define INTEGER(T, r, ordered, bits, sum)                                                          \
    NATIVE(plus, "add", T, r, sum) NATIVE(least, "min", T, r, ordered) NATIVE(most, "max", T, r, ordered) \
    NATIVE(both, "and", T, r, bits) NATIVE(either, "or", T, r, bits) NATIVE(differ, "xor", T, r, bits)
INTEGER(int, "r", ".s32", ".b32", ".s32") INTEGER(unsigned, "r", ".u32", ".b32", ".u32")
INTEGER(long, "l", ".s64", ".b64", ".u64") INTEGER(unsigned long, "l", ".u64", ".b64", ".u64")
INTEGER(long long, "l", ".s64", ".b64", ".u64") INTEGER(unsigned long long, "l", ".u64", ".b64", ".u64")
NATIVE(plus, "add", float, "f", ".f32") NATIVE(plus, "add", double, "d", ".f64")
#undef INTEGER
#undef NATIVE
#undef UPDATE
#undef STORE
#undef LOAD
#undef IN_SCOPE

/* An update by name, for the value that is there and the one given. */
#define OPERATION(name, value)                                                                     \
    struct name {                                                                                  \
        template <class T, class V> SOFTGPU_MEMBER static T of(T a, V b) { return (T)(value); }    \
    };
OPERATION(plus, a + b) OPERATION(least, b < a ? b : a) OPERATION(most, a < b ? b : a)
OPERATION(both, a & b) OPERATION(either, a | b) OPERATION(differ, a ^ b)
#undef OPERATION

} // namespace details
} // namespace cuda

/* clang-format on */

#endif
