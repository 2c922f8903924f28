/*
 * test_sizes.c: how far each function is tried on softgpu. A size that never exceeds what a block
 * has of threads, a grid in y or an array on the stack hides whoever relies on that.
 */
#include "grader/tests.h"

#include "course/course.h"
#include <string.h>

enum {
    ARRAY = 256,  /* somebody would declare one of so many */
    BLOCK = 1024, /* threads of a block */
    GRID = 65535, /* blocks of a grid in y or in z */
};

/** One function, or several of an exercise that the same cases call with the same sizes. */
typedef struct reach {
    int exercise;
    const char *functions; /* between spaces */
    const char *cases; /* their names begin so, and no longer beginning of a row fits; or NULL */
    long beyond[SHAPE_MAX]; /* each number of the shapes is larger than this in some case */
} reach;

/* clang-format off */
#define PRODUCT     "", {GRID, GRID, BLOCK}
#define CONVOLUTION "", {GRID, BLOCK, GRID, GRID, GRID, BLOCK, BLOCK}
#define N           {0, GRID}
/* clang-format on */

static const reach table[] = {
    {101, "approx_equal", "", {GRID}},
    {102, "bench_ns", "", {BLOCK, GRID}},
    {103, "matmul_cpu", PRODUCT},
    {104, "matmul_cpu_ikj", PRODUCT},
    {105, "matmul_cpu_blocked", PRODUCT},
    {106, "matmul_cpu_vectorized", PRODUCT},
    {107, "matmul_cpu_threads", "", {GRID, GRID, GRID, GRID}},
    {108, "gemm_cpu", "", {0, 0, GRID, GRID, GRID}},
    {109, "softmax_cross_entropy_cpu", "", {GRID, GRID}},
    {110, "conv2d_cpu conv2d_cpu_im2col", CONVOLUTION},
    {110, "im2col_cpu", "im2col", {0, BLOCK, BLOCK, BLOCK}},
    {110, "col2im_cpu", "col2im of", {0, BLOCK, BLOCK, BLOCK}},
    {111, "linear_backward_cpu", "", {GRID, GRID, GRID}},
    {111, "gradcheck", "accepts", {GRID}},
    {112, "mlp_predict_cpu", "predict", {BLOCK}},
    {112, "mlp_train_batch_cpu", "first_loss", {BLOCK}},
    /* one network */ {112, "mlp_create_cpu mlp_get_params_cpu mlp_free_cpu", NULL, {0}},
    {201, "whoami", "whoami", {GRID, BLOCK, BLOCK}},
    {201, "hello", "hello", {BLOCK}},
    {202, "zeros ones synchronize tensor_release", "filled", {GRID}},
    {202, "from_slice to_vec", "slice", {GRID, GRID}},
    /* a block has no more */ {202, "launch_threads", "threads: 10", {BLOCK - 1}},
    /* no number */ {202, "device_count device_new default_device device_words", NULL, {0}},
    {203, "vector_add", "", {GRID}},
    {204, "elementwise", "", {0, GRID}},
    {205, "roundtrip", "roundtrip", {GRID}},
    {205,
     "tensor_create tensor_to_gpu tensor_on_gpu tensor_to_cpu tensor_free tensor_get",
     "there and back",
     {GRID}},
    {205, "tensor_layer", "three trips", {GRID}},
    {205, "tensor_chain", "chain", {GRID, ARRAY}},
    {206, "matmul_naive", PRODUCT},
    {207, "reverse_blocks", "reverse", {GRID}},
    {207, "stencil_1d", "stencil", {GRID}},
    {207, "warp_sums", "sums", {GRID}},
    {208, "reduce_sum", "sum", {GRID}},
    {208, "reduce_max", "max", {GRID}},
    {208, "row_sum", "row_sum", {GRID, GRID}},
    {209, "transpose", "", {GRID, GRID}},
    {210, "exclusive_scan", "", {GRID}},
    {211, "matmul_tiled", PRODUCT},
    {212, "matmul_nt", "nt", {GRID, GRID, BLOCK}},
    {212, "matmul_tn", "tn", {GRID, GRID, BLOCK}},
    {212, "matmul_batched", "batched", {GRID, GRID, BLOCK, GRID}},
    {213, "cublas_create matmul_cublas cublas_destroy", PRODUCT},
    {214, "matmul_registers", PRODUCT},
    {215, "rotate_groups", "rotate_groups", N},
    {215, "scale_all", "scale_all", N},
    {215, "count_digits", "count_digits", N},
    {215, "group_sums", "group_sums", N},
    {215, "warp_maxima", "warp_maxima", N},
    {215, "gather_steps", "gather_steps", N},
    {215, "evaluate_line", "evaluate_line", N},
    {215, "count_above", "count_above", N},
    {216, "matmul", PRODUCT},
    {217, "histogram", "", {GRID, GRID}},
    {218, "convolve", "", {GRID, GRID}},
    {218, "convolve_tiled", "tiled", {GRID, GRID}},
    {218, "look_up", "look up", {GRID}},
    {301, "relu_forward", "relu forward", N},
    {301, "relu_backward", "relu backward", N},
    {301, "sigmoid_forward", "sigmoid forward", N},
    {301, "sigmoid_backward", "sigmoid backward", N},
    {301, "tanh_forward", "tanh forward", N},
    {301, "tanh_backward", "tanh backward", N},
    {301, "gelu_forward", "gelu forward", N},
    {301, "gelu_backward", "gelu backward", N},
    {302, "bias_forward", "forward", {GRID, GRID}},
    {302, "bias_backward", "backward", {GRID, GRID}},
    {303, "linear_forward", "forward", {GRID, BLOCK, GRID}},
    {303, "linear_backward", "backward", {GRID, GRID, GRID}},
    {304, "softmax_forward", "forward", {GRID, GRID}},
    {304, "softmax_backward", "backward", {GRID, GRID}},
    /* each block may count all labels */
    {305, "softmax_cross_entropy", "", {BLOCK, GRID}},
    {306, "conv2d_forward", CONVOLUTION},
    {307, "conv2d_implicit_gemm", CONVOLUTION},
    {308, "conv2d_backward", "", {GRID, GRID, GRID, GRID, BLOCK, BLOCK, BLOCK}},
    {309, "batchnorm_infer", "infer", {GRID, GRID, GRID, GRID}},
    {309, "batchnorm_forward", "forward", {GRID, BLOCK, GRID, GRID}},
    {309, "batchnorm_backward", "backward", {GRID, BLOCK, GRID, GRID}},
    {309, "batchnorm_fold", "fold", {GRID, GRID}},
    {310, "maxpool2d_forward", "", {GRID, GRID, GRID, GRID, 32}},
    {310, "maxpool2d_backward", "backward", {GRID, GRID, GRID, GRID, 32}},
    {310, "global_avgpool_forward", "average", {GRID, GRID, GRID, GRID}},
    {310, "global_avgpool_backward", "average backward", {GRID, GRID, GRID, GRID}},
    {311, "layernorm_forward", "forward", {GRID, BLOCK}},
    {311, "layernorm_backward", "backward", {GRID, BLOCK}},
    {312, "embedding_forward", "embedding forward", {GRID, GRID, GRID, GRID}},
    {312, "embedding_backward", "embedding backward", {GRID, GRID, GRID, GRID}},
    {312, "residual_forward", "residual", {GRID}},
    {312, "dropout_forward", "dropout forward", {GRID}},
    {312, "dropout_backward", "dropout backward", {GRID}},
    /* a tile of the scores for each head: more of them take too long */
    {313, "attention_naive", "forward", {ARRAY, BLOCK, BLOCK, BLOCK}},
    {313, "attention_naive_backward", "backward", {ARRAY, BLOCK, BLOCK, BLOCK}},
    {314, "adam_update", "", {GRID}},
    {314, "sgd_momentum", "sgd", {GRID}},
    {314, "global_norm_clip", "clip", {GRID}},
    {314, "adam_update_groups", "groups", {ARRAY, GRID}},
    {401, "matmul_vectorized", PRODUCT},
    {402, "matmul_tensorcore", PRODUCT},
    {402, "matmul_tensorcore_half", "half", {BLOCK, BLOCK, BLOCK}},
    {403,
     "analyze_memory matmul_own_launch matmul_describe matmul_run",
     "own",
     {GRID, BLOCK, BLOCK}},
    {404, "linear_forward_fused", "fused", {GRID, BLOCK, GRID}},
    {404, "conv_bn_relu", CONVOLUTION},
    {404, "residual_layernorm_forward", "residual, rows", {GRID, GRID}},
    {405, "softmax_rows", "softmax", {GRID, GRID}},
    {405, "layernorm_rows", "layernorm", {GRID, GRID}},
    {405, "rmsnorm_rows", "rmsnorm", {GRID, GRID}},
    {406, "pipeline", "", {GRID, 0, BLOCK, ARRAY}},
    {407, "step_launch", "launch", {GRID, BLOCK}},
    {407, "step_graph_create step_graph_run", "graph", {GRID, BLOCK}},
    /* no number */ {407, "step_graph_free", NULL, {0}},
    /* at most 1,000 launches */ {407, "launch_overhead_ns", NULL, {0}},
    {407, "linear_forward_persistent", "persistent", {GRID, BLOCK, GRID}},
    {408, "pool_alloc pool_free", "sizes", {GRID}},
    /* no number */ {408, "pool_create pool_reset pool_stats pool_destroy", NULL, {0}},
    /* a tile for each head, as 313; dim is at most 128 */
    {409, "attention_flash", "flash", {ARRAY, ARRAY, BLOCK, 127}},
    /* a dim is 128 at most */
    {410, "attention_paged", "paged", {GRID, BLOCK, BLOCK, 0, GRID, GRID}},
    {410, "multi_query_attention", "contiguous", {GRID, BLOCK, BLOCK, 0, GRID}},
    {411, "moe_router", "route", {GRID, BLOCK, BLOCK, GRID}},
    {411, "moe_permute", "lists", {GRID, BLOCK, BLOCK, GRID}},
    {412, "moe_experts_compute", "", {GRID, BLOCK, BLOCK, GRID, GRID}},
    {413, "quantize_s8", "quantize", {GRID, GRID}},
    {413, "gemm_s8s8s32", "gemm", {GRID, GRID, GRID}},
    {413, "dequantize_epilogue", "dequantize", {GRID, GRID, GRID}},
    {414,
     "loader_open load_batch_to_gpu prefetch_next_batch loader_close",
     "",
     {GRID, GRID, GRID, 7}},
    /* no number */ {414, "get_pinned_buffer", NULL, {0}},
    {415, "allreduce_ring", "", {0, GRID}},
    /* there are eight devices */ {415, "allreduce_open allreduce_close", NULL, {0}},
    {416, "transpose_tma", "", {BLOCK, GRID}},
    {417, "softmax_cluster", "", {GRID, GRID}},
    {418, "dot_product", "dot_product", {0, GRID}},
    {418, "finish", "finish", {0, GRID}},
    {418, "turn", "turn", {0, GRID, GRID}},
    {418, "add_bias", "add_bias", {0, GRID, GRID}},
    {418, "polynomial", "polynomial", {0, GRID, ARRAY}},
    {418, "fetch_left", "fetch_left", {0, GRID, GRID, GRID}},
    {418, "blur", "blur", {0, GRID, GRID}},
    {418, "average_models", "average_models", {0, GRID, ARRAY}},
    {501, "mlp_predict", "predict", {ARRAY}},
    /* 784 inputs an image: more than a hundred take too long */
    {501, "mlp_create mlp_train_batch mlp_get_params mlp_free train_mnist", NULL, {0}},
    {502,
     "mlp_fast_create mlp_fast_train_epoch mlp_fast_get_params mlp_fast_free",
     "batch_of_300",
     {ARRAY, ARRAY, ARRAY}},
    /* the network's sizes, and images that take long */
    {503, "NeuralNetworkGPU", "2,048", {0, 0, 0, BLOCK}},
    {504, "resnet18_load resnet18_create_cpu resnet18_forward_cpu resnet18_free_cpu", NULL, {0}},
    /* as 504 */
    {505,
     "resnet18_create resnet18_forward resnet18_classify resnet18_device_bytes resnet18_free",
     NULL,
     {0}},
    /* each call takes its time */ {506, "sweep", NULL, {0}},
    /* as 504 */
    {507,
     "resnet18_create_opt resnet18_forward_opt resnet18_device_bytes_opt resnet18_free_opt",
     NULL,
     {0}},
    /* rows, or channels, of so many: all of it takes too long */
    {508,
     "gpt_create gpt_forward gpt_backward gpt_get_grads gpt_get_params",
     "gradients",
     {BLOCK, ARRAY, 0, 0, 0, BLOCK, ARRAY}},
    /* element by element */ {508, "gpt_update gpt_free", NULL, {0}},
    {509, "gpt_generate", "writes", {BLOCK, BLOCK, 0, 0, 0, ARRAY}},
    /* one row of text after the other */
    {509, "gpt_learning_rate gpt_train gpt_validate gpt_save gpt_load", NULL, {0}},
    /* the sizes are those of 508 */
    {513,
     "gpt_team_create gpt_team_train gpt_team_net gpt_team_get_params gpt_team_get_grads "
     "gpt_team_free",
     NULL,
     {0}},
    {514, "train_steps", "", {GRID, GRID, GRID, GRID, GRID}},
    /* rows of logits: a product of so many tokens takes long */
    {510,
     "gpt2_create gpt2_train_step gpt2_get_grads gpt2_get_params gpt2_device_bytes gpt2_free",
     "vocabulary",
     {BLOCK}},
    /* a frame is 0.2 MFLOP */ {511, "sae_forward", "layerwise", {ARRAY}},
    {511, "sae_forward_fused", "fused", {ARRAY}},
    {512, "matmul", "matmul", {GRID, GRID, BLOCK}},
    {512, "layernorm layernorm_backward", "layernorm", {GRID, BLOCK}},
    {512, "flash_attention flash_attention_backward", "attention", {ARRAY, ARRAY, BLOCK, 127}},
    {512, "moe", "moe", {BLOCK, ARRAY}},
    /* it is given no sizes */ {512, "register_ops", NULL, {0}},
    {CHALLENGE(1, 'a'), "matmul_cpu_packed", "", {GRID, GRID, GRID, GRID}},
    {CHALLENGE(2, 'a'), "matmul_warptile", PRODUCT},
    {CHALLENGE(2, 'b'), "exclusive_scan_single_pass", "", {GRID}},
    {CHALLENGE(2, 'c'), "compact", "compact", {GRID}},
    {CHALLENGE(2, 'c'), "run_lengths", "runs", {GRID}},
    {CHALLENGE(2, 'c'), "sort_pairs", "sort", {GRID}},
    {CHALLENGE(3, 'a'), "embedding_backward_deterministic", "", {GRID, GRID, GRID, GRID}},
    {CHALLENGE(3, 'c'), "rmsnorm_forward", "rmsnorm forward", {GRID, GRID}},
    {CHALLENGE(3, 'c'), "rmsnorm_backward", "rmsnorm backward", {GRID, GRID}},
    {CHALLENGE(3, 'c'), "rope_forward", "rope forward", {GRID, GRID, GRID}},
    {CHALLENGE(3, 'c'), "rope_backward", "rope backward", {GRID, GRID, GRID}},
    {CHALLENGE(3, 'c'), "swiglu_forward", "swiglu forward", {GRID}},
    {CHALLENGE(3, 'c'), "swiglu_backward", "swiglu backward", {GRID}},
    {CHALLENGE(4, 'a'), "matmul_mma", PRODUCT},
    {CHALLENGE(4, 'b'), "matmul_wgmma", PRODUCT},
    /* a batch is more heads; each is a tile, which takes its time; dim is 64 or 128 */
    {CHALLENGE(4, 'c'), "attention_flash2", "", {0, ARRAY, BLOCK}},
    {CHALLENGE(4, 'd'), "attention_flash2_backward", "", {0, ARRAY, ARRAY}},
    {CHALLENGE(4, 'e'), "allreduce_oneshot", "", {0, GRID}},
    /* there are eight devices, and sums of all sizes */
    {CHALLENGE(4, 'e'), "oneshot_open oneshot_close allreduce_oneshot_part", NULL, {0}},
    {CHALLENGE(4, 'f'), "matmul_s8_wgmma", "s8", {GRID, GRID, BLOCK}},
    {CHALLENGE(4, 'f'), "matmul_fp8_blocks", "fp8", {GRID, GRID, GRID}},
    {CHALLENGE(4, 'g'), "matmul_3xtf32", PRODUCT},
    /* as 409 */ {CHALLENGE(4, 'h'), "attention_flash_fast", "flash", {ARRAY, ARRAY, BLOCK, 127}},
    /* as 4c */ {CHALLENGE(4, 'i'), "attention_flash3", "", {0, ARRAY, BLOCK}},
    {CHALLENGE(4, 'j'), "attention_flash3_backward", "", {0, ARRAY, ARRAY}},
    /* as 504 */
    {CHALLENGE(5, 'c'),
     "resnet18_create_int8 resnet18_forward_int8 resnet18_scales_int8 resnet18_device_bytes_int8 "
     "resnet18_free_int8",
     NULL,
     {0}},
};
#define ROWS (int)(sizeof table / sizeof *table)

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool names(const char *functions, const char *one)
{
    const size_t length = strlen(one);
    const char *at = functions;
    while ((at = strstr(at, one)) != NULL) {
        const bool starts = at == functions || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0')) return true;
        at += length;
    }
    return false;
}

