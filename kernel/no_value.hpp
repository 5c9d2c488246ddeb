// What stands where there is no value: one NaN, the same on every machine.
//
// NaN has many bit patterns, and hardware differs in which one it makes: that of 0/0 is negative on
// x86 and positive on ARM. Whatever leaves the kernel goes through `fixed_nan`.
#pragma once

#include <cstdint>

#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template <class T> constexpr T no_value() { return T(__builtin_nan("")); }

template <class T> inline T fixed_nan(T x) { return x == x ? x : no_value<T>(); }

template <class T> inline void fix_nans(T* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = fixed_nan(numbers[i]);
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
