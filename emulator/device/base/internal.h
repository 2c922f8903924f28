/*
 * internal.h: the index of the device: every type that two of its files share, and every function
 * under the name of its file.
 *
 * How a launch runs
 *   PTX text -> parse.c (syntax) -> decode.c (operations) -> flow.c (where diverged lanes meet)
 *   -> slots.c (registers to rows) -> launch.c (blocks over host threads) -> block.c (warps,
 *   barriers) -> path.c (lanes that run together) -> one handler per operation, 32 lanes a call.
 *
 * A launch that is counted (count.h) runs other code, the function's twin: the same operations with
 * a counting one before each, which looks at the rows and changes nothing. So the handlers here,
 * and whoever makes them faster, need not know of counting; only what rewrites or fuses operations
 * while they are decoded must leave alone a function with decoder.counted.
 *
 * A row is the value of one register in the 32 lanes of a warp: 32 elements of 2, 4 or 8 bytes. A
 * predicate is one 32-bit mask, a bit a lane.
 */
#ifndef SOFTGPU_DEVICE_INTERNAL_H
#define SOFTGPU_DEVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "device/device.h"

enum {
    LANES = 32,
    ALL_LANES = -1, /* as a lane mask: every bit */
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / LANES,
    MAX_SHARED = 227 * 1024, /* bytes a block may have */
    MAX_BARRIERS = 16,
    MAX_OPERANDS = 8,
    MAX_FORMALS = 64,
    MAX_PARAMS = 32764, /* bytes of a kernel's parameters */
    MAX_WORKERS = 64,
    ROW_ALIGNMENT = 64,
    MAX_SUMS = 256, /* elements of a matrix product, and of one of its factors */
    MAX_FACTORS = 4096,
    SHAPES = 8,            /* shapes of addresses that a warp notes */
    PAGE_WORDS = 16,       /* words of shared memory that are known to be quiet together */
    SHARED_RED_ZONE = 128, /* unowned bytes behind each shared variable */
    CALL_STACK = 1 << 16,  /* bytes of local memory, a thread, for the frames of called functions */
    CALL_ROWS = 1 << 21,   /* bytes of registers, a warp, for the frames of called functions */
};

/* Generic addresses of what is not global memory. Nothing else lives in these ranges. */
#define WINDOW_BYTES    UINT64_C(0x10000000000)
#define SHARED_WINDOW   UINT64_C(0x400000000000)
#define LOCAL_WINDOW    (SHARED_WINDOW + WINDOW_BYTES)
#define PARAM_WINDOW    (LOCAL_WINDOW + WINDOW_BYTES)
#define FUNCTION_WINDOW (PARAM_WINDOW + WINDOW_BYTES)    /* function i lies at 16 * (i + 1) */
#define GRID_WINDOW     (FUNCTION_WINDOW + WINDOW_BYTES) /* grid.c: where blocks meet */

typedef enum space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
} space;

/** How an access takes part in races. Two atomic ones make none; two volatile ones make none when
 *  different warps do them, but do not order the lanes of one warp. */
typedef enum strength {
    STRENGTH_PLAIN,
    STRENGTH_VOLATILE,
    STRENGTH_ATOMIC,
} strength;

typedef struct op op;
typedef struct warp warp;
typedef struct block block;
typedef struct launch launch;
typedef struct module module;
typedef struct function function;
typedef struct site site;                   /* count.h */
typedef struct tally tally;                 /* count.h */
typedef struct counter counter;             /* count.h */
typedef struct counted counted;             /* count.h */
typedef struct tracker tracker;             /* global_shadow.c */
typedef struct global_shadow global_shadow; /* global_shadow.c */
typedef struct work_order work_order;       /* order.c */

/* ---- operations ------------------------------------------------------------------------------ */

/** Where a row lies: a bank in the two top bits, a byte offset in the rest. */
typedef uint32_t operand;

typedef enum bank {
    BANK_REGISTERS, /* of the frame that runs */
    BANK_CONSTANTS, /* of the module: immediates and addresses, each as a full row */
    BANK_BLOCK,     /* special registers that are equal in a whole block */
    BANK_WARP,      /* special registers of one warp */
    BANKS,
} bank;

#define OPERAND(bank, offset) ((operand)(bank) << 30 | (operand)(offset))

/** Executes `o` in the active lanes. @return the operation to go on with, NULL to leave the path.
 */
typedef const op *handler(warp *, const op *o);

