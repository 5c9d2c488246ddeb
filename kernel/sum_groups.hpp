// Vectors in groups of equal codes: how much of their variance lies between the groups.
#pragma once

#include "sum_terms.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// What a statistic explains. `values`: how many different ones there are, 0 if too many to count.
struct SumFit {
  double share = 0;
  int64_t values = 0;
};

/// Codes get the numbers 0, 1, ... in the order in which they first come.
class CodeNumbers {
 public:
  CodeNumbers(int64_t most, Arena& arena) : most_(most), size_(64) {
    while (size_ < 4 * most) size_ *= 2;
    key_ = arena.take<uint64_t>(size_);
    number_ = arena.take<int32_t>(size_);
    stamp_ = arena.take<uint32_t>(size_);
    if (arena.measuring()) return;
    for (int64_t i = 0; i < size_; ++i) stamp_[i] = 0;
  }

  int64_t most() const { return most_; }
  int64_t count() const { return count_; }
  void clear() {
    count_ = 0;
    if (++now_ == 0) {  // after 2^32 times
      for (int64_t i = 0; i < size_; ++i) stamp_[i] = 0;
      now_ = 1;
    }
  }

  /// The number of a code; -1: it would be one too many.
  int64_t of(uint64_t code) {
    const auto mask = static_cast<uint64_t>(size_ - 1);
    uint64_t at = (code ^ code >> 32) & mask;  // codes are random numbers
    for (; stamp_[at] == now_; at = (at + 1) & mask)
      if (key_[at] == code) return number_[at];
    if (count_ == most_) return -1;
    stamp_[at] = now_;
    key_[at] = code;
    number_[at] = static_cast<int32_t>(count_);
    return count_++;
  }

 private:
  int64_t most_, size_, count_ = 0;
  uint64_t* key_;
  int32_t* number_;
  uint32_t* stamp_;
  uint32_t now_ = 0;
};

/// Sums of vectors by their code.
class SumGroups {
 public:
  SumGroups(int64_t most, int64_t dim, Arena& arena) : dim_(dim), numbers_(most, arena) {
    weight_ = arena.take<double>(most);
    total_ = arena.take<double>(most * dim);
    nearest_ = arena.take<double>(most);
  }

  void clear() { numbers_.clear(); }

  /// Adds a sum of `weight` vectors; false: there are too many groups.
  bool add(uint64_t code, double weight, const double* vector) {
    const int64_t before = numbers_.count(), g = numbers_.of(code);
    if (g < 0) return false;
    double* total = total_ + g * dim_;
    if (g == before) {
      weight_[g] = 0;
      for (int64_t c = 0; c < dim_; ++c) total[c] = 0;
    }
    weight_[g] += weight;
    for (int64_t c = 0; c < dim_; ++c) total[c] += vector[c];
    return true;
  }

  /// sum_g |total_g|^2 / weight_g: of centred vectors, the part of their squares between groups.
  SumFit between() const {
    SumFit fit;
    fit.values = numbers_.count();
    for (int64_t g = 0; g < fit.values; ++g) {
      double square = 0;
      for (int64_t c = 0; c < dim_; ++c) square += total_[g * dim_ + c] * total_[g * dim_ + c];
      fit.share += square / weight_[g];
    }
    return fit;
  }

  /// The share of the groups whose mean is farther from all others than SUM_GAP times the spread
  /// within groups, and than rounding: the unexplained part of the variance is the square of that
  /// spread. Of too many groups it is not looked for.
  double told_apart(double variance, double unexplained) {
    const int64_t count = numbers_.count();
    if (count > COMPARED) return 0;
    for (int64_t g = 0; g < count; ++g) nearest_[g] = __builtin_huge_val();
    for (int64_t g = 0; g < count; ++g)
      for (int64_t h = 0; h < g; ++h) {
        double distance = 0;
        for (int64_t c = 0; c < dim_; ++c) {
          const double off = total_[g * dim_ + c] / weight_[g] - total_[h * dim_ + c] / weight_[h];
          distance += off * off;
        }
        if (distance < nearest_[g]) nearest_[g] = distance;
        if (distance < nearest_[h]) nearest_[h] = distance;
      }
    const double spread = (unexplained > ROUNDED ? unexplained : ROUNDED) * variance;
    int64_t apart = 0;
    for (int64_t g = 0; g < count; ++g) apart += nearest_[g] > SUM_GAP * SUM_GAP * spread;
    return static_cast<double>(apart) / static_cast<double>(count);
  }

 private:
  static constexpr int64_t COMPARED = 2048;
  static constexpr double ROUNDED = 1e-13;  // of a variance: less is unexplained by rounding
  int64_t dim_;
  CodeNumbers numbers_;
  double *weight_, *total_, *nearest_;  // [most], [most, dim], [most]
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
