// Sequences that follow from a seed, and all of them in order.
#pragma once

#include <cstdint>

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

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
