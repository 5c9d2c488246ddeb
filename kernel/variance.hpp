// A variance taken apart by the nested law of total variance. Sequences are uniform; f(m, o, s) is
// a vector for multiset m of relevant tokens, its ordering o, and the irrelevant tokens s:
//
//   Var f  =  Var_m E[f | m]  +  E Var_o(E[f | m, o])  +  E Var_s(f | m, o)
//             between            permutation              suffix
//
// Over all sequences these are finite sums. Over a crossed sample (M multisets with R orderings
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
    values_ = arena.take<double>(data.prefix_count * data.suffix_count * size);
    cells_ = arena.take<double>(data.group_count * data.suffix_count * size);
    columns_ = arena.take<double>(data.suffix_count * size);
  }

  /// The value of prefix i with suffix j; all of them come, a prefix's suffixes in order. Welford's
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
    for (int64_t c = 0; data_.sampled && c < size_; ++c)
      values_[(i * data_.suffix_count + j) * size_ + c] = value[c];
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
  double* values_ = nullptr;  // [prefixes, suffixes, size], of a sample
  double *cells_ = nullptr, *columns_ = nullptr;  // [groups, suffixes, size], [suffixes, size]

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

  /// From the sums of a sample, which are divided by n, to estimates without bias.
  void correct(double* parts) {
    const int64_t suffixes = data_.suffix_count, groups = data_.group_count;
    const double M = static_cast<double>(groups), B = static_cast<double>(suffixes);
    const double R = static_cast<double>(data_.prefix_count) / M;
    double inner = 0, outer = 0;
    for (int64_t j = 0; j < suffixes * size_; ++j) columns_[j] = 0;
    for (int64_t m = 0; m < groups; ++m) {
      double* cell = cells_ + m * suffixes * size_;
      average_orderings(cell, m);
      for (int64_t j = 0; j < suffixes * size_; ++j) columns_[j] += cell[j] / M;
      for (int64_t i = data_.groups[m]; i < data_.groups[m + 1]; ++i)
        for (int64_t j = 0; j < suffixes; ++j)
          inner += interaction(values_ + (i * suffixes + j) * size_, prefix_ + i * size_,
                               cell + j * size_, group_ + m * size_);
    }
    for (int64_t m = 0; m < groups; ++m)
      for (int64_t j = 0; j < suffixes; ++j)
        outer += interaction(cells_ + (m * suffixes + j) * size_, group_ + m * size_,
                             columns_ + j * size_, mean_);
    const double free = B > 1 ? B - 1 : 1;  // of one suffix (there is no other) nothing varies
    const double I = inner / (M * (R - 1) * free), J = outer / ((M - 1) * free);
    const double W = parts[PERMUTATION] * R / (R - 1), G = parts[BETWEEN] * M / (M - 1);
    parts[SUFFIX] = parts[SUFFIX] * B / free;
    parts[PERMUTATION] = W - I / B;
    parts[BETWEEN] = G - W / R - J / B + I / (R * B);
  }

  void average_orderings(double* cell, int64_t m) const {
    const int64_t row = data_.suffix_count * size_;
    const double share = 1 / static_cast<double>(data_.groups[m + 1] - data_.groups[m]);
    for (int64_t j = 0; j < row; ++j) {
      cell[j] = 0;
      for (int64_t i = data_.groups[m]; i < data_.groups[m + 1]; ++i)
        cell[j] += values_[i * row + j] * share;
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
