/*
 * user_object.c: user objects: something of the program's with a destructor and a count of its
 * users. Graphs can be among them, with all their copies.
 */
#include "graph.h"

#include <stdlib.h>

struct CUuserObject_st {
    struct handle handle;
    void *pointer;
    cudaHostFn_t destroy;
    unsigned references;
};

/** What one graph holds. */
struct user_object {
    struct user_object *next;
    cudaUserObject_t object;
    unsigned references;
};

static struct handle *objects;

static void release(cudaUserObject_t object, unsigned count)
{
    object->references -= count;
    if (object->references) return;
    handle_remove(&objects, object);
    runtime_call_back(object->destroy, object->pointer);
    free(object);
}

static bool hold(struct user_object **list, cudaUserObject_t object, unsigned count)
{
    struct user_object *k = malloc(sizeof *k);

    if (!k) return false;
    *k = (struct user_object){*list, object, count};
    *list = k;
    return true;
}

bool user_objects_copy(struct user_object **to, const struct user_object *from)
{
    for (; from; from = from->next) {
        if (!hold(to, from->object, from->references)) return false;
        from->object->references += from->references;
    }
    return true;
}

void user_objects_release(struct user_object **list)
{
    while (*list) {
        struct user_object *k = *list;
        *list = k->next;
        release(k->object, k->references);
        free(k);
    }
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *pointer, cudaHostFn_t destroy,
                                 unsigned int references, unsigned int flags)
{
    if (!object || !destroy || !references || flags != cudaUserObjectNoDestructorSync)
        return error_keep(cudaErrorInvalidValue);
    cudaUserObject_t new_object = malloc(sizeof *new_object);
    if (!new_object) return error_keep(cudaErrorMemoryAllocation);
    *new_object =
        (struct CUuserObject_st){.pointer = pointer, .destroy = destroy, .references = references};
    handle_add(&objects, &new_object->handle);
    *object = new_object;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    cudaError_t error = runtime_enter();

    if (!error && (!count || !handle_lives(&objects, object))) error = cudaErrorInvalidValue;
    if (!error) object->references += count;
    return runtime_leave(error);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    cudaError_t error = runtime_enter();

    if (!error && (!count || !handle_lives(&objects, object) || count > object->references))
        error = cudaErrorInvalidValue;
    if (!error) release(object, count);
    return runtime_leave(error);
}

/** Either a reference of the graph's own, or one that the caller had and gives away. */
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    cudaError_t error = runtime_enter();
    bool moves = flags == cudaGraphUserObjectMove;

    if (!error &&
        (!graph_lives(graph) || !handle_lives(&objects, object) || !count || (flags && !moves)))
        error = cudaErrorInvalidValue;
    if (!error && !hold(&graph->user_objects, object, count)) error = cudaErrorMemoryAllocation;
    if (!error && !moves) object->references += count;
    return runtime_leave(error);
}

static cudaError_t let_go(struct user_object **list, cudaUserObject_t object, unsigned count)
{
    for (; *list; list = &(*list)->next) {
        struct user_object *k = *list;
        if (k->object != object || k->references < count) continue;
        k->references -= count;
        if (!k->references) {
            *list = k->next;
            free(k);
        }
        release(object, count);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    cudaError_t error = runtime_enter();

    if (!error && (!graph_lives(graph) || !handle_lives(&objects, object) || !count))
        error = cudaErrorInvalidValue;
    if (!error) error = let_go(&graph->user_objects, object, count);
    return runtime_leave(error);
}