struct op {
    handler *run;
    handler *inner; /**< what a wrapping handler (rounding) runs */
    operand d;      /**< destination; component 0 of a vector */
    operand v[3];   /**< components 1..3 of a vector; v[0] is a second destination */
    operand a, b, c, e;
    operand guard; /**< a predicate, or 0: unconditional */
    bool guard_negated;
    uint8_t size;   /**< memory: bytes of one component */
    uint8_t count;  /**< memory: components */
    uint8_t space;  /**< memory: a `space` */
    uint8_t narrow; /**< memory: the address operand has 32 bits */
    uint8_t width;  /**< memory: bytes of an element of the row */
    bool is_load;
    uint8_t strength;  /**< memory: a `strength` */
    uint8_t used;      /**< load: bit set of the components that something reads */
    uint8_t shape;     /**< load of words: where the warp notes how the addresses lie */
    bool shape_known;  /**< an earlier load has noted it */
    bool shape_kept;   /**< the same, if the warp still has the note */
    bool closes;       /**< branch: back to the start of a loop, notes hold; target: see shapes.c */
    uint8_t variant;   /**< meaning depends on the handler; memory: 'f', 's', 'u', 'b', the type */
    uint32_t line;     /**< index into the module's places */
    uint32_t site;     /**< counting operation: index into the module's sites */
    int64_t offset;    /**< memory: displacement; otherwise the handler's own immediate */
    const op *target;  /**< branch */
    const op *meet;    /**< branch: where its lanes meet again; NULL: nowhere */
    const void *extra; /**< a struct call, a jump table or a row mover */
};

/** What a call needs to know beside the callee's header. Operands are rows of the caller's frame,
 *  one a word of the parameter. */
typedef struct call {
    function *callee; /**< NULL when the address of the callee is in op.a */
    uint32_t arguments;
    operand argument[MAX_FORMALS];
    uint32_t argument_words[MAX_FORMALS];
    bool has_result;
    operand result;
    uint32_t result_words;
} call;

typedef enum element_kind {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1,
    ELEMENT_S32,
} element_kind;

/** A matrix spread over the registers of a warp; matrix.c says which element is where. Outer are
 *  the rows of A, C and D and the columns of B; inner runs along k, or along the rows of C and D.
 */
typedef struct fragment {
    uint8_t kind; /**< an element_kind */
    uint8_t bits; /**< of an element */
    uint8_t each; /**< elements side by side in a lane */
    uint16_t outer, inner;
    uint8_t first, registers; /**< where in matrix.row, and how many: 32 bits each, or 64 */
} fragment;

/** Operands of an operation on matrices. */
typedef struct matrix {
    fragment d, a, b, c; /**< loads and stores: d alone */
    bool saturate;
    bool exclusive_or;  /**< one-bit elements: count a ^ b instead of a & b */
    bool across;        /**< loads and stores: a line in memory runs along outer */
    bool sum;           /**< loads and stores: it is C or D */
    operand row[LANES]; /**< registers of d, a, b, c */
} matrix;

typedef struct jump_table {
    uint32_t count;
    const op *target[];
} jump_table;

/** Where an address may come from: bit i, the 8 bytes at 8 * i of the kernel's parameters. */
#define ORIGIN_PARAMS   62                  /* bits */
#define ORIGIN_VARIABLE (UINT64_C(1) << 62) /* a variable of the module */
#define ORIGIN_UNKNOWN  (UINT64_C(1) << 63)

/** An operation that may access global memory; op.inner is its own handler. */
typedef struct watch {
    op *op;
    handler *run; /**< of the operation when it is not watched, maybe fused with others */
    uint64_t origin;
    uint32_t reports; /**< races named in this launch */
} watch;

/* ---- modules --------------------------------------------------------------------------------- */

/** A source position. `file` indexes the module's files. */
typedef struct place {
    uint32_t file, line;
    uint32_t outer; /**< the place of the call that was inlined here; 0: none */
} place;

/** A row of BANK_CONSTANTS. */
typedef struct constant {
    uint32_t offset;
    uint8_t width;
} constant;

typedef struct variable {
    char *name;
    space space;
    uint64_t bytes;
    uint32_t alignment;
    device_address address; /**< shared: an offset */
    bool external;          /**< dynamic shared memory */
    bool placed, kept;      /**< lies in shared memory; and has its value already */
} variable;

