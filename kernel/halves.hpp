// Sequences taken apart: their relevant tokens on one side, their irrelevant ones on the other.
//
// Attention is a quotient of sums over positions (see table.hpp), so each half of a sequence has
// sums of its own, and the p^N sequences need only p^k + p^(N-k) of them:
//
//   xi = (A_prefix + A_suffix) / (S_prefix + S_suffix),   A = sum_t w V z,   S = sum_t w
//
// Weights are relative to the greatest score of the table. Where scores spread so far that they
// would vanish, each half has its own greatest score, and the two are brought together in `join`.
#pragma once

#include "table.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// A model with one position changed: given no attention, or its mean value for every token.
struct Change {
  int64_t cut = -1, averaged = -1;
};

struct Half {
  const int32_t* tokens;  // [count, width]
  int32_t* positions;     // [width]
  int64_t count, width;
  double* top;   // [count]: the score that weights are relative to
  double* sums;  // [count, dim + 1]: A, then S
};

class Halves {
 public:
  Half prefix, suffix;
  int64_t dim;

  Halves(const Shape& s, const Crossed& data, Arena& arena)
      : dim(s.dim), table_(s, arena), vocab_(s.vocab) {
    const int64_t rest = s.length - data.relevant;
    prefix = make(data.prefixes, data.prefix_count, data.relevant, arena);
    suffix = make(data.suffixes, data.suffix_count, rest, arena);
    weight_ = arena.take<double>(table_.entries);
    mean_ = arena.take<double>(s.length * dim);
    if (arena.measuring()) return;
    int64_t in = 0, out = 0;
    for (int32_t t = 0; t < s.length; ++t) {
      bool relevant = false;
      for (int64_t i = 0; i < data.relevant; ++i) relevant |= data.positions[i] == t;
      if (!relevant) suffix.positions[out++] = t;
    }
    for (; in < data.relevant; ++in) prefix.positions[in] = data.positions[in];
  }

  void prepare(const double* theta, const Layout& layout) {
    table_.forward(theta, layout);
    double top = table_.score[0], bottom = top;
    for (int64_t e = 1; e < table_.entries; ++e) {
      top = table_.score[e] > top ? table_.score[e] : top;
      bottom = table_.score[e] < bottom ? table_.score[e] : bottom;
    }
    wide_ = !(top - bottom < SPREAD);
    top_ = top;
    for (int64_t e = 0; e < table_.entries; ++e) weight_[e] = exp(table_.score[e] - top);
    for (int64_t t = 0; t < table_.length; ++t)
      for (int64_t c = 0; c < dim; ++c) {
        mean_[t * dim + c] = 0;
        for (int64_t a = 0; a < vocab_; ++a) mean_[t * dim + c] += value(a, t, c);
        mean_[t * dim + c] /= static_cast<double>(vocab_);
      }
    fill(prefix);
    fill(suffix);
  }

  /// The sums of every half, for a model with this change.
  void fill(Half& half, const Change& change = {}) const {
    for (int64_t i = 0; i < half.count; ++i)
      half.top[i] = sum_up(half.sums + i * (dim + 1), half, half.tokens + i * half.width, change);
  }

  /// The sums of one half with these tokens; returns the score that they are relative to.
  double sum_up(double* sums, const Half& half, const int32_t* tokens,
                const Change& change = {}) const {
    const double top = wide_ ? greatest(half, tokens, change) : top_;
    for (int64_t c = 0; c <= dim; ++c) sums[c] = 0;
    for (int64_t i = 0; i < half.width; ++i) {
      const int64_t t = half.positions[i];
      if (t == change.cut) continue;
      const double w = weight(tokens[i], t, top);
      for (int64_t c = 0; c < dim; ++c)
        sums[c] += w * (t == change.averaged ? mean_[t * dim + c] : value(tokens[i], t, c));
      sums[dim] += w;
    }
    return top;
  }

  /// What the sums of two halves are multiplied with, so that together they give xi.
  struct Joint {
    double one, other;
  };
  Joint join(const double* one, double one_top, const double* other, double other_top) const {
    double f = 1, g = 1;
    if (wide_) {
      const double top = one_top > other_top ? one_top : other_top;
      f = exp(one_top - top);
      g = exp(other_top - top);
    }
    const double inverse = 1 / (f * one[dim] + g * other[dim]);
    return {f * inverse, g * inverse};
  }

  /// The sequence embedding of a prefix, given its sums, with suffix j of the other half.
  Joint embed(double* xi, const double* sums, double top, const Half& others, int64_t j) const {
    const double* rest = others.sums + j * (dim + 1);
    const Joint joint = join(sums, top, rest, others.top[j]);
    for (int64_t c = 0; c < dim; ++c) xi[c] = sums[c] * joint.one + rest[c] * joint.other;
    return joint;
  }
  Joint embed(double* xi, int64_t i, int64_t j) const {
    return embed(xi, prefix.sums + i * (dim + 1), prefix.top[i], suffix, j);
  }

  double value(int64_t token, int64_t t, int64_t c) const {
    return reinterpret_cast<const double*>(table_.value)[c * table_.width() + t * vocab_ + token];
  }
  double mean_value(int64_t t, int64_t c) const { return mean_[t * dim + c]; }
  double weight(int64_t token, int64_t t, double top) const {
    const int64_t entry = t * vocab_ + token;
    return wide_ ? exp(table_.score[entry] - top) : weight_[entry];
  }

 private:
  static constexpr double SPREAD = 600;  // exp(-600) and its sums are normal numbers
  static constexpr double NOTHING = -__builtin_huge_val();  // the top of a half without positions
  Table<double> table_;
  int64_t vocab_;
  double *weight_, *mean_;  // [entries], [length, dim]
  double top_ = 0;
  bool wide_ = false;

  /// Far below 0 it is 0: no denormal numbers. Not inlined: it is seldom called, from many places.
  __attribute__((noinline)) static double exp(double x) {
    return x < -700 ? 0 : first_lane<double>(exponential<double>(broadcast(x)));
  }

  double greatest(const Half& half, const int32_t* tokens, const Change& change) const {
    double top = NOTHING;
    for (int64_t i = 0; i < half.width; ++i) {
      const int64_t t = half.positions[i];
      const double score = table_.score[t * vocab_ + tokens[i]];
      if (t != change.cut && score > top) top = score;
    }
    return top;
  }

  Half make(const int32_t* tokens, int64_t count, int64_t width, Arena& arena) const {
    return {tokens, arena.take<int32_t>(width), count,
            width,  arena.take<double>(count),  arena.take<double>(count * (dim + 1))};
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
