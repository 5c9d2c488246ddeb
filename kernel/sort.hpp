// Sorting in place, ours because the library's templates must not be instantiated here: of a
// template compiled for several instruction sets the linker keeps one, for any of them (lanes.hpp);
// and WebAssembly would need the C++ library for it alone.
#pragma once

#include <cstdint>

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Heapsort: n log n steps whatever the order, no memory, no recursion.
template <class T> inline void sort_rising(T* values, int64_t count) {
  const auto sink = [values](int64_t at, int64_t end) {
    const T value = values[at];
    for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && values[child] < values[child + 1]) ++child;
      if (!(value < values[child])) break;
      values[at] = values[child];
      at = child;
    }
    values[at] = value;
  };
  for (int64_t at = count / 2; at-- > 0;) sink(at, count);
  for (int64_t end = count; end-- > 1;) {
    const T largest = values[0];
    values[0] = values[end];
    values[end] = largest;
    sink(0, end);
  }
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