struct function {
    char *name;
    char plain_name[128]; /**< as in the source */
    module *module;
    bool kernel;
    op *code;
    uint32_t ops;
    op *last;                /**< the one `ret` at the end */
    uint32_t register_bytes; /**< of a frame */
    uint32_t formals; /**< parameters of a device function, and where they lie in the frame */
    uint32_t formal[MAX_FORMALS], formal_words[MAX_FORMALS];
    uint32_t result_offset, result_words;
    uint32_t call_params; /**< offset in the frame of the parameters of its calls */
    uint32_t local_bytes;
    bool calls;     /**< calls device functions */
    bool asks_grid; /**< asks whether the launch is cooperative */
    watch *watches;
    uint32_t watch_count;
    bool *shared_used;      /**< by variable of the module; callees not included */
    char *unsupported_text; /**< the first opcode that the device lacks, or NULL */
    uint32_t unsupported_line;
    device_function_facts facts;
    function **callee;
    uint32_t callees;
    function *twin;             /**< for launches that are counted; NULL: not made yet */
    uint32_t first_site, sites; /**< of a twin */
    const function *lacking;    /**< kernels: the function with the opcode that the device lacks */
    bool visited;
};

struct module {
    device *device;
    uint64_t version; /**< unlike that of any other module ever loaded */
    variable *variables;
    uint32_t variable_count;
    function **functions;
    uint32_t function_count;
    char **files;
    uint32_t file_count;
    place *places;
    uint32_t place_count;
    constant *constant; /**< what rows there are */
    uint32_t constant_count;
    uint8_t *constants; /**< the rows */
    size_t constant_bytes, constant_capacity;
    uint32_t shared_bytes; /**< of all static shared variables with their red zones */
    void **kept;           /**< what op.extra points to: calls and matrices */
    uint32_t kept_count;
    char *text; /**< the PTX, for twins */
    size_t text_bytes;
    bool has_twins;
    site *sites;
    uint32_t site_count;
};

/* ---- running --------------------------------------------------------------------------------- */

typedef enum path_state {
    PATH_FREE,
    PATH_READY,
    PATH_JOINING,   /* waits for its children to reach pc */
    PATH_BARRIER,   /* waits at a block barrier */
    PATH_GATHERING, /* waits for other lanes of the warp to reach pc */
} path_state;

/** Lanes of a warp that run together. Divergence makes two children; they end where they meet. */
typedef struct path {
    path_state state;
    uint32_t mask;       /**< lanes; while joining, those that have arrived */
    const op *pc, *stop; /**< at `stop` the lanes join the parent; NULL: they run to the exit */
    int parent;          /**< index, -1: none */
    uint32_t children;
    bool gathered;   /**< has waited for other lanes long enough */
    uint8_t barrier; /**< number of the barrier waited at */
    uint32_t wanted; /**< threads that complete it; 0: all */
    const function *function;
    uint8_t *registers; /**< the frame */
    uint32_t local;     /**< offset of the frame in local memory */
} path;

/** An asynchronous copy under way: what it will write, when somebody waits for it. */
typedef struct flight {
    const op *op;
    uint32_t to;      /**< offset in shared memory */
    uint32_t group;   /**< how many groups its lane had committed before */
    uint32_t barrier; /**< offset of the mbarrier that waits for it; NO_BARRIER: none */
    uint8_t lane, bytes;
    uint8_t value[16];
} flight;
enum { NO_BARRIER = -1 };

typedef struct flights {
    flight *list;
    uint32_t count, capacity;
    uint32_t group[LANES]; /**< groups that each lane has committed */
} flights;

/** How the addresses of a full warp lie, see words.c: in each half of it they rise by a step. */
typedef struct word_shape {
    uint32_t kind, step[2]; /**< bytes */
} word_shape;

/** A row of which some lanes hold what no lane gave, or what nothing has written. See undefined.c.
 */
typedef struct undefined {
    operand row;
    uint32_t lanes;
    const op *origin; /**< the shuffle or load where it came from, and the first lane that read, */
    uint8_t lane, source; /**< and what lane a shuffle read from */
    bool local;           /**< the origin is a load of local memory, */
    bool raw, part;       /**< nothing was computed with it yet; other components are defined */
    uint64_t offset;      /**< in local memory */
} undefined;
enum { MOST_UNDEFINED = 32 };

/** What the load that runs found unwritten in local memory, by component. */
typedef struct unwritten {
    const op *op; /**< NULL: nothing */
    uint32_t lanes[4];
    uint64_t offset; /**< of the first one */
} unwritten;

