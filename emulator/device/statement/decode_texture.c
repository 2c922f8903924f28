/*
 * decode_texture.c: tex, of textures of one and two dimensions.
 *
 * Interface
 *   decode_texture
 *
 *     tex.2d.v4.f32.f32  {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
 *
 * Layers, cubes, levels, offsets, samplers of their own and whatever else there is are refused.
 */
#include "statement.h"

/* What follows tex.2d.v4: the types of a texel and of a coordinate. */
static bool has_types(const decoder *d)
{
    const char *texel = d->part[d->parts - 2], *coordinate = d->part[d->parts - 1];
    bool number = !strcmp(texel, "u32") || !strcmp(texel, "s32");
    return (number || !strcmp(texel, "f32")) &&
           (!strcmp(coordinate, "f32") || !strcmp(coordinate, "s32"));
}

bool decode_texture(decoder *d)
{
    const ptx_statement *s = d->now;
    const ptx_operand *texel = &s->operand[0], *from = &s->operand[1];
    bool is_2d = d->parts == 5 && !strcmp(d->part[1], "2d");
    bool known = d->parts == 5 && (is_2d || !strcmp(d->part[1], "1d")) &&
                 !strcmp(d->part[2], "v4") && has_types(d);
    if (!known || s->operands != 2 || texel->kind != PTX_LIST || texel->items != 4) return false;
    if (from->kind != PTX_LIST || from->items != 2 || from->item[1].kind != PTX_LIST) return false;
    const ptx_operand *at = &from->item[1];
    if (at->items < (is_2d ? 2 : 1)) return false;
    draft x = start(d, run_texture);
    x.op.variant = is_2d ? TEXTURE_2D : 0;
    if (last_part(d)[0] == 's') x.op.variant |= TEXTURE_BY_NUMBER;
    set_read(d, &x, FIELD_A, &from->item[0], 8);
    set_read(d, &x, FIELD_B, &at->item[0], 4);
    if (is_2d) set_read(d, &x, FIELD_C, &at->item[1], 4);
    for (field k = 0; k < 4; k++) set_write(d, &x, FIELD_D + k, &texel->item[k], 4, false);
    push(d, &x);
    return true;
}
