/*
 * ignored.c: does the program check the result of a call? Read from its machine code: from the
 * return address on, is EAX, where the result is, overwritten before something reads it?
 *
 * Interface
 *   call_is_ignored     the same for the trace of a call
 *   call_name           the function that it called, by the program's own call instruction
 *
 * Instructions are followed along jumps, and from a function's return into its caller: a wrapper
 * may hand the result on. Code that is not understood counts as a check. On processors other than
 * x86-64 every call counts as looked at.
 */
#define _GNU_SOURCE
#include "caller.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 200 }; /* instructions, on all paths together */

/** What an instruction does to EAX; or where to look on. */
enum effect { NONE, READS, WRITES, JUMPS, BRANCHES, RETURNS };

/** An instruction in hand. */
struct instruction {
    const uint8_t *next; /* what follows what was read of it */
    uint8_t rex, opcode, mode, reg, rm;
    bool two_byte, half, by_eax; /* half: 16 bits wide; by_eax: its memory operand's address */
    const uint8_t *target;       /* of a jump */
};

static int32_t read_offset(const uint8_t *at, int bytes)
{
    int32_t wide;

    memcpy(&wide, at, sizeof wide);
    return bytes == 1 ? (int8_t)*at : wide;
}

static void read_opcode(struct instruction *i)
{
    while (*i->next == 0x66 || *i->next == 0x2e || *i->next == 0xf2 || *i->next == 0xf3)
        i->half |= *i->next++ == 0x66;
    if ((*i->next & 0xf0) == 0x40) i->rex = *i->next++;
    i->two_byte = *i->next == 0x0f;
    i->next += i->two_byte;
    i->opcode = *i->next++;
}

/** The byte of operands, and the address of one in memory. */
static void read_operands(struct instruction *i)
{
    const uint8_t modrm = *i->next++;

    i->mode = modrm >> 6;
    i->reg = (uint8_t)((modrm >> 3 & 7) | (i->rex & 4) << 1);
    i->rm = (uint8_t)((modrm & 7) | (i->rex & 1) << 3);
    if (i->mode == 3) return;
    uint8_t base = modrm & 7;
    if (base == 4) {
        const uint8_t sib = *i->next++;
        i->by_eax = (sib >> 3 & 7) == 0 && !(i->rex & 2);
        base = sib & 7;
    }
    bool no_base = base == 5 && i->mode == 0;
    i->by_eax |= base == 0 && !(i->rex & 1);
    i->next += i->mode == 1 ? 1 : i->mode == 2 || no_base ? 4 : 0;
}

static bool rm_is_eax(const struct instruction *i)
{
    return i->mode == 3 && i->rm == 0;
}

/** Reads one operand and writes the other one. */
static enum effect move(const struct instruction *i, bool from_eax, bool to_eax)
{
    if (i->by_eax || from_eax) return READS;
    return !to_eax ? NONE : i->half ? READS : WRITES;
}

static enum effect jump(struct instruction *i, int bytes, enum effect effect)
{
    i->target = i->next + bytes + read_offset(i->next, bytes);
    i->next += bytes;
    return effect;
}

/** Reads both operands. */
static enum effect compute(struct instruction *i, int immediate)
{
    read_operands(i);
    i->next += immediate;
    return i->by_eax || i->reg == 0 || rm_is_eax(i) ? READS : NONE;
}

/** Reads a register or memory; the other field says what to do. */
static enum effect change(struct instruction *i, int immediate)
{
    read_operands(i);
    i->next += immediate;
    return i->by_eax || rm_is_eax(i) ? READS : NONE;
}

/** From a comparison: who wants the rest of EAX has not come yet, and will not. */
static enum effect set_byte(struct instruction *i)
{
    read_operands(i);
    return move(i, false, rm_is_eax(i));
}

/** Operations on vector registers without an immediate value. */
static bool is_vector(uint8_t o)
{
    static const uint8_t some[] = {0x10, 0x11, 0x14, 0x16, 0x28, 0x29, 0x2a, 0x2e, 0x2f,
                                   0x54, 0x57, 0x6c, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xef};

    return memchr(some, o, sizeof some) || (o >= 0x58 && o <= 0x5f);
}

static enum effect two_bytes(struct instruction *i)
{
    const uint8_t o = i->opcode;

    if (o >= 0x80 && o <= 0x8f) return jump(i, 4, BRANCHES);
    if (o == 0x1e || o == 0x1f) return read_operands(i), NONE; /* endbr64, nop */
    if (o >= 0x90 && o <= 0x9f) return set_byte(i);
    bool widens = o == 0xb6 || o == 0xb7 || o == 0xbe || o == 0xbf;
    if ((o >= 0x40 && o <= 0x4f) || o == 0xaf) return compute(i, 0); /* cmov, imul */
    bool compares = o == 0xc2; /* vector registers, by an immediate value */
    if (!widens && !compares && !is_vector(o)) return READS;
    read_operands(i);
    i->next += compares;
    bool general = widens || o == 0x2a || o == 0x6e || o == 0x7e; /* or else a vector register */
    return move(i, general && rm_is_eax(i), widens && i->reg == 0);
}