struct warp {
    uint8_t *bank[BANKS];
    uint32_t mask;  /**< active lanes of the path that runs */
    uint32_t alive; /**< lanes that have not exited */
    int current;    /**< the path that runs */
    path *paths;
    int path_count, path_capacity;
    word_shape shapes[SHAPES + 1]; /**< by op.shape; nobody relies on the last one */
    uint32_t noted;                /**< bit set of shapes noted since another path ran */
    uint32_t index;                /**< in the block */
    uint64_t executed;             /**< instructions, while launches are counted */
    uint32_t synced;               /**< tick of its last warp-wide synchronisation */
    uint32_t fenced;               /**< tick of its last memory fence */
    int64_t budget;                /**< operations left */
    int32_t slice;                 /**< backward jumps left before others get their turn */
    uint8_t *frames, *frames_end;  /**< memory for register frames */
    uint8_t *local;                /**< lane l's local memory starts at l * block->local_stride */
    uint32_t *written;             /**< by offset in it: lanes that wrote there; NULL: no check */
    unwritten unwritten;
    bool alone; /**< undefined.c runs a copy of one operation */
    flights flights;
    uint32_t undefined_count;
    const uint8_t *undefined_frame; /**< whose rows they are */
    undefined undefined[MOST_UNDEFINED];
    block *block;
};

/** Shadow of shared memory: one cell a word, or one a byte. See shadow.c. */
typedef struct cells {
    uint32_t *written, *read;           /**< stamps */
    uint32_t *written_line, *read_line; /**< places */
} cells;

/** One block in flight: all that a host thread needs. Lives as long as its host thread; those of
 *  cooperative launches, as long as the pool. */
struct block {
    device *device;
    launch *launch;
    uint32_t index[3];
    uint32_t threads, warp_count;
    uint32_t live;                  /**< threads that have not exited */
    uint32_t arrived[MAX_BARRIERS]; /**< by bar.arrive, for the phase that is open */
    uint32_t polls; /**< how often somebody asked in vain, since an mbarrier last changed */
    warp warps[MAX_WARPS];
    uint8_t *rows, *warp_rows; /**< BANK_BLOCK; BANK_WARP of every warp */
    uint8_t *shared;
    uint32_t shared_bytes, shared_capacity; /**< static, red zones, dynamic */
    const module *shadow_of; /**< whose layout the shadow shows, with how much dynamic memory */
    uint32_t shadow_dynamic;
    uint64_t shadow_version;
    uint32_t fenced;            /**< tick of the last fence of any warp */
    uint32_t oldest, span;      /**< shadow.h: write cells in [oldest, oldest + span) are settled */
    uint32_t crowded;           /**< read cells from here on need no further note */
    uint32_t recent, read_mask; /**< cells from `recent` on are of this epoch */
    cells words, bytes;
    uint32_t *quiet;                    /**< by page: the epoch in which all of it is idle */
    uint32_t tick;                      /**< grows at every synchronisation */
    uint32_t first_tick, epoch_tick;    /**< at the start of the block; at its last barrier */
    uint32_t rewound;                   /**< ticks passed before ticks last started anew */
    tracker *tracker;                   /**< races in global memory; NULL: never watched */
    uint8_t *frames;                    /**< registers of all warps */
    size_t frame_bytes, frame_capacity; /**< a warp's share */
    uint8_t *locals;
    size_t local_stride, local_capacity; /**< a thread's share of local memory */
    uint8_t *written;                    /**< warp.written of all */
    size_t written_capacity;
    uint32_t steps;      /**< operations of this launch that undefined.c followed */
    atomic_int seat;     /**< cooperative: a `seat` of grid.c */
    uint32_t grid_phase; /**< cooperative: how often it has arrived where all blocks meet */
    bool copied;         /**< asynchronously, since it began */
    bool spent;          /**< a warp has used up its turn */
    bool waits;          /**< cooperative: has found others missing in this turn */
    tally *tallies;      /**< by site of the module, while launches are counted */
    size_t tally_capacity;
    uint64_t atomics;               /**< of this block, on global memory; likewise */
    uint64_t longest, most_atomics; /**< of any warp, of any block that ran here */
};

/** Where the blocks of a cooperative grid meet: see grid.c. */
typedef struct grid {
    _Alignas(64) uint32_t words[64]; /**< what kernels see at GRID_WINDOW */
    pthread_mutex_t lock;            /**< guards what follows */
    uint32_t phase;                  /**< meetings completed */
    uint32_t arrived;                /**< blocks at the meeting that is open */
    uint32_t absent;                 /**< blocks that have ended and will not come to it */
    atomic_uint ended;
} grid;

