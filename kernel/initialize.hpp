// Initial weights as PyTorch draws them: N(0, 1), or U(-1/sqrt(fan_in), 1/sqrt(fan_in)); the table
// says which (catalog.hpp).
#pragma once

#include <cstdint>

#include "layout.hpp"
#include "math.hpp"
#include "random.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

inline double initial_weight(Words& words, int parameter, uint32_t column, const Shape& s) {
  const Start start = PARAMETER_ROWS[parameter].start;
  if (start == Start::NORMAL) {
    // Box and Muller; 1 - u is never 0.
    const double size =
        first_lane<double>(logarithm<double>(broadcast(1.0 - words.uniform(column, 0))));
    return __builtin_sqrt(-2.0 * size) * cosine_of_turn(words.uniform(column, 1));
  }
  const int64_t fan_in = start == Start::BY_HIDDEN ? s.hidden : s.dim;
  const double limit = 1.0 / __builtin_sqrt(static_cast<double>(fan_in));
  return (2.0 * words.uniform(column) - 1.0) * limit;
}

template <class T> inline void initialize(T* packed, const Shape& shape, uint64_t seed) {
  const Layout layout(shape);
  for (int parameter = 0; parameter < PARAMETERS; ++parameter) {
    const Slice& s = layout[parameter];
    if (!s.present) continue;
    for (int64_t row = 0; row < s.rows; ++row) {
      Words words(seed, PARAMETER + static_cast<uint32_t>(parameter), static_cast<uint32_t>(row));
      for (int64_t col = 0; col < s.cols; ++col)
        *packed++ =
            static_cast<T>(initial_weight(words, parameter, static_cast<uint32_t>(col), shape));
    }
  }
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
