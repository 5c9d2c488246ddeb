// Counter-based randomness: (seed, stream, row, column) -> number, with no state to carry.
//
// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). A value
// depends on its coordinates alone, so a wider model extends a narrower one, a longer train set a
// shorter one, and another batch size sees the same shuffles.
#pragma once

#include <cstdint>

#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// What a number is for. Parameters use PARAMETER + their index in layout.hpp.
enum Stream : uint32_t { TRAIN = 0, TEST = 1, SHUFFLE = 2, SAMPLE = 3, PARAMETER = 16 };

/// Sixteen Philox blocks at once: counter word 0 counts up from `first`, the others are shared.
struct Blocks {
  uint32_t word[4][LANES];
};

inline void philox(Blocks& b, uint64_t seed, uint32_t first, uint32_t row, uint32_t stream,
                   uint32_t attempt) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int i = 0; i < LANES; ++i) {
    b.word[0][i] = first + static_cast<uint32_t>(i);
    b.word[1][i] = row;
    b.word[2][i] = stream;
    b.word[3][i] = attempt;
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < LANES; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53} * b.word[0][i];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * b.word[2][i];
      b.word[0][i] = static_cast<uint32_t>(p1 >> 32) ^ b.word[1][i] ^ key0;
      b.word[2][i] = static_cast<uint32_t>(p0 >> 32) ^ b.word[3][i] ^ key1;
      b.word[1][i] = static_cast<uint32_t>(p1);
      b.word[3][i] = static_cast<uint32_t>(p0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

/// The 32-bit words of one (seed, stream, row): word(column, attempt), computed 64 columns at a
/// time.
class Words {
 public:
  Words(uint64_t seed, uint32_t stream, uint32_t row) : seed_(seed), stream_(stream), row_(row) {}

  uint32_t operator()(uint32_t column, uint32_t attempt = 0) {
    const uint32_t block = column / 4, group = block / LANES;
    if (attempt != attempt_ || group != group_) {
      philox(blocks_, seed_, group * LANES, row_, stream_, attempt);
      attempt_ = attempt;
      group_ = group;
    }
    return blocks_.word[column % 4][block % LANES];
  }

  /// Uniform in 0..bound-1, without bias (Lemire, "Fast random integer generation", 2019).
  uint32_t below(uint32_t bound, uint32_t column) {
    for (uint32_t attempt = 0;; ++attempt) {
      const uint64_t product = uint64_t{(*this)(column, attempt)} * bound;
      const uint32_t low = static_cast<uint32_t>(product);
      if (low >= bound || low >= (0u - bound) % bound) return static_cast<uint32_t>(product >> 32);
    }
  }

  /// Uniform in [0, 1) with 53 bits; `which` numbers independent draws for one column.
  double uniform(uint32_t column, uint32_t which = 0) {
    const uint64_t high = (*this)(column, 2 * which), low = (*this)(column, 2 * which + 1);
    return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
  }

 private:
  uint64_t seed_;
  uint32_t stream_, row_;
  uint32_t attempt_ = 0, group_ = 0xFFFFFFFF;
  Blocks blocks_;
};

/// order becomes a uniform permutation of 0..n-1 (Fisher and Yates), that of this seed and epoch.
inline void shuffle(uint32_t* order, uint32_t n, uint64_t seed, uint32_t epoch) {
  for (uint32_t i = 0; i < n; ++i) order[i] = i;
  Words words(seed, SHUFFLE, epoch);
  for (uint32_t i = n; i-- > 1;) {
    const uint32_t j = words.below(i + 1, i), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