/** One launch, seen by all host threads. */
struct launch {
    device *device;
    const device_launch_request *request;
    const function *function;
    const uint8_t *params; /* padded by 64 bytes */
    uint64_t blocks;
    atomic_uint_fast64_t next;
    atomic_int status; /**< the first failure */
    atomic_bool stop;  /**< blocks end as soon as they notice */
    bool check_races, check_uninitialised, check_lanes, check_barriers, check_returns;
    bool goes_on; /**< it is of the same run of a graph as the launch before */
    bool watched; /**< some accesses to global memory are */
    int64_t budget;
    uint32_t first_finding; /**< of this launch, in device->findings */
    grid *grid;             /**< cooperative launches; NULL: blocks know nothing of each other */
    counted *counted;       /**< where its cost goes; NULL: nobody counts */
    uint64_t longest, block_atomics; /**< so far; see counts.h */
};

/* ---- the device ------------------------------------------------------------------------------ */

typedef struct extent extent;
typedef struct heap {
    extent *root;
    uint64_t used, limit; /**< bytes allocated; bytes that may be */
    uint64_t first;       /**< nothing is allocated below */
    uint64_t cursor;      /**< the next allocation is sought from here on */
    uint64_t seed;
} heap;

typedef struct pool pool;

/** Memory of this process that kernels may touch at its own address. */
typedef struct admission {
    uint64_t address, bytes;
} admission;

/** Where the next module's variable of that name lies. */
typedef struct placement {
    char *name;
    device_address address;
    bool initialise;
} placement;

typedef struct finding_entry {
    device_finding finding;
    const function *function;
    uint32_t line; /**< index into the module's places */
} finding_entry;

struct device {
    device_options options;
    uint8_t *bytes;  /**< device memory; index: address - DEVICE_BASE */
    uint16_t *owned; /**< how many bytes of each 256 belong to an allocation: its first ones */
    uint64_t *initialised; /**< a bit a byte: it is owned, and was written (or nobody checks) */
    heap heap;
    admission *admitted;
    uint32_t admissions;
    placement *placed;
    uint32_t placements;
    module **modules;
    uint32_t module_count;
    function **functions; /**< by number */
    uint32_t function_count;
    pool *pool;
    pthread_mutex_t allocations; /**< while a kernel runs: guards heap, freed */
    pthread_mutex_t reports;     /**< guards findings, output */
    finding_entry *findings; /**< those taken, those not yet taken, those of the launch that runs */
    uint32_t finding_count, finding_taken;
    char *output;
    size_t output_bytes, output_taken, output_capacity;
    struct {
        uint64_t offset, bytes;
    } freed[64]; /**< the last ranges freed, for diagnostics */
    uint32_t freed_count;
    uint64_t versions;            /**< modules loaded so far */
    counter *counter;             /**< NULL: nobody has counted yet */
    global_shadow *global_shadow; /**< NULL: no launch has needed it */
    work_order *order;            /**< NULL: it has been nobody's turn */
    struct kept_graph *graphs;    /**< graph.c: by number, from 1 on */
    uint32_t graph_count, graph_nodes;
    uint64_t graph_param_bytes;
    uint32_t last_graph, last_node; /**< that the latest launch was of; 0: of none */
    char error[512];
};

