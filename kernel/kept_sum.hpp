// The sum that a model keeps (sum_search.hpp), and how much of the variance of its sequence
// embeddings a given sum explains.
//
// The search looks at all sequences while there are at most 2^16, else at a crossed sample of
// them: prefixes and suffixes drawn apart. What the sum explains is then found over all sequences
// while there are at most 2^20. In double precision; sums run in a fixed order.
#pragma once

#include "halves.hpp"
#include "no_value.hpp"
#include "shares.hpp"
#include "sum_search.hpp"
#include "task.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Prefixes and suffixes: all of them, or so many drawn.
class SumDesign {
 public:
  Crossed data;

  SumDesign(const TaskSpec& t, int64_t most, Arena& arena) {
    const int64_t rest = t.length - t.relevant;
    const int64_t all_prefixes = power(t.vocab, t.relevant, most);
    const int64_t all_suffixes = power(t.vocab, rest, most);
    const bool all = power(t.vocab, t.length, most) <= most;
    const bool every_prefix = all || all_prefixes <= PREFIXES_DRAWN;
    const int64_t P = every_prefix ? all_prefixes : PREFIXES_DRAWN;
    const bool every_suffix = all || all_suffixes <= most / P;
    const int64_t S = every_suffix ? all_suffixes : most / P;
    int32_t* prefixes = arena.take<int32_t>(P * t.relevant);
    int32_t* suffixes = arena.take<int32_t>(S * rest);
    data = {t.kind, t.positions, t.relevant, prefixes, nullptr, suffixes, P, 0, S, !all};
    if (arena.measuring()) return;
    if (every_prefix) enumerate_sequences(prefixes, 0, P, t.relevant, t.vocab);
    else draw_sequences(prefixes, 0, P, t.relevant, t.vocab, 1, SAMPLE);
    if (every_suffix) enumerate_sequences(suffixes, 0, S, rest, t.vocab);
    else draw_sequences(suffixes, P, S, rest, t.vocab, 1, SAMPLE);
  }

  int64_t sequences() const { return data.prefix_count * data.suffix_count; }

 private:
  static constexpr int64_t PREFIXES_DRAWN = 1024;

  /// base^exponent, or something above `most`.
  static int64_t power(int64_t base, int64_t exponent, int64_t most) {
    int64_t product = 1;
    for (int64_t i = 0; i < exponent && product <= most; ++i) product *= base;
    return product;
  }
};

/// The sequence embeddings of a model over a design.
class SumEmbeddings {
 public:
  SumEmbeddings(const Shape& s, const SumDesign& design, Arena& arena)
      : layout_(s), halves_(s, design.data, arena) {
    theta_ = arena.take<double>(layout_.padded_size);
    mean = arena.take<double>(s.dim);
    point_ = arena.take<double>(s.dim);
  }

  double *mean, variance = 0;  // [dim], and of the distance to it

  /// False: nothing varies.
  bool prepare(const double* packed, double rounding) {
    unpack(theta_, packed, layout_);
    halves_.prepare(theta_, layout_);
    for (int64_t c = 0; c < halves_.dim; ++c) mean[c] = 0;
    each([&](int64_t, int64_t, const double* xi) {
      for (int64_t c = 0; c < halves_.dim; ++c) mean[c] += xi[c];
    });
    double square = 0;
    for (int64_t c = 0; c < halves_.dim; ++c) {
      mean[c] /= count();
      square += mean[c] * mean[c];
    }
    variance = 0;
    each([&](int64_t, int64_t, const double* xi) {
      for (int64_t c = 0; c < halves_.dim; ++c) variance += (xi[c] - mean[c]) * (xi[c] - mean[c]);
    });
    variance /= count();
    return is_variance(variance, square, rounding);
  }

  double count() const { return static_cast<double>(half(0).count * half(1).count); }
  SumHalf half(int which) const {
    const Half& h = which == PREFIXES ? halves_.prefix : halves_.suffix;
    return {h.tokens, h.positions, h.count, h.width};
  }

  /// Calls f(prefix, suffix, xi) for every sequence.
  template <class F> void each(F f) const {
    for (int64_t i = 0; i < halves_.prefix.count; ++i)
      for (int64_t j = 0; j < halves_.suffix.count; ++j) {
        halves_.embed(point_, i, j);
        f(i, j, point_);
      }
  }

 private:
  Layout layout_;
  Halves halves_;
  double *theta_, *point_;
};

/// So many values of a sum are counted; one with more explains nothing.
inline int64_t most_values(const TaskSpec& t) {
  const double wanted = 16 * count_multisets(static_cast<double>(t.vocab), t.relevant);
  return wanted < 256 ? 256 : wanted > 16384 ? 16384 : static_cast<int64_t>(wanted);
}

// ---- a given sum --------------------------------------------------------------------------------
class SumShare {
 public:
  SumShare(const Shape& s, const TaskSpec& t, Arena& arena)
      : shape_(s),
        design_(t, MAX_MEASURED, arena),
        embeddings_(s, design_, arena),
        groups_(most_values(t), s.dim, arena) {
    away_ = arena.take<double>(s.dim);
    for (int h : {PREFIXES, SUFFIXES_HALF})
      codes_[h] = arena.take<uint64_t>(embeddings_.half(h).count);
  }

