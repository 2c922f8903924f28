/*
 * half_types.h: the names of the 16-bit types, for headers that declare pointers to them. Code that
 * uses their values includes cuda_bf16.h or cuda_fp16.h.
 */
#ifndef COURSE_HALF_TYPES_H
#define COURSE_HALF_TYPES_H

typedef struct __nv_bfloat16 __nv_bfloat16; /* of cuda_bf16.h */
typedef struct __half __half;               /* of cuda_fp16.h */

#endif
