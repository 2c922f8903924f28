/* argument.c: the arguments of a call: case.h says what each function makes. */
#include "call.h"

#include <stdio.h>
#include <string.h>

static argument buffer(element_type e, const char *name, const void *data, size_t count,
                       unsigned role)
{
    argument a = {.data = (void *)data, .role = role, .element = e};
    a.wire.kind = WIRE_BUFFER;
    a.wire.space = WIRE_DEVICE; /* of an exercise that has one: call.c */
    a.wire.bytes = count * element_bytes(e);
    a.wire.value.u = element_poison(e);
    a.wire.addresses = e == ELEMENT_ADDRESS;
    snprintf(a.wire.numpy, sizeof a.wire.numpy, "%s", element_numpy(e));
    snprintf(a.wire.name, sizeof a.wire.name, "%s", name);
    return a;
}

argument in_f32(const char *name, const float *data, size_t count)
{
    return buffer(ELEMENT_F32, name, data, count, ROLE_IN);
}

argument out_f32(const char *name, float *data, size_t count)
{
    return buffer(ELEMENT_F32, name, data, count, ROLE_OUT);
}

argument inout_f32(const char *name, float *data, size_t count)
{
    return buffer(ELEMENT_F32, name, data, count, ROLE_INOUT);
}

argument in_i32(const char *name, const int *data, size_t count)
{
    return buffer(ELEMENT_I32, name, data, count, ROLE_IN);
}

argument out_i32(const char *name, int *data, size_t count)
{
    return buffer(ELEMENT_I32, name, data, count, ROLE_OUT);
}

argument in_bytes(const char *name, const void *data, size_t bytes)
{
    return buffer(ELEMENT_BYTE, name, data, bytes, ROLE_IN);
}

argument in_of(element_type e, const char *name, const void *data, size_t count)
{
    return buffer(e, name, data, count, ROLE_IN);
}

argument out_of(element_type e, const char *name, void *data, size_t count)
{
    return buffer(e, name, data, count, ROLE_OUT);
}

argument inout_of(element_type e, const char *name, void *data, size_t count)
{
    return buffer(e, name, data, count, ROLE_INOUT);
}

argument addresses(const char *name, const unsigned long long *numbers, size_t count)
{
    return buffer(ELEMENT_ADDRESS, name, numbers, count, ROLE_IN);
}

argument beside(argument a)
{
    a.wire.beside = 1;
    return a;
}

argument host(argument a)
{
    a.wire.space = WIRE_HOST;
    return a;
}

argument pinned(argument a)
{
    a.wire.pinned = 1;
    return a;
}

argument opaque(argument a)
{
    a.wire.opaque = 1;
    return a;
}

argument on_device(unsigned device, argument a)
{
    a.wire.device = device;
    return a;
}

argument shifted(argument a, unsigned bytes)
{
    a.wire.before = bytes;
    return a;
}

static argument plain(wire_kind kind)
{
    return (argument){.wire.kind = kind};
}

argument same_as(int index)
{
    argument a = plain(WIRE_ALIAS);
    a.wire.value.i = index;
    return a;
}

argument i32(int value)
{
    argument a = plain(WIRE_I32);
    a.wire.value.i = value;
    return a;
}

argument u64(unsigned long long value)
{
    argument a = plain(WIRE_U64);
    a.wire.value.u = value;
    return a;
}

argument f32(float value)
{
    argument a = plain(WIRE_F32);
    a.wire.value.f = value;
    return a;
}

argument f64(double value)
{
    argument a = plain(WIRE_F64);
    a.wire.value.f = value;
    return a;
}

argument dim3_of(unsigned x, unsigned y, unsigned z)
{
    argument a = plain(WIRE_DIM3);
    a.wire.value.dim[0] = x;
    a.wire.value.dim[1] = y;
    a.wire.value.dim[2] = z;
    return a;
}

argument stream(void)
{
    return plain(WIRE_STREAM);
}

argument null_pointer(void)
{
    return plain(WIRE_NULL);
}

argument handle(int number)
{
    argument a = plain(WIRE_POINTER);
    a.wire.value.i = number;
    return a;
}

argument handle_out(int number)
{
    argument a = plain(WIRE_HANDLE_OUT);
    a.wire.value.i = number;
    return a;
}

argument path_of(unsigned long long bytes, unsigned long long at, const void *data, size_t count)
{
    argument a = plain(WIRE_FILE);
    a.data = (void *)data;
    a.wire.at = at;
    a.wire.bytes = count;
    a.wire.after = bytes - at - count;
    return a;
}

argument interrupted(argument a, unsigned long long seed)
{
    a.wire.value.u = seed | 1;
    return a;
}

argument with_read_errors(argument a)
{
    a.wire.value.u = WIRE_UNREADABLE;
    return a;
}

argument worker_function(const char *name)
{
    argument a = plain(WIRE_FUNCTION);
    snprintf(a.wire.name, sizeof a.wire.name, "%s", name);
    return a;
}
