// A first guess of the sum, from what each token does to the mean of the embeddings.
#pragma once

#include "sum_fit.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

class SumGuess {
 public:
  SumGuess(const SumPoints& points, const Folds& folds, Arena& arena)
      : points_(points), folds_(folds) {
    for (int h : {PREFIXES, SUFFIXES_HALF})
      effect_[h] = arena.take<double>(points.half[h].width * points.vocab * points.dim);
    count_ = arena.take<double>(points.vocab);
    by_count_ = arena.take<double>(points.vocab * points.dim);
  }

  void learn() {
    const SumPoints& all = points_;
    const int64_t d = all.dim, S = all.half[1].count;
    for (int h : {PREFIXES, SUFFIXES_HALF})
      for (int64_t l = 0; l < half(h).width; ++l) {
        double* effect = effect_[h] + l * vocab() * d;
        for (int64_t i = 0; i < vocab() * d; ++i) effect[i] = 0;
        for (int64_t x = 0; x < vocab(); ++x) count_[x] = 0;
        for (int64_t i = 0; i < all.half[0].count; ++i)
          for (int64_t j = 0; j < S; ++j) {
            const int64_t row = h == PREFIXES ? i : j;
            const int32_t x = half(h).tokens[row * half(h).width + l];
            count_[x] += 1;
            for (int64_t c = 0; c < d; ++c) effect[x * d + c] += all.at[(i * S + j) * d + c];
          }
        for (int64_t x = 0; x < vocab(); ++x)
          for (int64_t c = 0; c < d; ++c)
            if (count_[x] > 0) effect[x * d + c] /= count_[x];
      }
  }

  /// Every relevant position is turned so that its tokens do what those of the strongest do.
  void shifts(SumTerms& terms) const {
    const int64_t d = points_.dim, p = vocab();
    int64_t strongest = 0;
    double most = -1;
    for (int64_t l = 0; l < relevant(); ++l) {
      double size = 0;
      for (int64_t i = 0; i < p * d; ++i) {
        const double e = effect_[PREFIXES][l * p * d + i];
        size += e * e;
      }
      if (size > most) {
        most = size;
        strongest = l;
      }
    }
    const double* like = effect_[PREFIXES] + strongest * p * d;
    for (int64_t l = 0; l < relevant(); ++l) {
      const double* own = effect_[PREFIXES] + l * p * d;
      double least = 0;
      for (int64_t shift = 0; shift < p; ++shift) {
        double apart = 0;
        for (int64_t x = 0; x < p; ++x) apart += distance(own + x * d, like + (x + shift) % p * d);
        if (shift == 0 || apart < least) {
          least = apart;
          terms.shift[0][l] = static_cast<int32_t>(shift);
        }
      }
    }
  }

  /// Given the shifts: each irrelevant token folds to where it comes nearest to what it does.
  void folds(SumTerms& terms) {
    const int64_t d = points_.dim, p = vocab();
    for (int64_t i = 0; i < p * d; ++i) by_count_[i] = 0;
    for (int64_t l = 0; l < relevant(); ++l)
      for (int64_t x = 0; x < p; ++x)
        for (int64_t c = 0; c < d; ++c)
          by_count_[(x + terms.shift[0][l]) % p * d + c] +=
              effect_[PREFIXES][(l * p + x) * d + c] / static_cast<double>(relevant());
    for (int64_t l = 0; l < irrelevant(); ++l) {
      const double* effect = effect_[SUFFIXES_HALF] + l * p * d;
      for (int64_t x = 1; x < p; ++x) {
        double least = 0;
        for (int64_t f = 0; f < folds_.count; ++f) {
          double off = 0;
          for (int64_t c = 0; c < d; ++c) {
            double left = effect[x * d + c] - effect[c];
            for (int64_t j = 0; j < p; ++j)
              left -= static_cast<double>(folds_.change[f * p + j]) * by_count_[j * d + c];
            off += left * left;
          }
          if (f == 0 || off < least) {
            least = off;
            terms.fold[0][l * p + x] = static_cast<int32_t>(f);
          }
        }
      }
    }
  }

 private:
  SumPoints points_;
  const Folds& folds_;
  double* effect_[2];          // [width, p, dim]: mean embedding of each token at each position
  double *count_, *by_count_;  // [p]; [p, dim]: what a token does that is counted as j

  int64_t relevant() const { return points_.half[0].width; }
  int64_t irrelevant() const { return points_.half[1].width; }
  int64_t vocab() const { return points_.vocab; }
  const SumHalf& half(int h) const { return points_.half[h]; }

  double distance(const double* a, const double* b) const {
    double total = 0;
    for (int64_t c = 0; c < points_.dim; ++c) total += (a[c] - b[c]) * (a[c] - b[c]);
    return total;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