  /// The share of the variance between values of the sum, and their number; false: nothing varies.
  bool find(SumFit& out, const double* packed, const SumTable& sum, double rounding) {
    if (!embeddings_.prepare(packed, rounding)) return false;
    for (int h : {PREFIXES, SUFFIXES_HALF}) set_codes(h, sum);
    groups_.clear();
    bool counted = true;
    embeddings_.each([&](int64_t i, int64_t j, const double* xi) {
      for (int64_t c = 0; c < shape_.dim; ++c) away_[c] = xi[c] - embeddings_.mean[c];
      counted = counted && groups_.add(codes_[PREFIXES][i] + codes_[SUFFIXES_HALF][j], 1, away_);
    });
    out = counted ? groups_.between() : SumFit{};
    out.share /= embeddings_.variance * embeddings_.count();
    return true;
  }

  /// Of what was found last.
  double told_apart(const SumFit& fit) {
    return fit.values > 0 ? groups_.told_apart(embeddings_.variance, 1 - fit.share) : 0;
  }

 private:
  Shape shape_;
  SumDesign design_;
  SumEmbeddings embeddings_;
  SumGroups groups_;
  double* away_;
  uint64_t* codes_[2];

  void set_codes(int which, const SumTable& sum) {
    const SumHalf h = embeddings_.half(which);
    for (int64_t i = 0; i < h.count; ++i) {
      codes_[which][i] = 0;
      for (int64_t l = 0; l < h.width; ++l)
        codes_[which][i] += code(sum, h.positions[l], h.tokens[i * h.width + l]);
    }
  }

  uint64_t code(const SumTable& sum, int64_t position, int64_t token) const {
    for (int i = 0; i < MOST_APART; ++i)
      if (sum.apart[i] == position) return code_apart(position, token);
    const int64_t p = shape_.vocab;
    uint64_t total = 0;
    for (int s = 0; s < sum.sums; ++s) {
      const int32_t* adds = sum.terms + ((s * shape_.length + position) * p + token) * p;
      for (int64_t j = 0; j < p; ++j)
        total += static_cast<uint64_t>(adds[j]) * factor_of_count(s, j);
    }
    return total;
  }
};

// ---- the best one -------------------------------------------------------------------------------
class KeptSumFinder {
 public:
  static constexpr int64_t SEARCHED = 1 << 16;

  KeptSumFinder(const Shape& s, const TaskSpec& t, Arena& arena)
      : shape_(s),
        design_(t, SEARCHED, arena),
        embeddings_(s, design_, arena),
        points_(arena.take<double>(design_.data.prefix_count * design_.data.suffix_count * s.dim)),
        search_({{embeddings_.half(0), embeddings_.half(1)}, s.vocab, s.dim, points_},
                most_values(t), arena),
        share_(s, t, arena) {}

  /// False: nothing varies.
  bool find(KeptSum& out, const double* packed, const SumRule& rule) {
    if (!embeddings_.prepare(packed, rule.rounding)) return false;
    const double scale = 1 / __builtin_sqrt(embeddings_.variance);
    double* to = points_;
    embeddings_.each([&](int64_t, int64_t, const double* xi) {
      for (int64_t c = 0; c < shape_.dim; ++c) *to++ = (xi[c] - embeddings_.mean[c]) * scale;
    });
    out.kind = search_.find(rule.threshold, rule.exhaustive);
    out.tried = search_.tried;
    for (int kind = 0; kind < SUM_UNEXPLAINED; ++kind)
      out.best[kind] = search_.tried_kind(kind) ? search_.best(kind).corrected : no_value<double>();
    write(out, search_.best(out.kind).terms);
    SumFit fit;
    share_.find(fit, packed, {out.terms, out.sums, {out.apart[0], out.apart[1]}}, rule.rounding);
    out.share = fit.share;
    out.values = fit.values;
    out.corrected = search_.corrected(fit);
    out.told_apart = share_.told_apart(fit);
    const bool holds = out.corrected >= rule.threshold && out.told_apart >= SUM_TOLD_APART;
    if (!holds) out.kind = SUM_UNEXPLAINED;  // over all sequences it may be less
    return true;
  }

 private:
  Shape shape_;
  SumDesign design_;
  SumEmbeddings embeddings_;
  double* points_;
  SumSearch search_;
  SumShare share_;

  /// As counts, named so that the first position in a sum counts its tokens under their own names.
  void write(KeptSum& out, const SumTerms& terms) const {
    const int64_t p = shape_.vocab, N = shape_.length;
    out.sums = terms.sums;
    for (int i = 0; i < MOST_APART; ++i)
      out.apart[i] = i < terms.aparts ? static_cast<int32_t>(terms.apart[i]) : -1;
    for (int64_t i = 0; i < MOST_SUMS * N * p * p; ++i) out.terms[i] = 0;
    for (int s = 0; s < terms.sums; ++s) {
      const int64_t by = first_shift(terms, s);
      const auto count = [&](int64_t t, int64_t x, int64_t j) -> int32_t& {
        return out.terms[((s * N + t) * p + x) * p + (j + p - by) % p];
      };
      for (int h : {PREFIXES, SUFFIXES_HALF})
        for (int64_t l = 0; l < embeddings_.half(h).width; ++l) {
          const int64_t t = embeddings_.half(h).positions[l];
          if (terms.is_apart(t)) continue;
          for (int64_t x = 0; x < p; ++x) {
            if (h == PREFIXES) {
              count(t, x, (x + terms.shift[s][l]) % p) = 1;
              continue;
            }
            const int8_t* change = search_.folds().change + terms.fold[s][l * p + x] * p;
            for (int64_t j = 0; j < p; ++j) count(t, x, j) = change[j];
          }
        }
    }
  }

  int64_t first_shift(const SumTerms& terms, int s) const {
    const SumHalf prefixes = embeddings_.half(PREFIXES);
    for (int64_t l = 0; l < prefixes.width; ++l)
      if (!terms.is_apart(prefixes.positions[l])) return terms.shift[s][l];
    return 0;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
