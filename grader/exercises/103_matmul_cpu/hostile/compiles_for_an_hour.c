// HOSTILE: build | took longer than / killed / CPU time / out of memory | hangs
// Includes itself twice, 26 levels deep: 67 million files for the compiler.
#if __INCLUDE_LEVEL__ < 26
#include __FILE__
#include __FILE__
#endif
