/*
 * api.h: the calls of CUDA that give work to streams, or end it.
 */
#ifndef SOFTGPU_RUNTIME_API_H
#define SOFTGPU_RUNTIME_API_H

#include "runtime/profile/profile.h"
#include "runtime/stream/stream.h"

/* memcpy.c */
/** For a call of the API that copies; `waits`: until it is done. */
cudaError_t copy_submit(const struct cudaMemcpy3DParms *, cudaStream_t, bool waits);

/* node.c: what a node does. */
/** Give a node other work of the same kind. */
cudaError_t node_set(cudaGraphNode_t, const struct work *);

/* graph_exec.c: graphs that can run. */
/** Its copy of a node, or NULL. */
cudaGraphNode_t exec_node(cudaGraphExec_t, const struct CUgraphNode_st *origin);
/** Take over what the nodes of another graph do, which must be like the old one. */
cudaError_t graph_update(cudaGraph_t old, cudaGraph_t new, cudaGraphExecUpdateResultInfo *);

#endif
