/*
 * fuzz_reply.c: any bytes as what a hostile worker answers. Its replies to the three messages of a
 * call lie in the socket before they are asked for. The input begins with their lengths, so that
 * short, long and missing ones occur. The call ends well or with words, and whatever these are,
 * they fit into results.json.
 */
#include "call/worker_process.c" /* a worker without a process, which no function makes */

#include "fuzz.h"
#include "verdict/verdict.h"

enum { SWITCHES = 8, MESSAGES = 3, HEADER = 5 };

/* Of a message: how long it is, how much of it is given, and what fills its texts otherwise. */
static size_t make_reply(wire_reply reply[2], const uint8_t *data, size_t bytes, size_t *length)
{
    size_t given = data[2] | (size_t)data[3] << 8;
    *length = data[0] | (size_t)data[1] << 8;
    memset(reply, 0, 2 * sizeof *reply);
    memset(reply->findings, data[4], sizeof reply->findings);
    memset(reply->text, data[4], sizeof reply->text);
    if (given > bytes - HEADER) given = bytes - HEADER;
    if (given > sizeof *reply) given = sizeof *reply;
    memcpy(reply, data + HEADER, given);
    if (*length > 2 * sizeof *reply) *length = sizeof *reply; /* most have the right length */
    return HEADER + given;
}

static void answer(int socket, const uint8_t *data, size_t bytes)
{
    for (int i = 0; i < MESSAGES && bytes >= HEADER; i++) {
        wire_reply reply[2];
        size_t length;
        const size_t used = make_reply(reply, data, bytes, &length);
        send(socket, reply, length, MSG_NOSIGNAL);
        data += used;
        bytes -= used;
    }
}

/* @param peer receives the worker's end of the socket */
static worker *hostile_worker(const uint8_t *data, size_t bytes, int *peer)
{
    int sockets[2], pipes[2];
    worker *w = calloc(1, sizeof *w);
    w->output = calloc(1, OUTPUT_KEPT + 1);
    if (!open_channel(w, sockets, pipes)) abort();
    answer(sockets[1], data, bytes);
    shutdown(sockets[1], SHUT_WR); /* nobody waits for what does not come */
    close(pipes[1]);
    *peer = sockets[1];
    return w;
}

static void call(const char *function, const long *shape)
{
    float in[8] = {1}, out[8];
    (void)shape;
    call_cuda(function, ARGS(out_f32("out", out, 8), in_f32("in", in, 8), i32(8)));
}

static void write_down(const exercise *e, char *message, case_state *s)
{
    case_result one = {.name = "case",
                       .message = message ? message : "",
                       .found = s->found,
                       .found_count = s->found_count};
    exercise_result r = {.exercise = e, .case_count = 1, .cases = &one, .prerequisites = ""};
    json_t *entry = results_exercise(&r);
    if (!entry) abort();
    json_decref(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const place places[] = {ON_HOST, ON_SOFTGPU, ON_GPU};
    const unsigned switches = bytes > 0 ? data[0] : 0;
    const options o = {.slow = switches & 1};
    int peer;
    if (bytes == 0) return 0;
    case_state s = case_begin(&o, catalog()[0], places[switches / SWITCHES % 3], NULL);
    s.request.timed = switches & 2;
    s.request.counted = switches & 4;
    s.request.deadline = 1.0;
    s.worker = hostile_worker(data + 1, bytes - 1, &peer);
    char *message = run_guarded(&s, call, "call", NULL);
    write_down(s.exercise, message, &s);
    case_drop_worker(&s);
    close(peer);
    free(case_take_found(&s));
    free(message);
    return 0;
}
