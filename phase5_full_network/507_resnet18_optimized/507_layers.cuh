/*
 * 507_layers.cuh: what is known of the network before any image comes: the shapes of its layers,
 * where their activations lie, and one arena that holds everything.
 *
 * Activations take turns in 3 slots. A block reads x, needs a place for what its first convolution
 * makes, and writes its result over its shortcut: each thread has read what it replaces. So a block
 * whose shortcut is x itself takes two slots, and one with a convolution in its shortcut three.
 */
#ifndef LAYERS_CUH
#define LAYERS_CUH

#include "507_plan.cuh"
#include "507_prepare.cuh"
#include "cuda_check.h"

#define LAYERS (RESNET18_CONVS + 1) /* the linear layer is the last */
#define SLOTS  3

/* TODO: the network, and a layer of it (about 30 lines). */

/* TODO: shape_layer: a convolution as conv_args, everything but its pointers (about 45 lines).
 */

/* TODO: plan_layers: the shapes of all layers, and which slots they read and write (about 55
 * lines).
 */

/* TODO: plan_arena: a place for everything, and a tile for every layer (about 45 lines). */

/* TODO: fill_arena: pointers for all layers; weights packed from d_params (about 50 lines). */

#endif
