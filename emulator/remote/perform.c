/*
 * perform.c: one message, done. Everything in it is checked: a device that is not open, an end that
 * may not ask this, a name that does not end are answered DEVICE_BAD_ADDRESS; numbers of modules,
 * functions and addresses are checked by the device itself.
 */
#define _GNU_SOURCE
#include "perform.h"

#include <stdlib.h>
#include <string.h>

const char *name_in(const message *m)
{
    static char name[REMOTE_NAME];

    if (m->q->payload >= sizeof name) return NULL;
    memcpy(name, m->window, m->q->payload);
    name[m->q->payload] = '\0';
    return name;
}

void take_turn(const message *m)
{
    watch_turn(m->at->watch, m->supervisor, m->q);
}

/* ---- open and close -------------------------------------------------------------------------- */

bool remote_device_open(remote_server *s, uint32_t number, device_options options)
{
    struct remote_device *at = &s->devices[number];

    options.host_memory = s->host_memory;
    at->device = device_open(&options);
    if (!at->device) return false;
    at->watch = watch_open(at->device, s->supervised);
    at->first_byte = options.first_byte;
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
    at->in_flight = false;
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

/* Under a supervisor it is there already. */
static device_status find_device(message *m, uint64_t first_byte)
{
    const struct remote_device *devices = m->server->devices;
    uint32_t number = 0;

    while (number < REMOTE_DEVICES &&
           !(devices[number].device && devices[number].first_byte == first_byte))
        number++;
    m->r->device = number;
    return number < REMOTE_DEVICES ? DEVICE_OK : DEVICE_NOT_FOUND;
}

device_status do_open(message *m)
{
    device_options options;
    uint32_t number = 0;

    if (m->q->payload != sizeof options) return DEVICE_BAD_ADDRESS;
    memcpy(&options, m->window, sizeof options);
    if (m->server->supervised) return find_device(m, options.first_byte);
    while (number < REMOTE_DEVICES && m->server->devices[number].device) number++;
    if (number == REMOTE_DEVICES || !may_be(&options)) return DEVICE_OUT_OF_MEMORY;
    m->r->device = number;
    return remote_device_open(m->server, number, options) ? DEVICE_OK : DEVICE_OUT_OF_MEMORY;
}

/* The supervisor's device stays; but what the client will share next may lie where this lay. */
device_status do_close(message *m)
{
    if (m->server->supervised)
        unshare_all(m->at);
    else
        remote_device_close(m->server, m->q->device);
    return DEVICE_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

device_status do_alloc(message *m)
{
    device_status status = m->supervisor ? device_lend(m->device, m->q->word[0], &m->r->word[0])
                                         : device_alloc(m->device, m->q->word[0], &m->r->word[0]);

    if (!status && !m->supervisor) watch_allocated(m->at->watch, m->q->word[0]);
    if (status || !m->supervisor || watch_own(m->at->watch, m->r->word[0])) return status;
    device_free(m->device, m->r->word[0]);
    return DEVICE_OUT_OF_MEMORY;
}

device_status do_free(message *m)
{
    device_address address = m->q->word[0], base;
    uint64_t bytes = 0;

    if (m->supervisor != watch_owns(m->at->watch, address)) return DEVICE_BAD_ADDRESS;
    if (m->supervisor) watch_disown(m->at->watch, address);
    device_find(m->device, address, &base, &bytes);
    const bool unused = m->supervisor && m->q->word[1];
    device_status status = (unused ? device_free_unused : device_free)(m->device, address);
    if (!status && !m->supervisor) watch_freed(m->at->watch, bytes);
    return status;
}

device_status do_memory(message *m)
{
    device_memory(m->device, &m->r->word[0], &m->r->word[1]);
    return DEVICE_OK;
}

static device_status transferred(const message *m, device_status status)
{
    if (!status && !m->supervisor) watch_transfer(m->at->watch, m->q);
    m->r->word[0] = watch_findings(m->at->watch);
    return status;
}

device_status do_write(message *m)
{
    take_turn(m);
    return transferred(m, device_write(m->device, m->q->word[0], m->window, m->q->payload));
}

device_status do_read(message *m)
{
    uint64_t bytes = m->q->word[1];

    if (bytes > REMOTE_WINDOW) return DEVICE_BAD_ADDRESS;
    take_turn(m);
    device_status status = device_read(m->device, m->window, m->q->word[0], bytes);
    m->r->payload = status ? 0 : bytes;
    return transferred(m, status);
}

device_status do_copy(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return transferred(m, device_copy(m->device, w[0], w[1], w[2]));
}

/* It is the turn of that work on both. */
device_status do_copy_peer(message *m)
{
    const uint64_t *w = m->q->word;
    const struct remote_device *source = &m->server->devices[m->q->small % REMOTE_DEVICES];

    if (!source->device || source == m->at) return DEVICE_BAD_ADDRESS;
    take_turn(m);
    watch_turn(source->watch, m->supervisor, m->q);
    device_status status = device_copy_peer(m->device, w[0], source->device, w[1], w[2]);
    watch_findings(source->watch);
    return transferred(m, status);
}

device_status do_peer(message *m)
{
    const struct remote_device *peer = &m->server->devices[m->q->small % REMOTE_DEVICES];

    if (!peer->device || peer == m->at) return DEVICE_BAD_ADDRESS;
    return device_peer(m->device, peer->device, m->q->word[0] != 0);
}

device_status do_fill(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return transferred(m, device_fill(m->device, w[0], (uint32_t)w[1], m->q->small, w[2]));
}

device_status do_touch(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    device_status status = device_touch(m->device, w[0], w[1], (device_use)w[2]);
    m->r->word[0] = watch_findings(m->at->watch);
    return status;
}

device_status do_texture_add(message *m)
{
    device_texture texture;

    if (m->q->payload != sizeof texture) return DEVICE_BAD_ADDRESS;
    memcpy(&texture, m->window, sizeof texture);
    return device_texture_add(m->device, &texture, &m->r->word[0]);
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

device_status do_share(message *m)
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

device_status do_unshare(message *m)
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

device_status do_place(message *m)
{
    const char *name = name_in(m);

    if (!name) return DEVICE_BAD_ADDRESS;
    device_place(m->device, name, m->q->word[0], m->q->word[1] != 0);
    return DEVICE_OK;
}

/* ---- of a supervisor ------------------------------------------------------------------------- */

device_status do_call_it(message *m)
{
    const char *name = name_in(m);

    if (name) watch_name(m->at->watch, m->q->word[0], name);
    return DEVICE_OK;
}

/* To all that the client does, on whatever device. */
device_status do_listen(message *m)
{
    for (uint32_t i = 0; i < REMOTE_DEVICES; i++) {
        struct remote_device *at = &m->server->devices[i];
        if (!at->device) continue;
        device_shuffle(at->device, m->q->word[1]);
        watch_listen(at->watch, m->q->word[0] != 0);
    }
    m->server->listening = true;
    return DEVICE_OK;
}

device_status do_listen_off(message *m)
{
    static remote_account account;

    m->server->listening = false;
    memset(&account, 0, sizeof account);
    for (uint32_t i = 0; i < REMOTE_DEVICES; i++)
        if (m->server->devices[i].device) watch_account(m->server->devices[i].watch, &account);
    memcpy(m->window, &account, sizeof account);
    m->r->payload = sizeof account + watch_text(m->at->watch, m->window + sizeof account);
    return DEVICE_OK;
}

static perform *const verbs[REMOTE_VERBS] = {
#define OWN(verb, name) [REMOTE_##verb] = do_##name,
#include "calls.def"
};

/* What may come while launches of other devices are in flight: a launch, what it needs, and what
 * one has left. */
static bool is_of_a_launch(const remote_request *q)
{
    switch (q->verb) {
    case REMOTE_LAUNCH:
    case REMOTE_LOAD:
    case REMOTE_PLACE:
    case REMOTE_FUNCTION:
    case REMOTE_FUNCTION_INFO:
    case REMOTE_FINISH:
    case REMOTE_FIND:
    case REMOTE_FINDING:
    case REMOTE_ANNOTATE: return true;
    default: return false;
    }
}

/* Whatever the client asks or leaves out: a launch in flight ends before anything else happens. */
static void finish(struct remote_device *at)
{
    if (!at->in_flight) return;
    at->in_flight = false;
    at->finished = device_finish(at->device);
    watch_launched(at->watch, at->finished);
    watch_findings(at->watch);
}

bool remote_perform(remote_server *s, bool supervisor, const remote_request *q,
                    unsigned char *window, remote_reply *r)
{
    *r = (remote_reply){.status = DEVICE_OK, .device = q->device};
    if (q->verb >= REMOTE_VERBS || !verbs[q->verb]) return false;
    if (q->payload > REMOTE_WINDOW || q->device >= REMOTE_DEVICES) return false;
    if (q->verb >= REMOTE_CALL_IT && !supervisor) return false;
    struct remote_device *at = &s->devices[q->device];
    finish(at);
    for (uint32_t i = 0; i < REMOTE_DEVICES && !is_of_a_launch(q); i++) finish(&s->devices[i]);
    message m = {s, at, at->device, supervisor, q, window, r};
    if (!at->device && q->verb != REMOTE_OPEN)
        r->status = DEVICE_BAD_ADDRESS;
    else
        r->status = (int32_t)verbs[q->verb](&m);
    return true;
}
