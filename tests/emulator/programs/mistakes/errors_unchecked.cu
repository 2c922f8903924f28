// prints: done
// finds: unchecked error
#include <stdio.h>
__global__ void nothing()
{
}
int main()
{
    nothing<<<1, 2048>>>();
    puts("done");
    return 0;
}
