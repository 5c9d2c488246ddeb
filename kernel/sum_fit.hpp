// How well a sum explains the sequence embeddings: the variance between sequences with different
// values of it, over the prefixes and suffixes of a design.
//
// Codes add up, so a prefix and a suffix have one each, and halves with equal codes are gathered
// first: to try another shift takes one addition for each prefix and class of suffixes, to try
// another fold one for each suffix and class of prefixes.
#pragma once

#include "sum_groups.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// One half of all sequences: their relevant tokens, or their irrelevant ones.
struct SumHalf {
  const int32_t* tokens;     // [count, width]
  const int32_t* positions;  // [width]
  int64_t count, width;
};

/// Sequences with their embeddings, centred and of variance 1.
struct SumPoints {
  SumHalf half[2];  // prefixes, suffixes
  int64_t vocab, dim;
  const double* at;  // [prefixes, suffixes, dim]
};

enum { PREFIXES, SUFFIXES_HALF };

class SumFitter {
 public:
  const Folds folds;

  SumFitter(const SumPoints& points, int64_t most_values, Arena& arena)
      : folds(points.vocab, arena),
        points_(points),
        groups_(most_values, points.dim, arena),
        numbers_(most_half(points), arena) {
    for (int s = 0; s < MOST_SUMS; ++s) {
      count_code_[s] = arena.take<uint64_t>(points.vocab);
      fold_code_[s] = arena.take<uint64_t>(points.vocab * points.vocab * points.vocab + 1);
      if (arena.measuring()) continue;
      for (int64_t j = 0; j < points.vocab; ++j) count_code_[s][j] = factor_of_count(s, j);
      for (int64_t f = 0; f < folds.count; ++f) {
        fold_code_[s][f] = 0;
        for (int64_t j = 0; j < points.vocab; ++j)
          fold_code_[s][f] +=
              static_cast<uint64_t>(folds.change[f * points.vocab + j]) * count_code_[s][j];
      }
    }
    for (int h : {PREFIXES, SUFFIXES_HALF}) {
      codes_[h] = arena.take<uint64_t>(points.half[h].count);
      label_[h] = arena.take<int32_t>(points.half[h].count);
      class_code_[h] = arena.take<uint64_t>(points.half[h].count);
      class_weight_[h] = arena.take<double>(points.half[h].count);
    }
    trial_ = arena.take<uint64_t>(most_half(points));
    gathered_ = arena.take<double>(points.half[0].count * points.half[1].count * points.dim);
  }

  const SumPoints& points() const { return points_; }

  SumFit fit(const SumTerms& terms) {
    gather(terms, SUFFIXES_HALF);
    set_codes(terms, PREFIXES);
    return fit_with(codes_[PREFIXES], SUFFIXES_HALF);
  }

  /// The share of its values that are told apart.
  double told_apart(const SumTerms& terms) {
    const SumFit found = fit(terms);
    return found.values > 0 ? groups_.told_apart(1, 1 - found.share) : 0;
  }

  /// Makes one half ready: its classes, and with them the points of the other half's rows.
  void gather(const SumTerms& terms, int half) {
    set_codes(terms, half);
    classify(half);
    const int64_t S = points_.half[1].count, d = points_.dim, classes = classes_[half];
    const int64_t rows = points_.half[1 - half].count;
    for (int64_t i = 0; i < rows * classes * d; ++i) gathered_[i] = 0;
    for (int64_t i = 0; i < points_.half[0].count; ++i)
      for (int64_t j = 0; j < S; ++j) {
        const int64_t row = half == SUFFIXES_HALF ? i : j;
        const int64_t column = half == SUFFIXES_HALF ? label_[1][j] : label_[0][i];
        double* to = gathered_ + (row * classes + column) * d;
        const double* from = points_.at + (i * S + j) * d;
        for (int64_t c = 0; c < d; ++c) to[c] += from[c];
      }
  }

  void set_codes(const SumTerms& terms, int half) {
    const SumHalf& h = points_.half[half];
    for (int64_t i = 0; i < h.count; ++i) {
      codes_[half][i] = 0;
      for (int64_t l = 0; l < h.width; ++l)
        codes_[half][i] += code(terms, half, l, h.tokens[i * h.width + l]);
    }
  }

  /// With these codes of the rows, the other half being gathered.
  SumFit fit_with(const uint64_t* codes, int gathered) {
    groups_.clear();
    const int64_t classes = classes_[gathered], rows = points_.half[1 - gathered].count;
    const double* vector = gathered_;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < classes; ++k, vector += points_.dim)
        if (!groups_.add(codes[i] + class_code_[gathered][k], class_weight_[gathered][k], vector))
          return {};
    SumFit fit = groups_.between();
    fit.share /= static_cast<double>(points_.half[0].count * points_.half[1].count);
    return fit;
  }
  SumFit fit_rows(int gathered) { return fit_with(codes_[1 - gathered], gathered); }

  /// If `more[token]` is added to the code of the rows by their l-th token: the fit, and the codes
  /// until `accept`.
  SumFit fit_changed(int gathered, int64_t l, const uint64_t* more) {
    const SumHalf& h = points_.half[1 - gathered];
    for (int64_t i = 0; i < h.count; ++i)
      trial_[i] = codes_[1 - gathered][i] + more[h.tokens[i * h.width + l]];
    return fit_with(trial_, gathered);
  }
  void accept(int gathered) {
    for (int64_t i = 0; i < points_.half[1 - gathered].count; ++i)
      codes_[1 - gathered][i] = trial_[i];
  }

  /// What token x at the l-th position of a half adds.
  uint64_t code(const SumTerms& terms, int half, int64_t l, int64_t x) const {
    const int64_t position = points_.half[half].positions[l], p = points_.vocab;
    if (terms.is_apart(position)) return code_apart(position, x);
    uint64_t total = 0;
    for (int s = 0; s < terms.sums; ++s)
      total += half == PREFIXES ? shift_code(s, x, terms.shift[s][l])
                                : fold_code_[s][terms.fold[s][l * p + x]];
    return total;
  }
  uint64_t shift_code(int sum, int64_t x, int64_t shift) const {
    return count_code_[sum][(x + shift) % points_.vocab];
  }
  uint64_t fold_code(int sum, int64_t fold) const { return fold_code_[sum][fold]; }

 private:
  SumPoints points_;
  SumGroups groups_;
  CodeNumbers numbers_;
  uint64_t *count_code_[MOST_SUMS], *fold_code_[MOST_SUMS];  // [p], [folds]
  uint64_t *codes_[2], *class_code_[2], *trial_;             // [count of the half]
  int32_t* label_[2];
  double *class_weight_[2], *gathered_;
  int64_t classes_[2] = {0, 0};

  static int64_t most_half(const SumPoints& points) {
    const int64_t a = points.half[0].count, b = points.half[1].count;
    return a > b ? a : b;
  }

  void classify(int half) {
    numbers_.clear();
    for (int64_t i = 0; i < points_.half[half].count; ++i) {
      const int64_t before = numbers_.count(), k = numbers_.of(codes_[half][i]);
      if (k == before) {
        class_code_[half][k] = codes_[half][i];
        class_weight_[half][k] = 0;
      }
      label_[half][i] = static_cast<int32_t>(k);
      class_weight_[half][k] += 1;
    }
    classes_[half] = numbers_.count();
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
