// How often each class is the right one, over all sequences of a task. The greatest of these shares
// is the chance level: the accuracy of the best answer that does not look at the sequence.
//
// Sums and products of positive numbers only: exact but for rounding.
#pragma once

#include "arena.hpp"
#include "no_value.hpp"
#include "task.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

class ClassShares {
 public:
  ClassShares(const TaskSpec& t, Arena& arena) : task_(t) {
    if (too_dear()) return;
    const int64_t size = t.kind == MOST_FREQUENT ? t.vocab * (t.relevant + 1) : t.vocab;
    one_ = arena.take<double>(t.kind == MOST_FREQUENT ? t.relevant + 1 : size);
    first_ = arena.take<double>(size);
    second_ = arena.take<double>(size);
  }

  /// shares [vocab]; NaN where finding them would take too long.
  void find(double* shares) {
    for (int64_t c = 0; c < task_.vocab; ++c) shares[c] = too_dear() ? no_value<double>() : 0;
    if (too_dear()) return;
    if (task_.kind == MOST_FREQUENT) most_frequent_shares(shares);
    else if (task_.kind == PRODUCTS) product_shares(shares);
    else  // a sum with a uniform token in it is uniform
      for (int64_t c = 0; c < task_.vocab; ++c) shares[c] = 1;
    double total = 0;
    for (int64_t c = 0; c < task_.vocab; ++c) total += shares[c];
    for (int64_t c = 0; c < task_.vocab; ++c) shares[c] /= total;
  }

 private:
  static constexpr double MOST_WORK = 0x1p28;  // operations: about a fifth of a second
  TaskSpec task_;
  double *one_ = nullptr, *first_ = nullptr, *second_ = nullptr;

  bool too_dear() const {
    const auto p = static_cast<double>(task_.vocab), k = static_cast<double>(task_.relevant);
    return task_.kind == MOST_FREQUENT && p * k * k * k > MOST_WORK;
  }

  /// The numbers of times n_a that each token comes are Poisson numbers of rate k/p, given that
  /// their sum is k. Class c is right with m times when smaller tokens come at most m - 1 times and
  /// larger ones at most m:
  ///
  ///   share(c) ~ sum_m [x^k]  q_m x^m  F_{m-1}(x)^c  F_m(x)^{p-1-c},   F_m = sum_{j<=m} q_j x^j
  void most_frequent_shares(double* shares) {
    const int64_t p = task_.vocab, k = task_.relevant, width = k + 1;
    poisson(static_cast<double>(k) / static_cast<double>(p), k);
    double *below = first_, *up_to = second_;  // [p, k + 1]: powers of F_{m-1} and of F_m
    powers(below, 0);
    for (int64_t m = 1; m <= k; ++m, std::swap(below, up_to)) {
      powers(up_to, m);
      for (int64_t c = 0; c < p; ++c) {
        const double *smaller = below + c * width, *larger = up_to + (p - 1 - c) * width;
        double total = 0;
        for (int64_t j = 0; j <= k - m; ++j) total += smaller[j] * larger[k - m - j];
        shares[c] += one_[m] * total;
      }
    }
  }

  void poisson(double rate, int64_t most) {
    double total = one_[0] = 1;
    for (int64_t j = 1; j <= most; ++j) {
      one_[j] = one_[j - 1] * rate / static_cast<double>(j);
      total += one_[j];
    }
    for (int64_t j = 0; j <= most; ++j) one_[j] /= total;
  }

  /// out [p, k + 1]: the powers 0 to p - 1 of the numbers up to m, cut off after x^k.
  void powers(double* out, int64_t m) {
    const int64_t k = task_.relevant, width = k + 1;
    for (int64_t j = 0; j <= k; ++j) out[j] = j == 0;
    for (int64_t power = 1; power < task_.vocab; ++power) {
      const double* last = out + (power - 1) * width;
      double* next = out + power * width;
      for (int64_t j = 0; j <= k; ++j) next[j] = 0;
      for (int64_t a = 0; a <= m; ++a)
        for (int64_t j = a; j <= k; ++j) next[j] += one_[a] * last[j - a];
    }
  }

  /// The distribution of one product, added up as often as there are pairs: by squaring.
  void product_shares(double* shares) {
    const int64_t p = task_.vocab;
    const double each = 1 / (static_cast<double>(p) * static_cast<double>(p));
    for (int64_t r = 0; r < p; ++r) one_[r] = 0;
    for (int64_t x = 0; x < p; ++x)
      for (int64_t y = 0, r = 0; y < p; ++y, r = (r + x) % p) one_[r] += each;
    double *sum = first_, *next = second_;
    for (int64_t r = 0; r < p; ++r) sum[r] = r == 0;
    for (int64_t left = task_.relevant / 2; left > 0; left /= 2) {
      if (left % 2) {
        add_modulo(next, sum, one_);
        std::swap(sum, next);
      }
      if (left == 1) break;
      add_modulo(next, one_, one_);
      for (int64_t r = 0; r < p; ++r) one_[r] = next[r];
    }
    for (int64_t r = 0; r < p; ++r) shares[r] = sum[r];
  }

  /// The distribution of the sum of two independent numbers, modulo p.
  void add_modulo(double* out, const double* a, const double* b) const {
    const int64_t p = task_.vocab;
    for (int64_t r = 0; r < p; ++r) out[r] = 0;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t j = 0; j < p - i; ++j) out[i + j] += a[i] * b[j];
      for (int64_t j = p - i; j < p; ++j) out[i + j - p] += a[i] * b[j];
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