/* device.c */
/** Set device_error(). @return the status. */
device_status fail(device *, device_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Allocate and free, module variables too. */
bool claim_range(device *, uint64_t bytes, device_address *);
bool release_range(device *, device_address);
/** Is it memory of the host's that kernels may touch, outside the range? */
bool is_admitted(const device *, uint64_t address, uint32_t bytes);
/** Where the module that is being loaded finds that variable, or NULL. */
const placement *find_placement(const device *, const char *name);
void forget_placements(device *);
/** A range freed not long ago that holds `offset`. */
bool freed_find(const device *, uint64_t offset, uint64_t *base, uint64_t *bytes);
/** The one that ended last before `offset`. */
bool freed_below(const device *, uint64_t offset, uint64_t *base, uint64_t *bytes);

/** Zero a range; whole pages go back to the system instead. */
void clear_range(uint8_t *memory, uint64_t first, uint64_t bytes);

/* heap.c: which ranges of device memory are allocated; offsets from DEVICE_BASE */
void heap_init(heap *, uint64_t limit, uint64_t first, uint64_t range);
void heap_destroy(heap *);
bool heap_allocate(heap *, uint64_t bytes, uint64_t *offset);
bool heap_release(heap *, uint64_t offset, uint64_t *bytes);
/** An allocation at a given place outside the heap's range, and its end. */
void heap_place(heap *, uint64_t offset, uint64_t bytes);
bool heap_displace(heap *, uint64_t offset, uint64_t *bytes);
bool heap_find(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);
/** The allocations next below and above an offset that none holds; 0 bytes of `base`: none. */
bool heap_below(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);
bool heap_above(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);

/* module.c */
/** Make the twins of all its functions, unless they exist. */
bool module_make_twins(module *);
/** Zeroed memory that lives as long as the module. */
void *module_keep(module *, size_t bytes);
const char *module_file(const module *, uint32_t line, uint32_t *number);
/** The same for the place where that line was inlined; "" when it was not. */
const char *module_outer_file(const module *, uint32_t line, uint32_t *number);
void module_free(module *);
/** The module's variable at that address, or NULL. */
const variable *module_owner(const device *, device_address);

/* graph.c */
void graphs_close(device *);

/* pool.c, launch.c */
/** @param goes_on it is of the same run of a graph as the launch before */
device_status launch_now(device *, const device_launch_request *, bool goes_on);
pool *pool_open(device *, uint32_t threads);
void pool_close(pool *);
void pool_run(pool *, launch *);
/** Ends the launch with a failure, unless it has one. */
void launch_stop(launch *, device_status);
/** Notes a failure that does not end the launch. */
void launch_fail(launch *, device_status);

/* block.c */
block *block_open(device *);
void block_close(block *);
/** Make room and set up whatever stays the same in all blocks of a launch. */
void block_prepare(block *, launch *);
void block_run(block *, uint64_t number);
/** The same in pieces: begin; then give every warp a turn, until that returns false. */
void block_start(block *, uint64_t number);
bool block_turn(block *);
/** At least `bytes` of zeroed pages; what they held is lost when they move. */
void block_grow(uint8_t **memory, size_t *capacity, size_t bytes);

/* path.c */
void warp_start(warp *, const function *, uint32_t mask);
/** Run until every path waits or has ended, or the warp had its turn. @return it can go on. */
bool warp_run(warp *);
handler run_branch, run_join, run_exit, run_call, run_return, run_jump_table;
/** Are all lanes of `members` here? If not, the path waits for them at `o`: return NULL. */
bool path_gather(warp *, const op *o, uint32_t members);
/** Live lanes that are named in `members`, and for which nobody can wait any longer: they neither
 * run here nor wait for others of the warp. */
uint32_t path_missing(const warp *, uint32_t members);
/** Leave the path, which goes on at `o` with the next turn. @return NULL, for the handler */
const op *path_pause(warp *, const op *o);
/** The launch ends with a failure, at `o`. @return NULL, for the handler to return. */
const op *path_halt(warp *, const op *o, device_status);

/* barrier.c */
typedef enum barrier_kind {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_POPC,
    BARRIER_AND,
    BARRIER_OR,
} barrier_kind;
handler run_barrier, run_warp_sync, run_fence;
/** Let go whoever waits for a barrier that is complete. @return whether somebody was. */
bool barrier_release(block *);
/** What came before is ordered before what follows: for all threads of the block, or for some,
 *  nobody knows which. */
void order_accesses(block *, bool all);
/** Report threads that wait for ever. */
void barrier_deadlock(block *);

/** Lanes that access consecutive elements (step == bytes) or the same one (step == 0). */
typedef struct run {
    uint64_t address;
    uint32_t lane, lanes; /**< the first lane and how many follow each other */
    uint32_t bytes, step;
} run;

/* access.c: loads and stores of a warp; mover.c: rows from and to host memory */
typedef enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
} access_kind;
/** Values between a row and memory: `lanes` of them, from the row's given lane on, in memory at
 * even steps; or those of the lanes in `mask`, each at its pointer plus `offset`. */
typedef struct mover {
    void (*run)(void *row, uint8_t *memory, int64_t step, uint32_t lanes);
    void (*spread)(void *row, uint8_t *const *memory, uint32_t offset, uint32_t mask);
} mover;
const mover *find_mover(bool load, uint32_t size, bool is_signed, uint32_t width);
handler run_load, run_load_global, run_load_shared, run_load_global_word, run_load_shared_word;
handler run_store_shared_word;
/** Find out how the addresses of a full warp lie, and note it. */
void note_shape(warp *, const op *);
/** Lane by lane, with reports. */
void store_lanes(warp *, const op *, uint32_t mask);
handler run_store, run_store_global, run_store_shared;
/* reach.c */
space space_of_address(uint64_t generic);
/** Where a space begins among generic addresses; 0 for global memory. */
uint64_t window_of(space);
/** NULL: not as a whole. `step`: bytes from lane to lane in host memory. */
uint8_t *reach_local(warp *, const op *, const run *, access_kind, int64_t *step);
uint8_t *reach_params(const warp *, const run *);
/** Host memory behind an access of one lane, or NULL: reported. `value`: what a store will write.
 */
