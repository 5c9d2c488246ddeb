// What a circuit may keep of a sequence: sums over positions from which the target can be read.
//
// The target is the sum of the relevant tokens modulo p, and many statistics of the tokens tell it.
// All of them count. Each token at each position adds to the counts n_0 ... n_{p-1}, and what the
// counts tell, sum_j j n_j modulo p, is the target but for a constant:
//
//   a relevant token x at t adds one to n_j with j = (x + c_t) mod p: a shift c_t (of two tokens, a
//     sign: with c_t = 1 the ones of t are counted as zeros);
//   an irrelevant token adds nothing, or through a *fold*, a change of the counts with
//     sum_j g_j = 0 and sum_j j g_j = 0 modulo p (of two tokens: two more ones, or two fewer);
//   one or two tokens may be kept apart, beside the sum; or two such sums may be kept.
//
// The counts, and what is kept apart, become one number of 64 bits, added up modulo 2^64 with a
// random factor for each count: so a statistic is a table of what each token adds, and two
// sequences have the same value if they have the same number (by chance once in 2^64 pairs).
#pragma once

#include <cstdint>

#include "arena.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Random factors, the same everywhere: the output function of SplitMix64.
inline uint64_t scrambled(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
inline uint64_t factor_of_count(int sum, int64_t j) {
  return scrambled(static_cast<uint64_t>(sum) << 32 | static_cast<uint64_t>(j));
}
inline uint64_t code_apart(int64_t position, int64_t token) {
  return scrambled(uint64_t{1} << 48 | static_cast<uint64_t>(position) << 16 |
                   static_cast<uint64_t>(token));
}

/// The shortest folds of p tokens, nothing at all being the first.
///
/// Of two tokens: two ones instead of two zeros, and the other way round. Of more: a and b instead
/// of c and d wherever a + b = c + d modulo p. Of more than MOST_FOLDED tokens there are too many
/// to look for.
class Folds {
 public:
  static constexpr int64_t MOST_FOLDED = 7;
  int64_t count = 1;
  int8_t* change;  // [count, p]

  Folds(int64_t p, Arena& arena) : p_(p) {
    change = arena.take<int8_t>(room(p) * p);
    if (arena.measuring()) return;
    for (int64_t i = 0; i < room(p) * p; ++i) change[i] = 0;
    if (p == 2) {
      add(1, 1, 0, 0);
      add(0, 0, 1, 1);
    } else if (p <= MOST_FOLDED) {
      for (int64_t a = 0; a < p; ++a)
        for (int64_t b = a; b < p; ++b)
          for (int64_t c = 0; c < p; ++c) {
            const int64_t d = (a + b + 2 * p - c) % p;
            if (c <= d && c != a && c != b) add(a, b, c, d);
          }
    }
  }

 private:
  int64_t p_;
  static int64_t room(int64_t p) { return p == 2 ? 3 : p <= MOST_FOLDED ? 1 + p * p * p : 1; }
  void add(int64_t a, int64_t b, int64_t c, int64_t d) {
    int8_t* g = change + count++ * p_;
    ++g[a];
    ++g[b];
    --g[c];
    --g[d];
  }
};

/// One statistic. Positions are numbered within their half: relevant and irrelevant ones.
struct SumTerms {
  int sums = 1;
  int aparts = 0;
  int64_t apart[MOST_APART] = {-1, -1};  // positions in the sequence, rising
  int32_t* shift[MOST_SUMS];             // [relevant], below p
  int32_t* fold[MOST_SUMS];              // [irrelevant, p]: places in Folds; of token 0 none

  SumTerms(int64_t relevant, int64_t irrelevant, int64_t p, Arena& arena) {
    for (int s = 0; s < MOST_SUMS; ++s) {
      shift[s] = arena.take<int32_t>(relevant);
      fold[s] = arena.take<int32_t>(irrelevant * p);
    }
  }

  bool is_apart(int64_t position) const {
    for (int i = 0; i < aparts; ++i)
      if (apart[i] == position) return true;
    return false;
  }
  void set_apart(int64_t position) {
    int i = aparts++;
    for (; i > 0 && apart[i - 1] > position; --i) apart[i] = apart[i - 1];
    apart[i] = position;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
