/*
 * 507_launches.cuh: the forward pass as launches, and as one graph of them.
 *
 * Launches are captured once, when the network is made. All that a call may change is where the
 * images come from and where the logits go: parameters of the first node and of the last, which are
 * set when they are others than at the call before.
 */
#ifndef LAUNCHES_CUH
#define LAUNCHES_CUH

#include "507_layers.cuh"
#include "507_pooling_nhwc.cuh"

/* TODO: launch_all: the whole forward pass, layer by layer (about 75 lines). */

/* TODO: capture (launch_all, once), find_nodes (the first and the last), set_pointers (what
   changes from call to call) (about 45 lines). */

#endif
