/*
 * here.c: libsoftgpu.so has its devices in the program's own process; remote/start.c is what stands
 * here in the other library.
 */
#include "softgpu.h"

int softgpu_attach(int socket)
{
    (void)socket;
    return 0;
}
