/*
 * perform.c: one message, done. Nothing in it is believed: a device that is not open, an end that
 * may not ask this, a name that does not end are answered DEVICE_BAD_ADDRESS; numbers of modules,
 * functions and addresses are checked by the device itself.
 */
#define _GNU_SOURCE
#include "remote.h"

#include <stdlib.h>
#include <string.h>

typedef struct message {
    remote_server *server;
    struct remote_device *at;
    device *device;
    bool supervisor;
    const remote_request *q;
    unsigned char *window;
    remote_reply *r;
} message;

/* ---- what comes and goes in the window ------------------------------------------------------- */

/* @return its own copy of a name, which the other end cannot change any more; NULL: too long */
static const char *name_in(const message *m)
{
    static char name[REMOTE_NAME];

    if (m->q->payload >= sizeof name) return NULL;
    memcpy(name, m->window, m->q->payload);
    name[m->q->payload] = '\0';
    return name;
}

static device_status give(const message *m, const void *data, size_t bytes)
{
    memcpy(m->window, data, bytes);
    m->r->payload = bytes;
    return DEVICE_OK;
}

static device_status give_if(const message *m, int found, const void *data, size_t bytes)
{
    m->r->word[0] = found != 0;
    return found ? give(m, data, bytes) : DEVICE_OK;
}

/* ---- open and close -------------------------------------------------------------------------- */

bool remote_device_open(remote_server *s, uint32_t number, device_options options)
{
    struct remote_device *at = &s->devices[number];

    options.host_memory = s->host_memory;
    at->device = device_open(&options);
    if (!at->device) return false;
    at->watch = watch_open(at->device, s->supervised);
    at->modules = 0;
    return true;
}

static void unshare_all(struct remote_device *at)
{
    while (at->shared_count) {
        device_unshare(at->device, at->shared[--at->shared_count].address);
        watch_share(at->watch, -1);
    }
}

void remote_device_close(remote_server *s, uint32_t number)
{
    struct remote_device *at = &s->devices[number];

    if (!at->device) return;
    device_close(at->device);
    watch_close(at->watch);
    free(at->shared);
    *at = (struct remote_device){.device = NULL};
}

/* A range that no device can have would not fit its reserves. */
static bool may_be(const device_options *o)
{
    const uint64_t unit = UINT64_C(1) << 20, end = DEVICE_OWN_BYTES;

    if (!o->first_byte && !o->range_bytes) return o->threads <= 1024; /* the defaults */
    return o->first_byte % unit == 0 && o->range_bytes % unit == 0 && o->first_byte < end &&
           o->range_bytes >= 2 * unit && o->range_bytes <= end - o->first_byte &&
           o->memory_bytes <= DEVICE_OWN_BYTES && o->threads <= 1024;
}

static device_status do_open(message *m)
{
    device_options options;
    uint32_t number = 0;

    if (m->server->supervised) return m->at->device ? DEVICE_OK : DEVICE_NOT_FOUND;
    if (m->q->payload != sizeof options) return DEVICE_BAD_ADDRESS;
    memcpy(&options, m->window, sizeof options);
    while (number < REMOTE_DEVICES && m->server->devices[number].device) number++;
    if (number == REMOTE_DEVICES || !may_be(&options)) return DEVICE_OUT_OF_MEMORY;
    m->r->device = number;
    return remote_device_open(m->server, number, options) ? DEVICE_OK : DEVICE_OUT_OF_MEMORY;
}

