// Sequences in memory: tokens as bit fields of 32-bit words, so that a step gathers one word per
// sequence (for p=2, N=12) instead of N bytes, and unpacks it with shifts in lanes.
#pragma once

#include <cstdint>

#include "arena.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

struct Sequences {
  int64_t length, count = 0;
  int bits = 1, per_word;  // of a token; tokens in a word
  int64_t words;           // of a sequence
  uint32_t* word;          // [count][words]
  int32_t* target;         // [count]

  Sequences(const Shape& s, int64_t capacity, Arena& arena) : length(s.length) {
    while ((int64_t{1} << bits) < s.vocab) ++bits;
    per_word = 32 / bits;
    words = (length + per_word - 1) / per_word;
    word = arena.take<uint32_t>(capacity * words);
    target = arena.take<int32_t>(capacity);
  }

  void append(const int32_t* tokens, int32_t its_target) {
    uint32_t* w = word + count * words;
    for (int64_t i = 0; i < words; ++i) w[i] = 0;
    for (int64_t t = 0; t < length; ++t)
      w[t / per_word] |= static_cast<uint32_t>(tokens[t]) << (t % per_word * bits);
    target[count++] = its_target;
  }

  bool same(int64_t i, int64_t j) const {
    for (int64_t w = 0; w < words; ++w)
      if (word[i * words + w] != word[j * words + w]) return false;
    return true;
  }

  uint64_t hash(int64_t i) const {
    uint64_t h = 0x9E3779B97F4A7C15;
    for (int64_t w = 0; w < words; ++w) {
      h = (h ^ word[i * words + w]) * 0xFF51AFD7ED558CCD;
      h ^= h >> 32;
    }
    return h;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
