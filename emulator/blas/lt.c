/*
 * lt.c: cuBLASLt: D = f(alpha op(A) op(B) + beta C), where f adds a bias or is an activation. A
 * call is described by objects of attributes; it becomes the same struct gemm as one of cuBLAS
 * (gemm.c).
 *
 * Column-major, in fp32, fp16 and bf16, in strided batches; of the epilogues ReLU, GELU, a bias
 * before them, and what GELU was applied to (aux). Anything else is CUBLAS_STATUS_NOT_SUPPORTED.
 */
#include "blas.h"

#include "gemm.h"

#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

/* cuBLAS's handles are cuBLASLt's too, programs cast them. */
EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate_v2((cublasHandle_t *)handle);
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy_v2((cublasHandle_t)handle);
}

EXPORT size_t cublasLtGetVersion(void)
{
    return 130000;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Bytes of each attribute's value; 0: there is none of that number. */
static const unsigned char desc_bytes[32] = {4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8, 8,
                                             0, 4, 0, 8, 8, 8, 8, 8, 4, 0, 0, 1, 4};
static const unsigned char layout_bytes[8] = {4, 4, 8, 8, 8, 4, 8};
static const unsigned char preference_bytes[8] = {4, 8, 0, 4, 0, 4, 4, 4};

static cublasStatus_t set(uint64_t *slots, const unsigned char *bytes, size_t count, unsigned which,
                          const void *value, size_t size)
{
    if (!slots || !value || which >= count || !bytes[which] || size != bytes[which])
        return CUBLAS_STATUS_INVALID_VALUE;
    slots[which] = 0;
    memcpy(&slots[which], value, size);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const uint64_t *slots, const unsigned char *bytes, size_t count,
                          unsigned which, void *value, size_t size, size_t *written)
{
    if (!slots || which >= count || !bytes[which] || (!value && size))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (written) *written = bytes[which];
    if (!size) return written ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    if (size != bytes[which]) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, &slots[which], size);
    return CUBLAS_STATUS_SUCCESS;
}

#define OBJECT(Name, Attribute, bytes)                                                             \
    static cublasStatus_t new_##Name(cublasLt##Name##_t *object)                                   \
    {                                                                                              \
        if (!object) return CUBLAS_STATUS_INVALID_VALUE;                                           \
        *object = calloc(1, sizeof **object);                                                      \
        return *object ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;                       \
    }                                                                                              \
    EXPORT cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t object)                       \
    {                                                                                              \
        free(object);                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    EXPORT cublasStatus_t cublasLt##Name##SetAttribute(                                            \
        cublasLt##Name##_t object, cublasLt##Name##Attribute which, const void *v, size_t size)    \
    {                                                                                              \
        return set(object ? object->data : NULL, bytes, sizeof bytes, which, v, size);             \
    }                                                                                              \
    EXPORT cublasStatus_t cublasLt##Name##GetAttribute(cublasLt##Name##_t object,                  \
                                                       cublasLt##Name##Attribute which, void *v,   \
                                                       size_t size, size_t *written)               \
    {                                                                                              \
        return get(object ? object->data : NULL, bytes, sizeof bytes, which, v, size, written);    \
    }
OBJECT(MatmulDesc, Attributes_t, desc_bytes)
OBJECT(MatrixLayout, Attribute_t, layout_bytes)
OBJECT(MatmulPreference, Attributes_t, preference_bytes)

static const uint64_t unsaid = UINT32_MAX; /* the type of D */
enum { WITH_AUX = 128 };                   /* a bit of an epilogue */

EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t how,
                                               cudaDataType scale)
{
    cublasStatus_t status = new_MatmulDesc(desc);
    if (status) return status;
    uint64_t *slots = (*desc)->data;
    slots[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = how;
    slots[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = scale;
    slots[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
    slots[CUBLASLT_MATMUL_DESC_FILL_MODE] = CUBLAS_FILL_MODE_FULL;
    slots[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = unsaid;
    slots[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE] = unsaid;
    return status;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t leading)
{
    cublasStatus_t status = new_MatrixLayout(layout);
    if (status) return status;
    const cublasLtMatrixLayoutOpaque_t of = {
        {type, CUBLASLT_ORDER_COL, rows, columns, (uint64_t)leading, 1}};
    **layout = of;
    return status;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    return new_MatmulPreference(preference);
}

/* ---- products -------------------------------------------------------------------------------- */

static int64_t of_layout(cublasLtMatrixLayout_t x, cublasLtMatrixLayoutAttribute_t which)
{
    return (int64_t)x->data[which];
}

static uint64_t of_desc(cublasLtMatmulDesc_t x, cublasLtMatmulDescAttributes_t which)
{
    return x->data[which];
}

static bool has_shape(cublasLtMatrixLayout_t x, int64_t rows, int64_t columns, bool transposed)
{
    const int64_t r = of_layout(x, CUBLASLT_MATRIX_LAYOUT_ROWS);
    const int64_t c = of_layout(x, CUBLASLT_MATRIX_LAYOUT_COLS);
    return r == (transposed ? columns : rows) && c == (transposed ? rows : columns) &&
           of_layout(x, CUBLASLT_MATRIX_LAYOUT_LD) >= r;
}

static bool is_known(cublasLtMatmulDesc_t desc, cudaDataType type)
{
    static const cublasLtMatmulDescAttributes_t refused[] = {
        CUBLASLT_MATMUL_DESC_TRANSC,          CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
        CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (of_desc(desc, refused[i])) return false;
    const uint64_t bias = of_desc(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
    const uint64_t aux = of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
    if (of_desc(desc, CUBLASLT_MATMUL_DESC_FILL_MODE) != CUBLAS_FILL_MODE_FULL) return false;
    return (bias == unsaid || bias == type) && (aux == unsaid || aux == type) &&
           of_desc(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE) <= CUBLASLT_POINTER_MODE_DEVICE;
}

/* @return false for an epilogue that is not supported */
static bool take_epilogue(struct gemm *g, cublasLtMatmulDesc_t desc)
{
    const uint64_t what = of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE);
    struct gemm_epilogue *e = &g->epilogue;
    e->relu = what & CUBLASLT_EPILOGUE_RELU, e->gelu = what & CUBLASLT_EPILOGUE_GELU;
    if (what & CUBLASLT_EPILOGUE_BIAS)
        e->bias = (const void *)of_desc(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
    if (what & WITH_AUX)
        e->aux.data = (void *)of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
    e->aux.leading = (int64_t)of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
    e->aux.step = (int64_t)of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
    return what == CUBLASLT_EPILOGUE_DEFAULT || what == CUBLASLT_EPILOGUE_RELU ||
           what == CUBLASLT_EPILOGUE_BIAS || what == CUBLASLT_EPILOGUE_RELU_BIAS ||
           (what & ~(uint64_t)(WITH_AUX | CUBLASLT_EPILOGUE_BIAS)) == CUBLASLT_EPILOGUE_GELU;
}

/* Of the layouts of A, B, C and D; the matrices themselves may be unknown yet. */
static cublasStatus_t describe(struct gemm *g, cublasLtMatmulDesc_t desc,
                               const cublasLtMatrixLayout_t of[4])
{
    if (!desc || !of[0] || !of[1] || !of[2] || !of[3]) return CUBLAS_STATUS_INVALID_VALUE;
    const int64_t m = of_layout(of[3], CUBLASLT_MATRIX_LAYOUT_ROWS);
    const int64_t n = of_layout(of[3], CUBLASLT_MATRIX_LAYOUT_COLS);
    const bool turned_a = of_desc(desc, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N;
    const bool turned_b = of_desc(desc, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N;
    const int64_t k =
        of_layout(of[0], turned_a ? CUBLASLT_MATRIX_LAYOUT_ROWS : CUBLASLT_MATRIX_LAYOUT_COLS);
    if (!has_shape(of[0], m, k, turned_a) || !has_shape(of[1], k, n, turned_b) ||
        !has_shape(of[2], m, n, false) || !has_shape(of[3], m, n, false))
        return CUBLAS_STATUS_INVALID_VALUE;
    g->m = (int)m, g->n = (int)n, g->k = (int)k;
    g->count = (int)of_layout(of[3], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
    struct gemm_operand *const operands[] = {&g->a, &g->b, &g->c, &g->d};
    for (int i = 0; i < 4; i++) {
        if (of_layout(of[i], CUBLASLT_MATRIX_LAYOUT_ORDER) != CUBLASLT_ORDER_COL)
            return CUBLAS_STATUS_NOT_SUPPORTED;
        if (of_layout(of[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) != g->count)
            return CUBLAS_STATUS_INVALID_VALUE;
        operands[i]->leading = of_layout(of[i], CUBLASLT_MATRIX_LAYOUT_LD);
        operands[i]->step = of_layout(of[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
    }
    g->a.transposed = turned_a, g->b.transposed = turned_b;
    return take_epilogue(g, desc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static cudaDataType type_of(cublasLtMatrixLayout_t x)
{
    return (cudaDataType)of_layout(x, CUBLASLT_MATRIX_LAYOUT_TYPE);
}

/* @return SUCCESS, and the types that the kernel computes with; or why not */
static cublasStatus_t plan(struct gemm *g, enum gemm_types *types, cublasLtMatmulDesc_t desc,
                           const cublasLtMatrixLayout_t of[4])
{
    cublasStatus_t status = describe(g, desc, of);
    if (status) return status;
    if (type_of(of[2]) != type_of(of[3]) || !is_known(desc, type_of(of[3])) ||
        !gemm_find(g, types, type_of(of[0]), type_of(of[1]), type_of(of[3]),
                   (cublasComputeType_t)of_desc(desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool scaled = of_desc(desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE) == gemm_scale_type(g);
    return scaled ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t results[],
    int *found)
{
    const cublasLtMatrixLayout_t of[] = {a, b, c, d};
    enum gemm_types types;
    struct gemm g = {0};

    if (!handle_is_valid((cublasHandle_t)handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!preference || wanted < 1 || !results || !found) return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    cublasStatus_t status = plan(&g, &types, desc, of);
    if (status) return status;
    results[0] = (cublasLtMatmulHeuristicResult_t){.state = status, .wavesCount = 1};
    *found = 1;
    return status;
}

EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                     const void *alpha, const void *a, cublasLtMatrixLayout_t of_a,
                                     const void *b, cublasLtMatrixLayout_t of_b, const void *beta,
                                     const void *c, cublasLtMatrixLayout_t of_c, void *d,
                                     cublasLtMatrixLayout_t of_d,
                                     const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream)
{
    const cublasLtMatrixLayout_t of[] = {of_a, of_b, of_c, of_d};
    enum gemm_types types;
    struct gemm g = {.a.data = (void *)a,
                     .b.data = (void *)b,
                     .c.data = (void *)c,
                     .d.data = d,
                     .alpha.at = alpha,
                     .beta.at = beta};

    (void)algorithm, (void)workspace, (void)workspace_bytes; /* there is one, and it needs none */
    if (!handle_is_valid((cublasHandle_t)handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasStatus_t status = plan(&g, &types, desc, of);
    if (status) return status;
    const uint64_t what = of_desc(desc, CUBLASLT_MATMUL_DESC_EPILOGUE);
    if ((what & CUBLASLT_EPILOGUE_BIAS && !g.epilogue.bias) ||
        (what & WITH_AUX && (!g.epilogue.aux.data || g.epilogue.aux.leading < g.m)))
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct cublasContext how = {
        .stream = stream,
        .pointers = (cublasPointerMode_t)of_desc(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE)};
    return gemm_run(&how, types, g);
}
