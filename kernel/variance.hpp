// A variance taken apart by the nested law of total variance. Sequences are uniform; f(m, o, s) is
// a vector for group m of relevant tokens (a multiset of them, say), its member o (an ordering),
// and the irrelevant tokens s:
//
//   Var f  =  Var_m E[f | m]  +  E Var_o(E[f | m, o])  +  E Var_s(f | m, o)
//             between            permutation              suffix
//
// Over all sequences these are finite sums. Over a crossed sample (M groups with R members
// each, every one of them with the same B suffixes) the same sums are too large by what the sample
// itself varies; with means over whatever index is left out,
//
//   W = mean_m var_o f(m,o),   I = mean_m of the interaction of o and s,   G = var_m f(m),
//   J = interaction of m and s in f(m,s)           (sample variances, divided by n - 1)
//   E W = permutation + I/B,   E J = K + I/R,   E G = between + permutation/R + K/B + I/(RB),
//
// where K is the true interaction of m and s. So permutation = W - I/B and
// between = G - W/R - J/B + I/(RB) have no bias; they may come out slightly below 0.
#pragma once

#include "arena.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

class NestedVariance {
 public:
  NestedVariance(int64_t size, const Crossed& data, Arena& arena) : size_(size), data_(data) {
    prefix_ = arena.take<double>(data.prefix_count * size);
    within_ = arena.take<double>(data.prefix_count);
    group_ = arena.take<double>(data.group_count * size);
    mean_ = arena.take<double>(size);
    if (!data.sampled) return;
    const int64_t orderings = data.group_count ? data.prefix_count / data.group_count : 0;
    values_ = arena.take<double>(orderings * data.suffix_count * size);
    cell_ = arena.take<double>(data.suffix_count * size);
    column_ = arena.take<double>(data.suffix_count * size);
  }

  /// The value of prefix i with suffix j; all of them come in order, suffixes fastest. Welford's
  /// update of mean and sum of squares: no cancellation, however far the values are from 0.
  void add(int64_t i, int64_t j, const double* value) {
    double* mean = prefix_ + i * size_;
    if (j == 0) {
      within_[i] = 0;
      for (int64_t c = 0; c < size_; ++c) mean[c] = 0;
    }
    const double share = 1 / static_cast<double>(j + 1);
    for (int64_t c = 0; c < size_; ++c) {
      const double before = value[c] - mean[c];
      mean[c] += before * share;
      within_[i] += before * (value[c] - mean[c]);
    }
    if (data_.sampled) keep(i, j, value);
  }

  /// The three parts, whose sum is the whole variance, and the squared length of the mean.
  void finish(double* parts) {
    for (int64_t m = 0; m < data_.group_count; ++m)
      average(group_ + m * size_, prefix_, data_.groups[m], data_.groups[m + 1]);
    average(mean_, prefix_, 0, data_.prefix_count);
    double suffix = 0, permutation = 0, between = 0;
    for (int64_t m = 0; m < data_.group_count; ++m) {
      const double* center = group_ + m * size_;
      for (int64_t i = data_.groups[m]; i < data_.groups[m + 1]; ++i) {
        suffix += within_[i];
        permutation += squared_distance(prefix_ + i * size_, center);
        between += squared_distance(center, mean_);
      }
    }
    const double P = static_cast<double>(data_.prefix_count);
    const double B = static_cast<double>(data_.suffix_count);
    parts[SUFFIX] = suffix / (P * B);
    parts[PERMUTATION] = permutation / P;
    parts[BETWEEN] = between / P;
    parts[MEAN_SQUARE] = 0;
    for (int64_t c = 0; c < size_; ++c) parts[MEAN_SQUARE] += mean_[c] * mean_[c];
    if (data_.sampled) correct(parts);
  }

 private:
  int64_t size_;
  Crossed data_;
  double *prefix_, *within_;  // [prefixes, size], [prefixes]: mean over suffixes, squares around it
  double *group_, *mean_;     // [groups, size], [size]
  // Of a sample: the values of one multiset [orderings, suffixes, size], their means over orderings
  // [suffixes, size], the sums of these over multisets.
  double *values_ = nullptr, *cell_ = nullptr, *column_ = nullptr;
  double inner_ = 0, cells_ = 0;  // sums of squares: interaction of o and s; f(m,s) - f(m)

  void average(double* out, const double* rows, int64_t first, int64_t end) const {
    for (int64_t c = 0; c < size_; ++c) {
      double total = 0;
      for (int64_t i = first; i < end; ++i) total += rows[i * size_ + c];
      out[c] = total / static_cast<double>(end - first);
    }
  }

  double squared_distance(const double* a, const double* b) const {
    double total = 0;
    for (int64_t c = 0; c < size_; ++c) total += (a[c] - b[c]) * (a[c] - b[c]);
    return total;
  }

  /// |value - row - column + whole|^2
  double interaction(const double* value, const double* row, const double* column,
                     const double* whole) const {
    double total = 0;
    for (int64_t c = 0; c < size_; ++c) {
      const double rest = value[c] - row[c] - column[c] + whole[c];
      total += rest * rest;
    }
    return total;
  }

  /// Collects the values of a multiset of a sample; the last one adds it to the interactions.
  void keep(int64_t i, int64_t j, const double* value) {
    const int64_t orderings = data_.prefix_count / data_.group_count, o = i % orderings;
    const int64_t row = data_.suffix_count * size_;
    if (i == 0 && j == 0) {
      inner_ = cells_ = 0;
      for (int64_t k = 0; k < row; ++k) column_[k] = 0;
    }
    for (int64_t c = 0; c < size_; ++c) values_[o * row + j * size_ + c] = value[c];
    if (o + 1 < orderings || j + 1 < data_.suffix_count) return;
    double* center = group_ + i / orderings * size_;
    average(center, prefix_, i + 1 - orderings, i + 1);
    for (int64_t k = 0; k < row; ++k) {
      cell_[k] = 0;
      for (int64_t l = 0; l < orderings; ++l)
        cell_[k] += values_[l * row + k] / static_cast<double>(orderings);
      column_[k] += cell_[k];
    }
    for (int64_t s = 0; s < data_.suffix_count; ++s) {
      cells_ += squared_distance(cell_ + s * size_, center);
      for (int64_t l = 0; l < orderings; ++l)
        inner_ += interaction(values_ + l * row + s * size_,
                              prefix_ + (i + 1 - orderings + l) * size_, cell_ + s * size_, center);
    }
  }

  /// From the sums of a sample, which are divided by n, to estimates without bias. The interaction
  /// of m and s is what f(m,s) - f(m) varies by, less what it varies by for all m alike.
  void correct(double* parts) {
    const double M = static_cast<double>(data_.group_count);
    const double B = static_cast<double>(data_.suffix_count);
    const double R = static_cast<double>(data_.prefix_count) / M;
    double alike = 0;
    for (int64_t s = 0; s < data_.suffix_count; ++s) {
      for (int64_t c = 0; c < size_; ++c) column_[s * size_ + c] /= M;
      alike += squared_distance(column_ + s * size_, mean_);
    }
    const double free = B > 1 ? B - 1 : 1;  // of one suffix (there is no other) nothing varies
    const double I = inner_ / (M * (R - 1) * free), J = (cells_ - M * alike) / ((M - 1) * free);
    const double W = parts[PERMUTATION] * R / (R - 1), G = parts[BETWEEN] * M / (M - 1);
    parts[SUFFIX] = parts[SUFFIX] * B / free;
    parts[PERMUTATION] = W - I / B;
    parts[BETWEEN] = G - W / R - J / B + I / (R * B);
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
