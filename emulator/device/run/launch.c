/*
 * launch.c: a grid over the host threads of the pool.
 *
 * Interface
 *   device_launch, launch_now
 *   pool_open, pool_close
 *
 * Host threads are made once and sleep between launches. Blocks are handed out in order
 * (shuffle.c); with one host thread they also run in order. The calling thread takes part, and runs
 * a small grid alone: waking another thread takes longer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/cluster.h"
#include "device/checks/order.h"
#include "device/counts/count.h"
#include "device/trace/trace.h"
#include "run.h"

enum { SMALL = 16 }; /* warps in all blocks of a grid that is not worth waking anybody for */

struct pool {
    device *device;
    uint32_t threads; /* the caller's included */
    pthread_t thread[MAX_WORKERS];
    block *block[MAX_WORKERS];     /* by thread; 0 is the caller's */
    cluster *cluster[MAX_WORKERS]; /* likewise; NULL: none yet */
    block **resident;              /* of launches whose blocks are in flight all at once */
    uint32_t residents;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    launch *job; /* to join in; NULL: nothing */
    uint64_t turn;
    uint32_t busy;
    bool close;
};

typedef struct seat {
    pool *pool;
    uint32_t number;
} seat;

/* ---- blocks ---------------------------------------------------------------------------------- */

static void run_blocks(pool *p, uint32_t thread, launch *l)
{
    block *b = p->block[thread];
    if (l->clusters) {
        cluster_run(&p->cluster[thread], l);
        return;
    }
    if (l->grid) {
        grid_run(p->resident, l);
        return;
    }
    uint64_t number = shuffle_next(l);
    if (number < l->blocks) block_prepare(b, l);
    bool counts = l->counted && number < l->blocks;
    if (counts) counters_prepare(b);
    for (; number < l->blocks && !l->stop; number = shuffle_next(l)) block_run(b, number);
    if (counts) counters_fold(b);
    still_leave(l);
}

static void *work(void *argument)
{
    seat s = *(seat *)argument;
    pool *p = s.pool;
    free(argument);
    uint64_t turn = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->close) {
        if (!p->job || p->turn == turn) {
            pthread_cond_wait(&p->wake, &p->lock);
            continue;
        }
        turn = p->turn;
        launch *l = p->job;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        run_blocks(p, s.number, l);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

pool *pool_open(device *d, uint32_t threads)
{
    pool *p = take(1, sizeof *p);
    p->device = d;
    p->threads = threads < 1 ? 1 : threads > MAX_WORKERS ? MAX_WORKERS : threads;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    p->block[0] = block_open(d);
    for (uint32_t i = 1; i < p->threads; i++) {
        seat *s = take(1, sizeof *s);
        *s = (seat){p, i};
        p->block[i] = block_open(d);
        if (pthread_create(&p->thread[i], NULL, work, s)) {
            free(s);
            block_close(p->block[i]);
            p->threads = i;
        }
    }
    return p;
}

void pool_close(pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->close = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 1; i < p->threads; i++) pthread_join(p->thread[i], NULL);
    for (uint32_t i = 0; i < p->threads; i++) block_close(p->block[i]);
    for (uint32_t i = 0; i < p->threads; i++) cluster_close(p->cluster[i]);
    for (uint32_t i = 0; i < p->residents; i++) block_close(p->resident[i]);
    free(p->resident);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    free(p);
}

static bool worth_waking(const pool *p, const launch *l)
{
    const uint32_t *size = l->request->block;
    uint64_t warps = ((uint64_t)size[0] * size[1] * size[2] + LANES - 1) / LANES;
    return p->threads > 1 && l->blocks > 1 && l->blocks * warps > SMALL;
}

block **pool_seat(pool *p, uint64_t blocks)
{
    if (blocks > p->residents) p->resident = retake(p->resident, blocks * sizeof(block *));
    while (p->residents < blocks) p->resident[p->residents++] = block_open(p->device);
    for (uint64_t i = 0; i < blocks; i++) p->resident[i]->seat = 0;
    return p->resident;
}

