/* functions.c: the functions of the exercises' worker.c, collected by the linker (WORKER_FUNCTION).
 */
#include "worker.h"

#include <string.h>

extern const worker_function *const __start_worker_functions[], *const __stop_worker_functions[];

void (*worker_function_find(const char *name))(void)
{
    for (const worker_function *const *f = __start_worker_functions; f < __stop_worker_functions;
         f++) {
        if (strcmp((*f)->name, name) != 0) continue;
        if ((*f)->prepare) (*f)->prepare();
        return (*f)->function;
    }
    return NULL;
}