uint8_t *reach_lane(warp *, const op *, space, uint64_t address, uint32_t bytes, uint32_t lane,
                    access_kind, const void *value);

/* local.c: which bytes of local memory were written */
void local_prepare(block *);
void local_start(warp *);
/** The frame of a function begins at an offset, for some lanes. */
void local_enter(warp *, const function *, uint32_t offset, uint32_t lanes);
/** An access happens: a store is remembered, what a load lacks goes to w->unwritten. */
void local_note(warp *, const op *, const run *, access_kind);
/** What these lanes have there counts as unwritten again. */
void local_forget(warp *, uint64_t offset, uint32_t bytes, uint32_t lanes);

/* grid.c: blocks that wait for each other */
/** Take turns at all blocks of a cooperative launch until they have ended. Any number of threads.
 */
void grid_run(block *const *blocks, launch *);
void grid_open(grid *);
void grid_close(grid *);
/** Host memory behind an address in GRID_WINDOW, or NULL. */
uint8_t *grid_reach(warp *, const op *, uint64_t address, uint32_t bytes, uint32_t lane,
                    access_kind);

/* atomic.c */
typedef uint64_t atomic_function(void *memory, uint64_t operand, uint64_t replacement);
atomic_function *find_atomic(const char *name, const char *type);
handler run_atomic;

/* shadow.c: shared memory's bounds, races, initialisation */
/** Set up for the layout of the launch's module; forget it all. */
void shadow_prepare(block *);
void shadow_close(block *);
void shadow_start(block *);
/** A synchronisation happens. @return the tick after it. */
uint32_t shadow_tick(block *);
/** After a change of ticks: bring up to date what shadow.h compares with. */
void shadow_refresh(block *);
/** May a run go ahead? False: take it apart into lanes. The run is within block->shared_bytes. */
bool shadow_load(warp *, const op *, const run *);
bool shadow_store(warp *, const op *, const run *);
/** False: there is no such memory (reported). */
bool shadow_lane(warp *, const op *, uint64_t offset, uint32_t bytes, uint32_t lane, access_kind,
                 const void *value);

/* watch.c: which accesses to global memory must be watched */
void watch_add(function *, op *, uint64_t origin);
/** Choose for this launch; sets l->watched. */
void watch_prepare(launch *);
/** Count a report of `o`. @return false when it has been reported often enough. */
bool watch_may_report(launch *, const op *);
handler run_watched;

/* global_shadow.c: races in global memory. Only for launches with l->watched, but for the last two.
 */
bool global_shadow_open(launch *);
/** The launch is over: its accesses are those of a past work. */
void global_shadow_over(const launch *);
void global_shadow_start(block *, uint32_t number);
/** The block's accesses so far come before what others do after they have seen a later strong
 *  access of this block. */
void global_shadow_fence(block *);
/** All blocks of the grid have met: what happened comes before what follows. Between the last
 *  arrival and the first block that goes on. */
void global_shadow_grid_sync(launch *);
/** Look for races of an access that is about to happen, and note it. */
void global_shadow_access(warp *, const op *, uint32_t mask);
void global_shadow_forget(device *, uint64_t offset, uint64_t bytes);
void global_shadow_close(device *);

/* collective.c */
typedef enum shuffle_kind {
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_XOR,
    SHUFFLE_INDEX,
} shuffle_kind;
typedef enum vote_kind {
    VOTE_BALLOT,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNIFORM,
} vote_kind;
handler run_shuffle, run_vote, run_match, run_redux, run_active_mask;

/* async.c: copies to shared memory that take effect when they are waited for */
handler run_copy_async, run_copy_commit, run_copy_wait;
/** Forget what is under way: a new block starts. */
void flights_start(block *);
/** All earlier copies of a lane will be waited for at that mbarrier. */
void flights_assign(warp *, uint32_t lane, uint32_t barrier);
/** Whatever that mbarrier waits for takes effect. */
void flights_land(block *, uint32_t barrier);

/* mbarrier.c: barriers that are objects in shared memory */
typedef enum mbarrier_kind {
    MBARRIER_ARRIVE,
    MBARRIER_DROP,
    MBARRIER_COPIES, /**< arrive when the lane's copies are there */
    MBARRIER_TEST,
    MBARRIER_PARITY,
    MBARRIER_INVAL,
} mbarrier_kind;
handler run_mbarrier_init, run_mbarrier, run_mbarrier_count;