static enum effect call_or_push(struct instruction *i)
{
    read_operands(i);
    if (i->by_eax || rm_is_eax(i)) return READS;
    const uint8_t what = i->reg & 7;
    return what == 2 ? WRITES : what == 0 || what == 1 || what == 6 ? NONE : READS;
}

/** The usual two-operand forms: 0x01 add, 0x09 or, ... 0x39 cmp. */
static bool is_arithmetic(uint8_t o)
{
    return (o < 0x40 && (o & 7) < 4) || o == 0x84 || o == 0x85;
}

static enum effect one_byte(struct instruction *i)
{
    const uint8_t o = i->opcode, number = (uint8_t)((o & 7) | (i->rex & 1) << 3);

    if ((o == 0x31 || o == 0x33) && *i->next == 0xc0 && !(i->rex & 5)) return WRITES;
    if (is_arithmetic(o)) return compute(i, 0);
    if (o >= 0x50 && o <= 0x57) return number ? NONE : READS;
    if (o >= 0x58 && o <= 0x5f) return number ? NONE : WRITES;
    if (o >= 0x70 && o <= 0x7f) return jump(i, 1, BRANCHES);
    if (o >= 0xb8 && o <= 0xbf) {
        i->next += i->rex & 8 ? 8 : i->half ? 2 : 4;
        return number ? NONE : i->half ? READS : WRITES;
    }
    switch (o) {
    case 0x63:
    case 0x8b:
    case 0x8d: read_operands(i); return move(i, rm_is_eax(i), i->reg == 0);
    case 0x88:
    case 0x89: read_operands(i); return move(i, i->reg == 0, rm_is_eax(i));
    case 0xc6:
    case 0xc7:
        read_operands(i);
        i->next += o == 0xc6 ? 1 : i->half ? 2 : 4;
        return move(i, false, rm_is_eax(i));
    case 0x80:
    case 0x83:
    case 0xc1: return change(i, 1);
    case 0x81: return change(i, i->half ? 2 : 4);
    case 0xd1:
    case 0xd3: return change(i, 0);
    case 0x90:
    case 0xc9: return NONE;
    case 0xb0: i->next++; return NONE; /* AL: how many vector arguments a function gets */
    case 0xc3: return RETURNS;
    case 0xe8: return WRITES;
    case 0xe9: return jump(i, 4, JUMPS);
    case 0xeb: return jump(i, 1, JUMPS);
    case 0xff: return call_or_push(i);
    default: return READS;
    }
}

/** Is EAX overwritten on every path from `at`? `caller`: return addresses, up to a NULL. */
static bool is_overwritten(const uint8_t *at, void *const *caller, void *const *end, int *steps)
{
    while (at && ++*steps < MOST_STEPS) {
        struct instruction i = {.next = at};
        read_opcode(&i);
        const enum effect effect = i.two_byte ? two_bytes(&i) : one_byte(&i);
        if (effect == READS || effect == WRITES) return effect == WRITES;
        if (effect == BRANCHES && !is_overwritten(i.target, caller, end, steps)) return false;
        at = effect == JUMPS ? i.target : i.next;
        if (effect == RETURNS) at = caller < end ? *caller++ : NULL;
    }
    return false;
}

bool call_is_ignored(const struct trace *trace)
{
#ifdef __x86_64__
    int steps = 0;

    return is_overwritten(trace->frame[0], trace->frame + 1, trace->frame + TRACE_FRAMES, &steps);
#else
    (void)trace;
    return false;
#endif
}

/* ---- whom it called -------------------------------------------------------------------------- */

/** What a jump or call through memory, whose address stands in its last 4 bytes, goes to. */
static const void *behind(const uint8_t *end)
{
    const void *function;

    memcpy(&function, end + read_offset(end - 4, 4), sizeof function);
    return function;
}

/** An entry of the procedure linkage table: endbr64, jmp *function. */
static const void *behind_linkage(const uint8_t *at)
{
    if (!memcmp(at, "\xf3\x0f\x1e\xfa", 4)) at += 4;
    if (*at == 0xf2) at++;
    return at[0] == 0xff && at[1] == 0x25 ? behind(at + 6) : NULL;
}

void call_name(const struct trace *trace, char *name, size_t size)
{
    const uint8_t *end = trace->frame[0];
    const void *function = NULL;
    Dl_info info;

    if (end && end[-5] == 0xe8) function = behind_linkage(end + read_offset(end - 4, 4));
    if (end && end[-6] == 0xff && end[-5] == 0x15) function = behind(end);
    bool known = function && dladdr(function, &info) && info.dli_sname;
    snprintf(name, size, "%s", known ? info.dli_sname : "a call");
    char *suffix = strstr(name, "_pt");
    if (suffix) *suffix = '\0';
}
