/*
 * opcode.c: the one table of opcodes: the decoder of a statement, and the class that it counts as.
 *
 * Interface
 *   opcode_find                         for decode.c
 *   opcode_class, opcode_operations, opcode_multiplications     for instruction.c
 *
 * A row has the first word of a statement, its decoder, its class, and the floating-point
 * operations of a lane where its type is one of those. An opcode without a row is refused, so none
 * is counted as what it is not. Opcodes that compute (decode_plain) have a line for each type in
 * ops' tables. Those that programs use most come first.
 */
#include <stdio.h>

#include "statement.h"

#define OPCODE(word, decoder, class, operations)                                                   \
    {                                                                                              \
        decoder, class, operations, #word                                                          \
    }

static const opcode opcodes[] = {
    OPCODE(ld, decode_load, CLASS_MEMORY, 0),
    OPCODE(mov, decode_move, CLASS_MOVE, 0),
    OPCODE(add, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(mul, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(fma, decode_plain, CLASS_OF_TYPE, 2),
    OPCODE(mad, decode_plain, CLASS_OF_TYPE, 2),
    OPCODE(st, decode_store, CLASS_MEMORY, 0),
    OPCODE(setp, decode_setp, CLASS_OF_TYPE, 0),
    OPCODE(bra, decode_branch, CLASS_CONTROL, 0),
    OPCODE(cvta, decode_cvta, CLASS_MOVE, 0),
    OPCODE(cvt, decode_cvt, CLASS_CONVERT, 0),
    OPCODE(and, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(shl, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(sub, decode_plain, CLASS_OF_TYPE, 1),

    /* arithmetic */
    OPCODE(abs, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(copysign, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(cos, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(div, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(ex2, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(lg2, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(max, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(min, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(neg, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(rcp, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(rem, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(rsqrt, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(sin, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(sqrt, decode_plain, CLASS_OF_TYPE, 1),
    OPCODE(tanh, decode_plain, CLASS_OF_TYPE, 1),

    /* integers and bits */
    OPCODE(addc, decode_carry, CLASS_OF_TYPE, 0),
    OPCODE(bfe, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(bfi, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(bfind, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(bmsk, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(brev, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(clz, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(cnot, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(dp2a, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(dp4a, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(fns, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(lop3, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(mad24, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(madc, decode_carry, CLASS_OF_TYPE, 0),
    OPCODE(mul24, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(not, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(or, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(popc, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(sad, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(shf, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(shr, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(subc, decode_carry, CLASS_OF_TYPE, 0),
    OPCODE(szext, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(vabsdiff2, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(vabsdiff4, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(xor, decode_plain, CLASS_OF_TYPE, 0),

    /* comparing, choosing, moving */
    OPCODE(set, decode_set, CLASS_OF_TYPE, 0),
    OPCODE(slct, decode_slct, CLASS_OF_TYPE, 0),
    OPCODE(testp, decode_plain, CLASS_OF_TYPE, 0),
    OPCODE(isspacep, decode_isspacep, CLASS_MOVE, 0),
    OPCODE(prmt, decode_plain, CLASS_MOVE, 0),
    OPCODE(selp, decode_plain, CLASS_MOVE, 0),

    /* matrices */
    OPCODE(ldmatrix, decode_ldmatrix, CLASS_MEMORY, 0),
    OPCODE(stmatrix, decode_stmatrix, CLASS_MEMORY, 0),
    OPCODE(mma, decode_mma, CLASS_TENSOR, 0),
    OPCODE(movmatrix, decode_movmatrix, CLASS_WARP, 0),
    OPCODE(wgmma, decode_wgmma, CLASS_OF_WMMA, 0),
    OPCODE(wmma, decode_wmma, CLASS_OF_WMMA, 0),

    /* memory */
    OPCODE(applypriority, decode_nothing, CLASS_MEMORY, 0),
    OPCODE(atom, decode_atomic, CLASS_MEMORY, 0),
    OPCODE(cp, decode_copy_async, CLASS_MEMORY, 0),
    OPCODE(createpolicy, decode_policy, CLASS_INTEGER, 0),
    OPCODE(discard, decode_nothing, CLASS_MEMORY, 0),
    OPCODE(ldu, decode_load, CLASS_MEMORY, 0),
    OPCODE(prefetch, decode_nothing, CLASS_MEMORY, 0),
    OPCODE(prefetchu, decode_nothing, CLASS_MEMORY, 0),
    OPCODE(red, decode_atomic, CLASS_MEMORY, 0),
    OPCODE(tex, decode_texture, CLASS_MEMORY, 0),

    /* lanes that wait for or talk to each other */
    OPCODE(activemask, decode_active_mask, CLASS_WARP, 0),
    OPCODE(bar, decode_barrier, CLASS_WARP, 0),
    OPCODE(barrier, decode_barrier, CLASS_WARP, 0),
    OPCODE(fence, decode_fence, CLASS_WARP, 0),
    OPCODE(getctarank, decode_rank_of, CLASS_MOVE, 0),
    OPCODE(mapa, decode_map, CLASS_MOVE, 0),
    OPCODE(match, decode_match, CLASS_WARP, 0),
    OPCODE(mbarrier, decode_mbarrier, CLASS_WARP, 0),
    OPCODE(membar, decode_fence, CLASS_WARP, 0),
    OPCODE(nanosleep, decode_nothing, CLASS_WARP, 0),
    OPCODE(redux, decode_redux, CLASS_WARP, 0),
    OPCODE(elect, decode_elect, CLASS_WARP, 0),
    OPCODE(shfl, decode_shuffle, CLASS_WARP, 0),
    OPCODE(vote, decode_vote, CLASS_WARP, 0),

    /* where lanes go on */
    OPCODE(brkpt, decode_nothing, CLASS_CONTROL, 0),
    OPCODE(brx, decode_jump_table, CLASS_CONTROL, 0),
    OPCODE(call, decode_call, CLASS_CONTROL, 0),
    OPCODE(exit, decode_exit, CLASS_CONTROL, 0),
    OPCODE(griddepcontrol, decode_nothing, CLASS_CONTROL, 0), /* the launch before has ended */
    OPCODE(setmaxnreg, decode_registers, CLASS_CONTROL, 0),
    OPCODE(pmevent, decode_nothing, CLASS_CONTROL, 0),
    OPCODE(ret, decode_return, CLASS_CONTROL, 0),
    OPCODE(trap, decode_trap, CLASS_CONTROL, 0),
};

const opcode *opcode_find(const char *word)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        if (!strcmp(opcodes[i].word, word)) return &opcodes[i];
    }
    return NULL;
}

device_class opcode_class(const decoder *d)
{
    const char *type = last_part(d);
    uint8_t class = d->opcode->class;
    /* wmma.load and wmma.store move memory, wmma.mma computes. */
    if (class == CLASS_OF_WMMA && has_part(d, "mma_async")) return CLASS_TENSOR;
    if (class == CLASS_OF_WMMA && !strcmp(d->part[0], "wgmma")) return CLASS_WARP;
    if (class == CLASS_OF_WMMA) return has_part(d, "mma") ? CLASS_TENSOR : CLASS_MEMORY;
    if (class != CLASS_OF_TYPE) return (device_class) class;
    if (!strcmp(type, "pred")) return CLASS_MOVE;
    if (!strcmp(type, "f64")) return CLASS_DOUBLE;
    return type[0] == 'f' || !strncmp(type, "bf", 2) ? CLASS_FLOAT : CLASS_INTEGER;
}

/* m16n8k16: each of the 32 lanes does its share of 2 m n k; of wgmma's, a warp has a quarter. */
static uint32_t tensor_operations(const decoder *d)
{
    unsigned m, n, k;
    bool floating = !strstr(d->now->opcode, ".s32");
    for (uint32_t i = 1; i < d->parts; i++) {
        if (sscanf(d->part[i], "m%un%uk%u", &m, &n, &k) == 3)
            return floating ? 2 * m * n * k / LANES / (has_part(d, "mma_async") ? 4 : 1) : 0;
    }
    return 0;
}

uint32_t opcode_operations(const decoder *d)
{
    device_class class = opcode_class(d);
    if (class == CLASS_TENSOR) return tensor_operations(d);
    if (class != CLASS_FLOAT && class != CLASS_DOUBLE) return 0;
    return d->opcode->operations * (strstr(last_part(d), "x2") ? 2 : 1);
}

/* Of a lane. A quotient or an exponential serves as well as a product, a sum does not. Tensor
 * instructions have none: they are what others are told apart from. */
uint8_t opcode_multiplications(const decoder *d)
{
    const char *word = d->part[0];
    if (!strcmp(word, "dp4a")) return 4;
    if (!strcmp(word, "dp2a")) return 2;
    if (!strcmp(word, "add") || !strcmp(word, "sub") || opcode_class(d) == CLASS_TENSOR) return 0;
    const bool multiplies = !strncmp(word, "mul", 3) || !strncmp(word, "mad", 3);
    if (!multiplies && opcode_operations(d) == 0) return 0;
    return strstr(last_part(d), "x2") ? 2 : 1;
}