void pool_run(pool *p, launch *l)
{
    if (l->grid) pool_seat(p, l->blocks);
    bool wake = worth_waking(p, l);
    l->changes = wake ? p->threads : 1; /* none yet, by so many host threads */
    if (wake) {
        pthread_mutex_lock(&p->lock);
        p->job = l;
        p->turn++;
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
    run_blocks(p, 0, l);
    if (!wake) return;
    pthread_mutex_lock(&p->lock);
    p->job = NULL; /* who has not woken up by now need not */
    while (p->busy) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* ---- device_launch --------------------------------------------------------------------------- */

static bool cooperation_fits(const device_launch_request *r)
{
    uint64_t blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    return !r->cooperative || blocks <= DEVICE_RESIDENT;
}

static bool clusters_fit(const device_launch_request *r)
{
    const uint32_t *size = r->cluster;
    uint64_t blocks = 1;
    if (!size[0]) return true;
    for (uint32_t i = 0; i < 3; i++) {
        if (size[i] < 1 || size[i] > MAX_CLUSTER || r->grid[i] % size[i]) return false;
        blocks *= size[i];
    }
    return blocks <= MAX_CLUSTER && !r->cooperative;
}

/* A kernel that asks may run as if each block were a cluster. */
static void set_clusters(launch *l, const function *f)
{
    const uint32_t *given = l->request->cluster;
    if (!given[0] && !f->asks_cluster) return;
    for (uint32_t i = 0; i < 3; i++) l->cluster[i] = given[0] ? given[i] : 1;
    l->clusters = l->blocks / l->cluster[0] / l->cluster[1] / l->cluster[2];
}

static bool sizes_are_legal(const device_launch_request *r, const function *f)
{
    uint64_t threads = (uint64_t)r->block[0] * r->block[1] * r->block[2];
    uint64_t shared = (uint64_t)f->facts.static_shared_bytes + r->dynamic_shared_bytes;
    return threads >= 1 && threads <= f->facts.max_threads && threads <= MAX_THREADS &&
           r->block[0] <= 1024 && r->block[1] <= 1024 && r->block[2] <= 64 && r->grid[0] >= 1 &&
           r->grid[1] >= 1 && r->grid[2] >= 1 && r->grid[0] <= INT32_MAX && r->grid[1] <= 65535 &&
           r->grid[2] <= 65535 && cooperation_fits(r) && clusters_fit(r) && shared <= MAX_SHARED &&
           r->param_bytes >= f->facts.param_bytes;
}

static device_status refuse_unsupported(device *d, const function *f)
{
    uint32_t line;
    const char *file = module_file(f->module, f->lacking->unsupported_line, &line);
    return fail(d, DEVICE_UNSUPPORTED, "%s:%u: %s uses %s, which softgpu lacks", file, line,
                f->plain_name, f->lacking->unsupported_text);
}

static void report_unsupported(device *d, const function *f, launch *l)
{
    block *b = take(1, sizeof *b);
    b->device = d;
    b->launch = l;
    char text[256];
    snprintf(text, sizeof text, "uses %s, which softgpu lacks", f->lacking->unsupported_text);
    report_at(b, f->lacking, f->lacking->unsupported_line, FINDING_UNSUPPORTED, 0, 0, text);
    free(b);
}

/* The first finding that is no mere warning. */
static const char *why_failed(const device *d, const launch *l)
{
    for (uint32_t i = l->first_finding; i < d->finding_count; i++) {
        const device_finding *f = &d->findings[i].finding;
        if (finding_is_fatal(f->kind)) return f->text;
    }
    return "";
}

void launch_begin(launch *l)
{
    device *d = l->device;
    if (l->grid) meeting_open(l->grid);
    trace_begin(l);
    if ((counters_are_on(d) || l->trace) && module_instrument(l->function->module))
        counters_begin(l);
    watch_prepare(l);
    order_step(d, ENGINE_COMPUTE);
    shuffle_begin(l);
}

device_status launch_over(launch *l)
{
    device *d = l->device;
    shuffle_end(l);
    global_shadow_over(l);
    peers_end(l);
    counters_end(l);
    trace_end(l);
    if (l->grid) meeting_close(l->grid);
    device_status status = (device_status)l->status;
    if (status == DEVICE_OK) return DEVICE_OK;
    return fail(d, status, "%s: %s", l->function->plain_name, why_failed(d, l));
}

device_status device_launch(device *d, const device_launch_request *r)
{
    d->last_graph = 0;
    return launch_now(d, r, false);
}

device_status launch_now(device *d, const device_launch_request *r, bool goes_on)
{
    if (r->function >= d->function_count || !d->functions[r->function]) {
        return fail(d, DEVICE_NOT_FOUND, "no such function");
    }
    const function *f = d->functions[r->function];
    if (!sizes_are_legal(r, f)) {
        return fail(d, DEVICE_BAD_LAUNCH, "%s: grid, block or shared memory outside the limits",
                    f->plain_name);
    }
    _Alignas(64) uint8_t params[MAX_PARAMS + 64];
    if (r->param_bytes > MAX_PARAMS) return fail(d, DEVICE_BAD_LAUNCH, "too many parameters");
    if (r->cooperative && f->asks_cluster)
        return fail(d, DEVICE_UNSUPPORTED, "%s: a cooperative launch of a kernel for clusters",
                    f->plain_name);
    if (r->param_bytes) memcpy(params, r->params, r->param_bytes);
    memset(params + r->param_bytes, 0, 64);
    uint32_t checks = d->options.checks;
    launch l = {
        .device = d,
        .request = r,
        .function = f,
        .params = params,
        .blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2],
        .goes_on = goes_on,
        .check_races = checks & DEVICE_CHECK_RACES,
        .check_uninitialised = checks & DEVICE_CHECK_UNINITIALISED,
        .check_lanes = checks & DEVICE_CHECK_LANES,
        .check_barriers = checks & DEVICE_CHECK_BARRIERS,
        .check_returns = checks & DEVICE_CHECK_RETURNS,
        .early = d->seed != 0,
        .budget = (int64_t)d->options.budget,
        .first_finding = d->finding_count,
    };
    if (f->lacking) {
        report_unsupported(d, f, &l);
        return refuse_unsupported(d, f);
    }
    set_clusters(&l, f);
    grid meeting;
    if (r->cooperative) l.grid = &meeting;
    l.may_wait = !goes_on && !l.clusters && together_may_wait(&l);
    if (l.may_wait) return together_launch(&l);
    launch_begin(&l);
    pool_run(d->pool, &l);
    return launch_over(&l);
}