/* The supervisor's device stays; but what the client will share next may lie where this lay. */
static device_status do_close(message *m)
{
    if (m->server->supervised)
        unshare_all(m->at);
    else
        remote_device_close(m->server, m->q->device);
    return DEVICE_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static device_status do_alloc(message *m)
{
    device_status status = device_alloc(m->device, m->q->word[0], &m->r->word[0]);

    if (!status && !m->supervisor) watch_allocated(m->at->watch, m->q->word[0]);
    if (status || !m->supervisor || watch_own(m->at->watch, m->r->word[0])) return status;
    device_free(m->device, m->r->word[0]);
    return DEVICE_OUT_OF_MEMORY;
}

static device_status do_free(message *m)
{
    device_address address = m->q->word[0], base;
    uint64_t bytes = 0;

    if (m->supervisor != watch_owns(m->at->watch, address)) return DEVICE_BAD_ADDRESS;
    if (m->supervisor) watch_disown(m->at->watch, address);
    device_find(m->device, address, &base, &bytes);
    device_status status = device_free(m->device, address);
    if (!status && !m->supervisor) watch_freed(m->at->watch, bytes);
    return status;
}

static device_status do_find(message *m)
{
    return device_find(m->device, m->q->word[0], &m->r->word[0], &m->r->word[1]);
}

static device_status do_memory(message *m)
{
    device_memory(m->device, &m->r->word[0], &m->r->word[1]);
    return DEVICE_OK;
}

static void take_turn(const message *m)
{
    watch_turn(m->at->watch, m->supervisor, m->q);
}

static device_status transferred(const message *m, device_status status)
{
    if (!status && !m->supervisor) watch_transfer(m->at->watch, m->q);
    m->r->word[0] = watch_findings(m->at->watch);
    return status;
}

static device_status do_write(message *m)
{
    take_turn(m);
    return transferred(m, device_write(m->device, m->q->word[0], m->window, m->q->payload));
}

static device_status do_read(message *m)
{
    uint64_t bytes = m->q->word[1];

    if (bytes > REMOTE_WINDOW) return DEVICE_BAD_ADDRESS;
    take_turn(m);
    device_status status = device_read(m->device, m->window, m->q->word[0], bytes);
    m->r->payload = status ? 0 : bytes;
    return transferred(m, status);
}

static device_status do_copy(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return transferred(m, device_copy(m->device, w[0], w[1], w[2]));
}

static device_status do_fill(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return transferred(m, device_fill(m->device, w[0], (uint32_t)w[1], m->q->small, w[2]));
}

static device_status do_forget(message *m)
{
    return device_forget(m->device, m->q->word[0], m->q->word[1]);
}

/* ---- memory of the host's -------------------------------------------------------------------- */

/* The device wants ranges that do not overlap, and believes that they do not. */
static bool may_share(const struct remote_device *at, device_address address, uint64_t bytes)
{
    const uint64_t offset = address - DEVICE_BASE;

    if (!bytes || offset < DEVICE_OWN_BYTES || offset >= DEVICE_BYTES) return false;
    if (bytes > DEVICE_BYTES - offset || at->shared_count == REMOTE_SHARED) return false;
    for (uint32_t i = 0; i < at->shared_count; i++) {
        const struct remote_range *r = &at->shared[i];
        if (address < r->address + r->bytes && r->address < address + bytes) return false;
    }
    return true;
}

static device_status do_share(message *m)
{
    struct remote_device *at = m->at;
    struct remote_range *more;

    if (!m->server->host_memory || !may_share(at, m->q->word[0], m->q->word[1]))
        return DEVICE_BAD_ADDRESS;
    more = realloc(at->shared, (at->shared_count + 1) * sizeof *more);
    if (!more) return DEVICE_OUT_OF_MEMORY;
    at->shared = more;
    at->shared[at->shared_count++] = (struct remote_range){m->q->word[0], m->q->word[1]};
    watch_share(at->watch, 1);
    return device_share(m->device, m->q->word[0], m->q->word[1]);
}

static device_status do_unshare(message *m)
{
    struct remote_device *at = m->at;

    for (uint32_t i = 0; i < at->shared_count; i++) {
        if (at->shared[i].address != m->q->word[0]) continue;
        at->shared[i] = at->shared[--at->shared_count];
        watch_share(at->watch, -1);
        return device_unshare(m->device, m->q->word[0]);
    }
    return DEVICE_BAD_ADDRESS;
}

static device_status do_place(message *m)
{
    const char *name = name_in(m);

    if (!name) return DEVICE_BAD_ADDRESS;
    device_place(m->device, name, m->q->word[0], m->q->word[1] != 0);
    return DEVICE_OK;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* The text is copied first: who reads it twice must find the same. */
static device_status do_load(message *m)
{
    uint32_t module = 0;
    char *text = m->at->modules < REMOTE_MODULES ? malloc(m->q->payload + 1) : NULL;

    if (!text) return DEVICE_OUT_OF_MEMORY;
    memcpy(text, m->window, m->q->payload);
    device_status status = device_load(m->device, text, m->q->payload, &module);
    free(text);
    m->at->modules++;
    m->r->word[0] = module;
    return status;
}

static device_status do_unload(message *m)
{
    return device_unload(m->device, (uint32_t)m->q->word[0]);
}

static device_status do_function(message *m)
{
    uint32_t function = 0;
    const char *name = name_in(m);
    device_status status =
        name ? device_function(m->device, (uint32_t)m->q->word[0], name, &function)
             : DEVICE_NOT_FOUND;

    m->r->word[0] = function;
    return status;
}

static device_status do_function_info(message *m)
{
    static device_function_facts facts;
    device_status status = device_function_info(m->device, (uint32_t)m->q->word[0], &facts);

    return status ? status : give(m, &facts, sizeof facts);
}

static device_status do_symbol(message *m)
{
    const char *name = name_in(m);

    if (!name) return DEVICE_NOT_FOUND;
    return device_symbol(m->device, (uint32_t)m->q->word[0], name, &m->r->word[0], &m->r->word[1]);
}

/* ---- run ------------------------------------------------------------------------------------- */

static void give_output(const message *m)
{
    size_t bytes;

    while (m->r->payload < REMOTE_WINDOW &&
           (bytes = device_take_output(m->device, (char *)m->window + m->r->payload,
                                       REMOTE_WINDOW - m->r->payload)))
        m->r->payload += bytes;
}

/* @return false: no kernel has so many parameters */
static bool read_launch(const message *m, device_launch_request *launch)
{
    static unsigned char params[32 << 10];
    const remote_request *q = m->q;

    if (q->payload > sizeof params) return false;
    memcpy(params, m->window, q->payload);
    *launch = (device_launch_request){.function = (uint32_t)q->word[0],
                                      .dynamic_shared_bytes = q->dynamic_shared_bytes,
                                      .params = params,
                                      .param_bytes = (uint32_t)q->payload,
                                      .cooperative = q->cooperative};
    memcpy(launch->grid, q->grid, sizeof launch->grid);
    memcpy(launch->block, q->block, sizeof launch->block);
    return true;
}

static device_status launched(const message *m, device_status status)
{
    watch_launched(m->at->watch, status);
    m->r->word[0] = watch_findings(m->at->watch);
    give_output(m);
    watch_printed(m->at->watch, m->r->payload);
    return status;
}

static device_status do_launch(message *m)
{
    device_launch_request launch;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    take_turn(m);
    return launched(m, device_launch(m->device, &launch));
}

static device_status do_graph_add(message *m)
{
    device_launch_request launch;
    uint32_t graph = (uint32_t)m->q->word[1], node = 0;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    device_status status = device_graph_add(m->device, &graph, &launch, &node);
    m->r->word[0] = graph;
    m->r->word[1] = node;
    return status;
}

static device_status do_graph_set(message *m)
{
    device_launch_request launch;
    const uint64_t *w = m->q->word;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    return device_graph_set(m->device, (uint32_t)w[1], (uint32_t)w[2], &launch);
}

static device_status do_graph_run(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return launched(m, device_graph_run(m->device, (uint32_t)w[0], (uint32_t)w[1]));
}

static device_status do_graph_free(message *m)
{
    return device_graph_free(m->device, (uint32_t)m->q->word[0]);
}

static device_status do_finding(message *m)
{
    static device_finding finding;

    return give_if(m, watch_finding(m->at->watch, &finding), &finding, sizeof finding);
}

static device_status do_annotate(message *m)
{
    const char *words = name_in(m);

    if (words) watch_annotate(m->at->watch, m->q->word[0] != 0, words);
    m->r->word[0] = m->server->supervised;
    return DEVICE_OK;
}

static device_status do_error(message *m)
{
    const char *text = device_error(m->device);

    return give(m, text, strlen(text));
}

/* ---- count ----------------------------------------------------------------------------------- */

static device_status do_count(message *m)
{
    if (!m->server->supervised) watch_count(m->at->watch, false, m->q->word[0] != 0);
    return DEVICE_OK;
}

static device_status do_count_total(message *m)
{
    device_counts counts;

    device_count_total(m->device, &counts);
    return give(m, &counts, sizeof counts);
}

static device_status do_count_kernel(message *m)
{
    remote_kernel k = {.name = ""};
    int found = device_count_kernel(m->device, (uint32_t)m->q->word[0], k.name, &k.counts);

    return give_if(m, found, &k, sizeof k);
}

static device_status do_count_site(message *m)
{
    device_site site;
    const uint64_t *w = m->q->word;
    int found = device_count_site(m->device, (uint32_t)w[0], (uint32_t)w[1], &site);

    return give_if(m, found, &site, sizeof site);
}

static device_status do_count_launch(message *m)
{
    device_counted_launch launch;
    int found = device_count_launch(m->device, (uint32_t)m->q->word[0], &launch);

    return give_if(m, found, &launch, sizeof launch);
}

/* ---- of a supervisor ------------------------------------------------------------------------- */

static device_status do_call_it(message *m)
{
    const char *name = name_in(m);

    if (name) watch_name(m->at->watch, m->q->word[0], name);
    return DEVICE_OK;
}

static device_status do_listen(message *m)
{
    watch_listen(m->at->watch, m->q->word[0] != 0);
    m->server->listening = true;
    return DEVICE_OK;
}

static device_status do_listen_off(message *m)
{
    static remote_account account;

    m->server->listening = false;
    watch_account(m->at->watch, &account);
    return give(m, &account, sizeof account);
}

static device_status (*const verbs[REMOTE_VERBS])(message *) = {
    [REMOTE_OPEN] = do_open,
    [REMOTE_CLOSE] = do_close,
    [REMOTE_ALLOC] = do_alloc,
    [REMOTE_FREE] = do_free,
    [REMOTE_FIND] = do_find,
    [REMOTE_MEMORY] = do_memory,
    [REMOTE_WRITE] = do_write,
    [REMOTE_READ] = do_read,
    [REMOTE_COPY] = do_copy,
    [REMOTE_FILL] = do_fill,
    [REMOTE_FORGET] = do_forget,
    [REMOTE_SHARE] = do_share,
    [REMOTE_UNSHARE] = do_unshare,
    [REMOTE_PLACE] = do_place,
    [REMOTE_LOAD] = do_load,
    [REMOTE_UNLOAD] = do_unload,
    [REMOTE_FUNCTION] = do_function,
    [REMOTE_FUNCTION_INFO] = do_function_info,
    [REMOTE_SYMBOL] = do_symbol,
    [REMOTE_LAUNCH] = do_launch,
    [REMOTE_GRAPH_ADD] = do_graph_add,
    [REMOTE_GRAPH_SET] = do_graph_set,
    [REMOTE_GRAPH_RUN] = do_graph_run,
    [REMOTE_GRAPH_FREE] = do_graph_free,
    [REMOTE_FINDING] = do_finding,
    [REMOTE_ANNOTATE] = do_annotate,
    [REMOTE_ERROR] = do_error,
    [REMOTE_COUNT] = do_count,
    [REMOTE_COUNT_TOTAL] = do_count_total,
    [REMOTE_COUNT_KERNEL] = do_count_kernel,
    [REMOTE_COUNT_SITE] = do_count_site,
    [REMOTE_COUNT_LAUNCH] = do_count_launch,
    [REMOTE_CALL_IT] = do_call_it,
    [REMOTE_LISTEN] = do_listen,
    [REMOTE_LISTEN_OFF] = do_listen_off,
};

bool remote_perform(remote_server *s, bool supervisor, const remote_request *q,
                    unsigned char *window, remote_reply *r)
{
    *r = (remote_reply){.status = DEVICE_OK, .device = q->device};
    if (q->verb >= REMOTE_VERBS || !verbs[q->verb]) return false;
    if (q->payload > REMOTE_WINDOW || q->device >= REMOTE_DEVICES) return false;
    if (q->verb >= REMOTE_CALL_IT && !supervisor) return false;
    struct remote_device *at = &s->devices[q->device];
    message m = {s, at, at->device, supervisor, q, window, r};
    if (!at->device && q->verb != REMOTE_OPEN)
        r->status = DEVICE_BAD_ADDRESS;
    else
        r->status = (int32_t)verbs[q->verb](&m);
    return true;
}
