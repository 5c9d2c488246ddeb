// Sequences in memory: tokens as bit fields of 32-bit words, so that a step loads one word per
// sequence (for p=2, N=12) instead of N bytes, and unpacks it with shifts in lanes.
#pragma once

#include <cstdint>

#include "arena.hpp"
#include "spec.hpp"
#include "tile.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

struct Sequences {
  int64_t length, count = 0, stride;
  int bits = 1, per_word;  // of a token; tokens in a word
  int64_t words;           // of a sequence
  uint32_t* word;          // [words][stride]
  int32_t* target;         // [stride]

  /// Places are padded, so that a whole tile can be loaded wherever it starts.
  Sequences(const Shape& s, int64_t capacity, Arena& arena)
      : length(s.length), stride(capacity + TILE_SEQUENCES) {
    while ((int64_t{1} << bits) < s.vocab) ++bits;
    per_word = 32 / bits;
    words = (length + per_word - 1) / per_word;
    word = arena.take<uint32_t>(words * stride);
    target = arena.take<int32_t>(stride);
    if (!arena.measuring()) clear();
  }

  void clear() {  // padding must hold valid tokens too
    count = 0;
    for (int64_t i = 0; i < words * stride; ++i) word[i] = 0;
    for (int64_t i = 0; i < stride; ++i) target[i] = 0;
  }

  void append(const int32_t* tokens, int32_t its_target) {
    for (int64_t w = 0; w < words; ++w) word[w * stride + count] = 0;
    for (int64_t t = 0; t < length; ++t)
      word[t / per_word * stride + count] |= static_cast<uint32_t>(tokens[t])
                                             << (t % per_word * bits);
    target[count++] = its_target;
  }

  /// These sequences become those of `from` in the given order.
  void reorder(const Sequences& from, const uint32_t* order) {
    count = from.count;
    for (int64_t w = 0; w < words; ++w)
      for (int64_t i = 0; i < count; ++i)
        word[w * stride + i] = from.word[w * from.stride + order[i]];
    for (int64_t i = 0; i < count; ++i) target[i] = from.target[order[i]];
  }

  bool same(int64_t i, int64_t j) const {
    for (int64_t w = 0; w < words; ++w)
      if (word[w * stride + i] != word[w * stride + j]) return false;
    return true;
  }

  uint64_t hash(int64_t i) const {
    uint64_t h = 0x9E3779B97F4A7C15;
    for (int64_t w = 0; w < words; ++w) {
      h = (h ^ word[w * stride + i]) * 0xFF51AFD7ED558CCD;
      h ^= h >> 32;
    }
    return h;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
