/*
 * python.c: the student's code as a file of Python. The worker is then a library that the
 * interpreter loads: python_driver.py gives it three functions and, in them, asks for the arguments
 * of the call and says what came of it. Nothing of Python is needed to compile this.
 */
#ifdef WITH_PYTHON
#include "worker.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv);

static int (*load)(const char *path);
static int (*has)(const char *function);
static void (*run)(const char *function);

static const wire_call *call;
static void **pointers;
static wire_reply *reply;
static char words[sizeof reply->text];

/* ---- the driver asks and answers ------------------------------------------------------------- */

int python_worker(int (*l)(const char *), int (*h)(const char *), void (*r)(const char *),
                  char *path, char *guard)
{
    char *argv[] = {"worker", path, guard, NULL};
    load = l, has = h, run = r;
    return main(3, argv);
}

int argument_count(void)
{
    return (int)call->count;
}

/* "array", "integer", "real", "text", "same", "none"; or "" for what Python cannot be given. */
const char *argument_kind(int i)
{
    switch (call->arguments[i].kind) {
    case WIRE_BUFFER: return "array";
    case WIRE_ALIAS: return "same";
    case WIRE_I32:
    case WIRE_U64: return "integer";
    case WIRE_F32:
    case WIRE_F64: return "real";
    case WIRE_FILE: return "text";
    case WIRE_NULL: return "none";
    default: return "";
    }
}

void *argument_pointer(int i)
{
    return pointers[i];
}

const char *argument_type(int i)
{
    return call->arguments[i].numpy;
}

uint64_t argument_bytes(int i)
{
    return call->arguments[i].bytes;
}

int64_t argument_integer(int i)
{
    return call->arguments[i].value.i;
}

double argument_real(int i)
{
    return call->arguments[i].value.f;
}

/* What the call is to return: "integer", "real" or "none". */
const char *wanted(void)
{
    switch (call->returns) {
    case WIRE_RETURN_VOID: return "none";
    case WIRE_RETURN_F32:
    case WIRE_RETURN_F64: return "real";
    default: return "integer";
    }
}

void return_integer(int64_t value)
{
    reply->returned.i = value;
}

void return_real(double value)
{
    reply->returned.f = value;
}

/* The call is through. Until then it is an exception, whatever may interrupt who would say so. */
void finish(void)
{
    reply->status = WIRE_OK;
}

void say(const char *text, int is_stub)
{
    snprintf(words, sizeof words, "%s", text);
    if (reply) reply->status = is_stub ? WIRE_NOT_IMPLEMENTED : WIRE_EXCEPTION;
}

/* ---- the worker asks ------------------------------------------------------------------------- */

const char *code_load(const char *path)
{
    return load(path) ? NULL : words;
}

void (*code_function(const char *name))(void)
{
    (void)name; /* Python's are none of C's */
    return NULL;
}

bool code_has(const char *function)
{
    return has(function);
}

void code_call(const wire_call *given, void *given_pointers[], wire_reply *given_reply)
{
    call = given, pointers = given_pointers, reply = given_reply;
    say("an exception, or an exit, without a message", 0);
    run(call->function);
    if (reply->status != WIRE_OK) snprintf(reply->text, sizeof reply->text, "%s", words);
    reply = NULL;
}
#endif
