/*
 * texture_functions.h: tex1Dfetch, tex1D and tex2D of texture objects. Part of cuda_runtime.h.
 * A row says what makes a texel of four floats or integers.
 */
#ifndef SOFTGPU_TEXTURE_FUNCTIONS_H
#define SOFTGPU_TEXTURE_FUNCTIONS_H

/* clang-format off */

/* ---- fetches --------------------------------------------------------------------------------- */

#define SOFTGPU_FETCH(T, type, c)                                                                  \
    SOFTGPU_DEVICE void softgpu_fetch(T##4 &v, cudaTextureObject_t t, int x)                       \
    {                                                                                              \
        asm("tex.1d.v4." type ".s32 {%0,%1,%2,%3}, [%4, {%5}];"                                    \
            : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w) : "l"(t), "r"(x));                    \
    }                                                                                              \
    SOFTGPU_DEVICE void softgpu_fetch(T##4 &v, cudaTextureObject_t t, float x)                     \
    {                                                                                              \
        asm("tex.1d.v4." type ".f32 {%0,%1,%2,%3}, [%4, {%5}];"                                    \
            : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w) : "l"(t), "f"(x));                    \
    }                                                                                              \
    SOFTGPU_DEVICE void softgpu_fetch(T##4 &v, cudaTextureObject_t t, float x, float y)            \
    {                                                                                              \
        asm("tex.2d.v4." type ".f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"                                 \
            : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w) : "l"(t), "f"(x), "f"(y));            \
    }
SOFTGPU_FETCH(float, "f32", "f") SOFTGPU_FETCH(int, "s32", "r") SOFTGPU_FETCH(uint, "u32", "r")
#undef SOFTGPU_FETCH

template <class T> struct softgpu_texel;
#define SOFTGPU_TEXEL(T, from, value)                                                              \
    template <> struct softgpu_texel<T> {                                                          \
        typedef from##4 four;                                                                      \
        SOFTGPU_DEVICE T make(four v) { return value; }                                         \
    };
#define SOFTGPU_TEXELS(T, name, from)                                                              \
    SOFTGPU_TEXEL(T, from, (T)v.x) SOFTGPU_TEXEL(name##1, from, make_##name##1((T)v.x))            \
    SOFTGPU_TEXEL(name##2, from, make_##name##2((T)v.x, (T)v.y))                                   \
    SOFTGPU_TEXEL(name##4, from, make_##name##4((T)v.x, (T)v.y, (T)v.z, (T)v.w))
SOFTGPU_TEXELS(float, float, float) SOFTGPU_TEXELS(int, int, int)
SOFTGPU_TEXELS(unsigned, uint, uint) SOFTGPU_TEXELS(short, short, int)
SOFTGPU_TEXELS(unsigned short, ushort, uint) SOFTGPU_TEXELS(signed char, char, int)
SOFTGPU_TEXELS(unsigned char, uchar, uint) SOFTGPU_TEXEL(char, int, (char)v.x)
#undef SOFTGPU_TEXELS
#undef SOFTGPU_TEXEL

template <class T, class... At> SOFTGPU_DEVICE T softgpu_read(cudaTextureObject_t t, At... at)
{
    typename softgpu_texel<T>::four v;
    softgpu_fetch(v, t, at...);
    return softgpu_texel<T>::make(v);
}

template <class T> SOFTGPU_DEVICE T tex1Dfetch(cudaTextureObject_t t, int x) { return softgpu_read<T>(t, x); }
template <class T> SOFTGPU_DEVICE T tex1D(cudaTextureObject_t t, float x) { return softgpu_read<T>(t, x); }
template <class T> SOFTGPU_DEVICE T tex2D(cudaTextureObject_t t, float x, float y) { return softgpu_read<T>(t, x, y); }
template <class T> SOFTGPU_DEVICE void tex1Dfetch(T *to, cudaTextureObject_t t, int x) { *to = softgpu_read<T>(t, x); }
template <class T> SOFTGPU_DEVICE void tex1D(T *to, cudaTextureObject_t t, float x) { *to = softgpu_read<T>(t, x); }
template <class T> SOFTGPU_DEVICE void tex2D(T *to, cudaTextureObject_t t, float x, float y) { *to = softgpu_read<T>(t, x, y); }

/* clang-format on */

#endif