/* matrix.c: wmma and mma; fragment.c: wmma's loads and stores, ldmatrix */
handler run_multiply, run_fragment_load, run_fragment_store, run_ldmatrix, run_movmatrix;
typedef struct spot {
    uint32_t outer, inner;
} spot;
/** Which element a lane holds as its `index`-th one; those after it in its register are next to it
 *  along inner. */
spot fragment_spot(const fragment *, uint32_t lane, uint32_t index);
/** Where a matrix lies in memory: `count` rows, or columns. */
typedef struct lines {
    uint64_t base, stride; /**< bytes */
    uint32_t count;
    uint32_t length, bytes; /**< of a line: elements, bytes */
} lines;
lines fragment_lines(const warp *, const op *, const matrix *);
/** Wait for all lanes of the warp. @return false: the path waits. */
bool whole_warp(warp *, const op *);

/* undefined.c: what shuffles read from lanes that do not take part, and loads that nobody wrote */
const op *undefined_read(warp *, const op *, uint32_t mask, const uint8_t source[LANES]);
const op *undefined_load(warp *, const op *);
const op *undefined_step(warp *, const op *);

/* various.c, float.c */
handler run_pack, run_unpack, run_clock, run_local_address, run_is_space, run_param_load,
    run_param_store, run_trap, run_unsupported, run_rounded;

/* syscall.c: functions that the device itself provides */
handler *syscall_find(const char *name);

/* count.c */
handler run_count, run_count_branch, run_count_global, run_count_shared, run_count_local,
    run_count_generic, run_count_async;
/* count_matrix.c */
handler run_count_fragment, run_count_ldmatrix;

/* tally.c */
/** Before and after a launch: what `l->counted` is for. */
void tally_begin(launch *);
void tally_end(launch *);
/** Before a host thread's first block and after its last one. */
void tally_prepare(block *);
void tally_fold(block *);
void tally_close(device *);

/* libm.c: functions of which the host's libm knows the answer */
handler *libm_find(const char *name, const call *);

/* finding.c */
/** What a finding says of an allocation; see device_finding. */
typedef struct neighbour {
    device_relation relation;
    device_address base;
    uint64_t bytes;
} neighbour;
void report(warp *, const op *, device_finding_kind, uint32_t lane, uint64_t address,
            const char *format, ...) __attribute__((format(printf, 6, 7)));
void report_near(warp *, const op *, device_finding_kind, uint32_t lane, uint64_t address,
                 const neighbour *, const char *format, ...) __attribute__((format(printf, 7, 8)));
void report_at(block *, const function *, uint32_t line, device_finding_kind, uint32_t thread,
               uint64_t address, const char *text);
/** Is it more than a warning: does it, or should it, end the launch? */
bool finding_is_fatal(device_finding_kind);
/** Where the thread or block of that number stands in a block or grid of that size. */
void place_in(const uint32_t size[3], uint32_t number, uint32_t xyz[3]);
/** A finding that is no thread's. Between launches. */
void finding_add(device *, const device_finding *);
/** " 33" or " (1,2,0)" */
const char *thread_name(const block *, uint32_t thread, char text[48]);

/* miss.c: the words of a finding for the memory concerned */
const char *access_verb(access_kind);
/** "3 floats past the end of a 400-byte buffer", with the allocation it speaks of. Wants
 * device->allocations. */
neighbour describe_miss(device *, const op *, uint64_t address, char *text, size_t room);
/** "3 floats", "1 byte", "2 elements of 4 bytes" */
void describe_distance(const op *, uint64_t bytes, char *text, size_t room);
/** "a 400-byte buffer", or "the 40-byte variable table" */
neighbour describe_buffer(const device *, uint64_t base, uint64_t bytes, char *text, size_t room);

/* name.c */
void plain_name(const char *mangled, char *text, size_t room);

/* ---- inline helpers of every handler --------------------------------------------------------- */

static inline void *row(const warp *w, operand r)
{
    return w->bank[r >> 30] + (r & 0x3fffffff);
}

/** The lanes in which `o` takes effect. */
static inline uint32_t active(const warp *w, const op *o)
{
    if (__builtin_expect(o->guard == 0, 1)) return w->mask;
    uint32_t guard = *(const uint32_t *)row(w, o->guard);
    return w->mask & (o->guard_negated ? ~guard : guard);
}

/** From one handler to the next: what it returns is returned. The compiler makes it a jump, which
 *  costs less than a return to the loop in path.c; branches do return there. */
static inline const op *go_on(warp *w, const op *o)
{
    return o->run(w, o);
}

static inline bool is_all(uint32_t mask)
{
    return mask == (uint32_t)ALL_LANES;
}

#endif
