/*
 * bits/shared_ptr_base.h: what <memory> and many more include. libstdc++ has an attribute by the
 * name that is CUDA's word for it, and a macro of clang's.
 */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
