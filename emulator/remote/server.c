/*
 * server.c: the process of the device at work: it answers requests, one at a time. It ends when its
 * supervisor is gone, or without one its client.
 */
#define _GNU_SOURCE
#include "server.h"

/* One message, which is read once. @return false: that was none */
static bool answer(remote_server *s, remote_link *link)
{
    const remote_request request = link->head->request;
    remote_reply reply;

    s->last = link;
    if (!remote_perform(s, link == &s->supervisor, &request, link->window, &reply)) return false;
    remote_answer(link, &reply);
    return true;
}

/* An end that counts wrongly, or sends what is no message, is not worth listening to. */
static bool serve_one(remote_server *s, remote_link *link)
{
    const uint32_t ahead = link->head ? link->head->asked - link->count : 0;

    if (!ahead) return true;
    if (ahead == 1 && answer(s, link)) return true;
    remote_link_close(link);
    return false;
}

static bool is_served(const remote_server *s)
{
    return s->supervised ? s->supervisor.head != NULL : s->client.head != NULL;
}

bool remote_serve(remote_server *s)
{
    remote_link *links[] = {s->supervised ? &s->supervisor : &s->client, &s->client};
    const int count = s->supervised ? 2 : 1;
    bool clean = true;

    while (is_served(s)) {
        remote_wait(links, s->supervised && s->listening ? 2 : 1, count, s->last);
        if (s->supervised) clean &= serve_one(s, &s->supervisor);
        if (s->listening) clean &= serve_one(s, &s->client);
    }
    return clean;
}
