/*
 * texture.h: how a kernel reads memory through a texture object. Part of device.h.
 *
 * Coordinates and filters are those of the CUDA programming guide, "Texture Fetching".
 */
#ifndef SOFTGPU_DEVICE_TEXTURE_H
#define SOFTGPU_DEVICE_TEXTURE_H

#include <stdint.h>

typedef enum texel_kind { TEXEL_SIGNED, TEXEL_UNSIGNED, TEXEL_FLOAT } texel_kind;
typedef enum texture_edge { EDGE_WRAP, EDGE_CLAMP, EDGE_MIRROR, EDGE_BORDER } texture_edge;

typedef struct device_texture {
    uint64_t address, pitch; /**< bytes from row to row */
    uint32_t width, height;  /**< in texels; height 1: of one dimension */
    uint32_t channels;       /**< of a texel: 1, 2 or 4 */
    uint32_t channel_bytes;  /**< 1, 2 or 4 */
    uint32_t kind;           /**< a texel_kind */
    uint32_t edge[2];        /**< a texture_edge for x, y: what lies outside */
    uint32_t is_linear;      /**< plain memory, by number: nothing lies outside */
    uint32_t interpolates;   /**< between texels, in floats */
    uint32_t is_normalized;  /**< coordinates go from 0 to 1 */
    uint32_t gives_floats;   /**< integers become floats from 0 or -1 to 1 */
    float border[4];
} device_texture;

#endif
