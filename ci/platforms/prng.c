/* bcryptprimitives.dll as far as the standard library of Rust needs it, for a wine that does not have it. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    while (length > 0) {
        ULONG some = length > 1u << 30 ? 1u << 30 : (ULONG)length;
        if (!RtlGenRandom(data, some))
            return FALSE;
        data += some;
        length -= some;
    }
    return TRUE;
}
