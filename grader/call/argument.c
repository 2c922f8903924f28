/* argument.c: what a call is given: case.h says what each function makes. */
#include "call.h"

#include <stdio.h>

static argument buffer(const char *name, const void *data, size_t bytes, unsigned role,
                       unsigned is_float)
{
    argument a = {.data = (void *)data, .role = role};
    a.wire.kind = WIRE_BUFFER;
    a.wire.space = WIRE_DEVICE; /* of an exercise that has one: call.c */
    a.wire.bytes = bytes;
    a.wire.value.u = is_float ? POISON_F32 : POISON_I32;
    snprintf(a.wire.name, sizeof a.wire.name, "%s", name);
    return a;
}

argument in_f32(const char *name, const float *data, size_t count)
{
    return buffer(name, data, count * 4, ROLE_IN, 1);
}

argument out_f32(const char *name, float *data, size_t count)
{
    return buffer(name, data, count * 4, ROLE_OUT, 1);
}

argument inout_f32(const char *name, float *data, size_t count)
{
    return buffer(name, data, count * 4, ROLE_INOUT, 1);
}

argument in_i32(const char *name, const int *data, size_t count)
{
    return buffer(name, data, count * 4, ROLE_IN, 0);
}

argument out_i32(const char *name, int *data, size_t count)
{
    return buffer(name, data, count * 4, ROLE_OUT, 0);
}

argument in_bytes(const char *name, const void *data, size_t bytes)
{
    return buffer(name, data, bytes, ROLE_IN, 0);
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

argument worker_function(const char *name)
{
    argument a = plain(WIRE_FUNCTION);
    snprintf(a.wire.name, sizeof a.wire.name, "%s", name);
    return a;
}
