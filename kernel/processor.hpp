// Which instruction sets this processor has, and the operating system keeps the registers of. By
// CPUID itself: `__builtin_cpu_supports` needs a library that some Clangs come without.
#pragma once

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dynascope {

#if defined(__x86_64__)
/// Registers of which the operating system keeps the whole (XCR0), as bits; 0 if it tells nothing.
inline uint64_t kept_registers() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

inline bool processor_runs(const std::string& isa) {
  constexpr uint64_t YMM = 0x06, ZMM = 0xe6;  // with all below: SSE; opmask and both halves of ZMM
  constexpr uint32_t AVX512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
  uint32_t a = 0, features = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &features, &c, &d)) features = 0;
  const uint64_t kept = kept_registers();
  const bool avx2 = (features & bit_AVX2) && (kept & YMM) == YMM;
  if (isa == "avx2") return avx2;
  if (isa == "avx512") return avx2 && (features & AVX512) == AVX512 && (kept & ZMM) == ZMM;
  return true;  // what every processor of this kind has
}
#else
inline bool processor_runs(const std::string&) { return true; }
#endif

}  // namespace dynascope
