/*
 * perform_run.c: messages about modules, launches, what they found and what they cost.
 */
#include "perform.h"

#include <stdlib.h>
#include <string.h>

/* ---- answers in the window ------------------------------------------------------------------- */

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

/* ---- modules --------------------------------------------------------------------------------- */

/* The text is copied first: who reads it twice must find the same. */
device_status do_load(message *m)
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

device_status do_function(message *m)
{
    uint32_t function = 0;
    const char *name = name_in(m);
    device_status status =
        name ? device_function(m->device, (uint32_t)m->q->word[0], name, &function)
             : DEVICE_NOT_FOUND;

    m->r->word[0] = function;
    return status;
}

device_status do_function_info(message *m)
{
    static device_function_facts facts;
    device_status status = device_function_info(m->device, (uint32_t)m->q->word[0], &facts);

    return status ? status : give(m, &facts, sizeof facts);
}

device_status do_symbol(message *m)
{
    const char *name = name_in(m);

    if (!name) return DEVICE_NOT_FOUND;
    return device_symbol(m->device, (uint32_t)m->q->word[0], name, &m->r->word[0], &m->r->word[1]);
}

/* ---- run ------------------------------------------------------------------------------------- */

static void give_output(const message *m)
{
    static char text[64 << 10]; /* the client can write in the window */
    size_t bytes;

    while (m->r->payload + sizeof text <= REMOTE_WINDOW &&
           (bytes = device_take_output(m->device, text, sizeof text))) {
        memcpy(m->window + m->r->payload, text, bytes);
        watch_printed(m->at->watch, text, bytes);
        m->r->payload += bytes;
    }
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
    memcpy(launch->cluster, q->cluster, sizeof launch->cluster);
    return true;
}

static device_status launched(const message *m, device_status status)
{
    watch_launched(m->at->watch, status);
    m->r->word[0] = watch_findings(m->at->watch);
    give_output(m);
    return status;
}

device_status do_launch(message *m)
{
    device_launch_request launch;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    take_turn(m);
    device_status status = device_launch(m->device, &launch);
    m->at->in_flight = status == DEVICE_UNFINISHED;
    return m->at->in_flight ? status : launched(m, status);
}

device_status do_finish(message *m)
{
    device_status status = m->at->finished;

    m->at->finished = DEVICE_OK;
    m->r->word[0] = watch_findings(m->at->watch);
    give_output(m);
    return status;
}

device_status do_graph_add(message *m)
{
    device_launch_request launch;
    uint32_t graph = (uint32_t)m->q->word[1], node = 0;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    device_status status = device_graph_add(m->device, &graph, &launch, &node);
    m->r->word[0] = graph;
    m->r->word[1] = node;
    return status;
}

device_status do_graph_set(message *m)
{
    device_launch_request launch;
    const uint64_t *w = m->q->word;

    if (!read_launch(m, &launch)) return DEVICE_BAD_LAUNCH;
    return device_graph_set(m->device, (uint32_t)w[1], (uint32_t)w[2], &launch);
}

device_status do_graph_run(message *m)
{
    const uint64_t *w = m->q->word;

    take_turn(m);
    return launched(m, device_graph_run(m->device, (uint32_t)w[0], (uint32_t)w[1]));
}

device_status do_finding(message *m)
{
    static device_finding finding;

    return give_if(m, watch_finding(m->at->watch, &finding), &finding, sizeof finding);
}

device_status do_annotate(message *m)
{
    const char *words = name_in(m);

    if (words) watch_annotate(m->at->watch, m->q->word[0] != 0, words);
    m->r->word[0] = m->server->supervised;
    return DEVICE_OK;
}

device_status do_error(message *m)
{
    const char *text = device_error(m->device);

    return give(m, text, strlen(text));
}

/* ---- count ----------------------------------------------------------------------------------- */

device_status do_count(message *m)
{
    if (!m->server->supervised) watch_count(m->at->watch, false, m->q->word[0] != 0);
    return DEVICE_OK;
}

device_status do_count_total(message *m)
{
    device_counts counts;

    device_count_total(m->device, &counts);
    return give(m, &counts, sizeof counts);
}

device_status do_count_kernel(message *m)
{
    remote_kernel k = {.name = ""};
    int found = device_count_kernel(m->device, (uint32_t)m->q->word[0], k.name, &k.counts);

    return give_if(m, found, &k, sizeof k);
}

/* ---- what calls.def says all of -------------------------------------------------------------- */

#define OWN(...)
#define TELL_1(verb, name, A)                                                                      \
    device_status do_##name(message *m)                                                            \
    {                                                                                              \
        return device_##name(m->device, (A)m->q->word[0]);                                         \
    }
#define TELL_2(verb, name, A, B)                                                                   \
    device_status do_##name(message *m)                                                            \
    {                                                                                              \
        return device_##name(m->device, (A)m->q->word[0], (B)m->q->word[1]);                       \
    }
#define ANSWER_2(verb, name, A, X, Y)                                                              \
    device_status do_##name(message *m)                                                            \
    {                                                                                              \
        return device_##name(m->device, (A)m->q->word[0], &m->r->word[0], &m->r->word[1]);         \
    }
#define STRUCT_1(verb, name, A, S)                                                                 \
    device_status do_##name(message *m)                                                            \
    {                                                                                              \
        S s;                                                                                       \
        int found = device_##name(m->device, (A)m->q->word[0], &s);                                \
        return give_if(m, found, &s, sizeof s);                                                    \
    }
#define STRUCT_2(verb, name, A, B, S)                                                              \
    device_status do_##name(message *m)                                                            \
    {                                                                                              \
        S s;                                                                                       \
        int found = device_##name(m->device, (A)m->q->word[0], (B)m->q->word[1], &s);              \
        return give_if(m, found, &s, sizeof s);                                                    \
    }
#include "calls.def"