START_TEST(each_function_has_a_row)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        for (int i = 0; (*e)->functions[i]; i++) {
            int found = 0;
            for (int r = 0; r < ROWS; r++)
                found +=
                    table[r].exercise == (*e)->id && names(table[r].functions, (*e)->functions[i]);
            ck_assert_msg(found == 1, "%s of %d has %d rows: how large are its sizes, at most?",
                          (*e)->functions[i], (*e)->id, found);
        }
    }
}
END_TEST

/* Of the rows of an exercise the one with the longest beginning has the case. */
static bool has(const reach *row, const grading_case *c)
{
    if (!begins(c->name, row->cases)) return false;
    for (int r = 0; r < ROWS; r++) {
        const reach *other = &table[r];
        if (other->exercise == row->exercise && other->cases && begins(c->name, other->cases) &&
            strlen(other->cases) > strlen(row->cases))
            return false;
    }
    return true;
}

static long largest(const reach *row, int number)
{
    long most = 0;
    for (const grading_case *c = catalog_find(row->exercise)->cases; c->name; c++) {
        const bool without_gpu = c->where == 0 || (c->where & ~(unsigned)ON_GPU);
        if (without_gpu && has(row, c) && c->shape[number] > most) most = c->shape[number];
    }
    return most;
}

START_TEST(each_size_is_tried_beyond_its_limit)
{
    for (const reach *row = table; row < table + ROWS; row++) {
        for (int i = 0; i < SHAPE_MAX && row->cases; i++) {
            ck_assert_msg(row->beyond[i] == 0 || largest(row, i) > row->beyond[i],
                          "%s of %d: number %d of the shapes is at most %ld, and should go beyond "
                          "%ld",
                          row->functions, row->exercise, i, largest(row, i), row->beyond[i]);
        }
    }
}
END_TEST

Suite *suite_sizes(void)
{
    Suite *suite = suite_create("sizes");
    TCase *tcase = tcase_create("sizes");
    tcase_add_test(tcase, each_function_has_a_row);
    tcase_add_test(tcase, each_size_is_tried_beyond_its_limit);
    suite_add_tcase(suite, tcase);
    return suite;
}
