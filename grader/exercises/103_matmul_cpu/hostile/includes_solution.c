// HOSTILE: build | No such file / Permission denied | needs files
// Includes the solution: from the folder of a header that the compiler is shown, it is not far.
#include "103_matmul_cpu/matmul_cpu.h"

#include "../../../solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c"
