/* complex.cu: cuComplex.h on both sides. */
#include <cuComplex.h>

#include "check.h"

__global__ void calculate(cuFloatComplex *z)
{
    z[2] = cuCaddf(cuCmulf(z[0], z[1]), make_cuFloatComplex(1, 2));
    z[3] = cuCdivf(z[0], cuConjf(z[1]));
    z[4] = make_cuFloatComplex(cuCabsf(z[1]), cuCrealf(z[0]) - cuCimagf(z[0]));
}

CASE(on_the_device)
{
    cuFloatComplex *z = to_device(std::vector<cuFloatComplex>{{1, 2}, {3, 4}, {}, {}, {}});
    calculate<<<1, 1>>>(z);
    SYNC();
    auto h_z = to_host(z, 5);
    CHECK(h_z[2].x == -4 && h_z[2].y == 12);
    CHECK(fabsf(h_z[3].x + 0.2f) < 1e-6f && fabsf(h_z[3].y - 0.4f) < 1e-6f);
    CHECK(h_z[4].x == 5 && h_z[4].y == -1);
}

CASE(on_the_host)
{
    cuDoubleComplex z = make_cuDoubleComplex(3, 4);
    CHECK(cuCabs(cuCmul(z, z)) == 25);
    CHECK(cuCimag(cuCsub(z, cuConj(z))) == 8);
}
