/*
 * here.c: libsoftgpu.so has its devices in the program's own process; in the other library
 * remote/start.c is in its place.
 */
#include "softgpu.h"

int softgpu_attach(int socket)
{
    (void)socket;
    return 0;
}
