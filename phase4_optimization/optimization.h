/*
 * optimization.h: the contract of phase 4, the same mathematics, faster. Conventions as in
 * layers.h: pointers, host pointers too, are aligned to their elements and to nothing more.
 */
#ifndef COURSE_OPTIMIZATION_H
#define COURSE_OPTIMIZATION_H

#include "401_matmul_vectorized/matmul_vectorized.h"
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "403_memory_analysis/memory_analysis.h"
#include "404_fusion/fusion.h"
#include "405_row_kernels/row_kernels.h"
#include "406_streams/streams.h"
#include "407_graphs/graphs.h"
#include "408_memory_pool/memory_pool.h"
#include "409_flash_attention/flash_attention.h"
#include "410_paged_attention/paged_attention.h"
#include "411_moe_router/moe_router.h"
#include "412_moe_experts/moe_experts.h"
#include "413_int8/int8.h"
#include "414_loader/loader.h"
#include "415_allreduce_ring/allreduce_ring.h"
#include "416_transpose_tma/transpose_tma.h"
#include "417_softmax_cluster/softmax_cluster.h"
#include "418_find_the_bound/find_the_bound.h"
#include "4a_matmul_mma/matmul_mma.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "4e_allreduce_oneshot/allreduce_oneshot.h"
#include "4f_matmul_8bit/matmul_8bit.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#include "4h_flash_attention_fast/flash_attention_fast.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"

#endif
