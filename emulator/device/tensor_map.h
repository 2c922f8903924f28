/*
 * tensor_map.h: what the 128 bytes of a CUtensorMap hold, between the runtime that writes them and
 * the device that copies by them. Part of device.h.
 */
#ifndef SOFTGPU_DEVICE_TENSOR_MAP_H
#define SOFTGPU_DEVICE_TENSOR_MAP_H

#include <stdint.h>

#define TENSOR_MAP_MAGIC UINT64_C(0x70616d6f74667473)

enum { TENSOR_RANK = 5, TENSOR_MAP_BYTES = 128, SPACE_RANK = TENSOR_RANK - 2 };

/** By dimension, the fastest first. Of im2col these are channels, up to three of space, images. */
typedef struct device_tensor_map {
    uint64_t magic;
    uint64_t address;
    uint64_t stride[TENSOR_RANK - 1]; /**< bytes, of the dimensions behind the first */
    uint32_t last[TENSOR_RANK];       /**< elements, less one */
    uint16_t box[TENSOR_RANK];        /**< elements of a tile */
    uint8_t every[TENSOR_RANK];       /**< of those, only each so many-th is copied */
    uint8_t type;                     /**< a CUtensorMapDataType */
    uint8_t size;                     /**< bytes of an element */
    uint8_t rank;
    uint8_t swizzle; /**< bytes of its rows: 32, 64, 128; 0: none */
    uint8_t fills_nan;
    uint16_t pixels;             /**< of a column, of box[0] channels each; 0: tiles, no im2col */
    int16_t lower[SPACE_RANK];   /**< where a row of pixels begins */
    int16_t upper[SPACE_RANK];   /**< and its last one, behind the last element */
    uint16_t offset[SPACE_RANK]; /**< from a pixel to what is copied; each copy has its own */
} device_tensor_map;

#endif
