// nothing
/* The same without optimisation. */
#include "errors_looked_at.cu"
