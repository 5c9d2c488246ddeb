// What follows from a seed: sequences and initial weights.
#pragma once

#include <cstdint>

#include "layout.hpp"
#include "math.hpp"
#include "random.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// tokens [count, length], uniform with replacement: rows `first` and on of this seed and stream.
/// A row depends on (seed, stream, its number) alone.
inline void draw_sequences(int32_t* tokens, int64_t first, int64_t count, int64_t length,
                           int64_t vocab, uint64_t seed, uint32_t stream) {
  for (int64_t i = first; i < first + count; ++i) {
    Words words(seed, stream, static_cast<uint32_t>(i));
    for (int64_t t = 0; t < length; ++t)
      *tokens++ =
          static_cast<int32_t>(words.below(static_cast<uint32_t>(vocab), static_cast<uint32_t>(t)));
  }
}

/// Sequences first..first+count-1 of all vocab^length, in the order of their digits.
inline void enumerate_sequences(int32_t* tokens, int64_t first, int64_t count, int64_t length,
                                int64_t vocab) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = first + i;
    for (int64_t t = length; t-- > 0; rest /= vocab)
      tokens[i * length + t] = static_cast<int32_t>(rest % vocab);
  }
}

/// Initial weights as PyTorch draws them: N(0,1) for E and P, else U(-1/sqrt(fan_in), +).
inline double initial_weight(Words& words, int parameter, uint32_t column, const Shape& s) {
  if (parameter == TOKEN_EMBEDDING || parameter == POSITION_EMBEDDING) {
    // Box and Muller; 1 - u is never 0.
    const double size =
        first_lane<double>(logarithm<double>(broadcast(1.0 - words.uniform(column, 0))));
    return __builtin_sqrt(-2.0 * size) * cosine_of_turn(words.uniform(column, 1));
  }
  const bool out = parameter == ASSEMBLERS || parameter == ASSEMBLER_BIAS;
  const double limit = 1.0 / __builtin_sqrt(static_cast<double>(out ? s.hidden : s.dim));
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
