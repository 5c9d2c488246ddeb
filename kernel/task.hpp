// What a task asks for: targets, and the groups of prefixes that its symmetries make.
//
// A prefix is what stands at the relevant positions, in their order. Nothing else matters to a
// target: that irrelevant tokens can be redrawn is a symmetry of every task.
#pragma once

#include <cstdint>

#include "draw.hpp"
#include "sort.hpp"
#include "task_spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

// ---- targets ------------------------------------------------------------------------------------
inline int32_t modular_sum(const int32_t* prefix, int64_t size, int64_t vocab) {
  int64_t total = 0;
  for (int64_t i = 0; i < size; ++i) total += prefix[i];
  return static_cast<int32_t>(total % vocab);
}

/// The token that comes most often; of several, the smallest.
inline int32_t most_frequent(const int32_t* prefix, int64_t size) {
  int32_t times[MAX_VOCAB];  // only those of tokens that come at all are set
  for (int64_t i = 0; i < size; ++i) times[prefix[i]] = 0;
  for (int64_t i = 0; i < size; ++i) ++times[prefix[i]];
  int32_t best = prefix[0];
  for (int64_t i = 1; i < size; ++i) {
    const int32_t token = prefix[i], lead = times[token] - times[best];
    if (lead > 0 || (lead == 0 && token < best)) best = token;
  }
  return best;
}

inline int32_t sum_of_products(const int32_t* prefix, int64_t size, int64_t vocab) {
  int64_t total = 0;
  for (int64_t i = 0; i + 1 < size; i += 2) total += int64_t{prefix[i]} * prefix[i + 1];
  return static_cast<int32_t>(total % vocab);
}

/// The right class of a prefix.
inline int32_t target_of(int kind, const int32_t* prefix, int64_t size, int64_t vocab) {
  switch (kind) {
    case MOST_FREQUENT: return most_frequent(prefix, size);
    case PRODUCTS: return sum_of_products(prefix, size, vocab);
    default: return modular_sum(prefix, size, vocab);
  }
}

/// targets [count] of tokens [count, length].
inline void find_targets(int32_t* targets, const int32_t* tokens, int64_t count,
                         const TaskSpec& t) {
  int32_t prefix[MAX_LENGTH];
  for (int64_t i = 0; i < count; ++i, tokens += t.length) {
    for (int64_t k = 0; k < t.relevant; ++k) prefix[k] = tokens[t.positions[k]];
    targets[i] = target_of(t.kind, prefix, t.relevant, t.vocab);
  }
}

// ---- groups -------------------------------------------------------------------------------------
/// Whether exchanging the i-th and the j-th relevant token is a symmetry.
inline bool exchangeable(int kind, int64_t i, int64_t j) {
  return TASK_GROUPINGS[kind] == Grouping::MULTISETS || i / 2 == j / 2;
}

/// Pairs in rising order, the smaller token of each first.
inline void sort_pairs(int32_t* prefix, int64_t size) {
  for (int64_t i = 0; i + 1 < size; i += 2) {
    const bool falling = prefix[i + 1] < prefix[i];
    const int32_t low = prefix[i + falling], high = prefix[i + !falling];
    int64_t at = i;
    for (; at > 0; at -= 2) {
      const int32_t* before = prefix + at - 2;
      if (before[0] < low || (before[0] == low && before[1] <= high)) break;
      prefix[at] = before[0];
      prefix[at + 1] = before[1];
    }
    prefix[at] = low;
    prefix[at + 1] = high;
  }
}

/// Puts a prefix in the form that stands for its group: the first of the group, in the order of
/// digits.
inline void make_canonical(int kind, int32_t* prefix, int64_t size) {
  if (TASK_GROUPINGS[kind] == Grouping::PAIRS) sort_pairs(prefix, size);
  else sort_rising(prefix, size);
}

/// C(kinds + size - 1, size): multisets of so many things of so many kinds. Infinite beyond 2^40.
inline double count_multisets(double kinds, int64_t size) {
  const double all = kinds + static_cast<double>(size) - 1;
  const auto wanted = static_cast<double>(size);
  const double few = wanted < kinds - 1 ? wanted : kinds - 1;
  double count = 1;
  for (double i = 1; i <= few; ++i) {
    count = __builtin_floor(count * (all - few + i) / i + 0.5);  // a binomial coefficient each
    if (count > 0x1p40) return __builtin_huge_val();
  }
  return count;
}

/// How many groups there are.
inline double count_groups(const TaskSpec& t) {
  const auto p = static_cast<double>(t.vocab);
  if (TASK_GROUPINGS[t.kind] == Grouping::PAIRS)
    return count_multisets(p * (p + 1) / 2, t.relevant / 2);
  return count_multisets(p, t.relevant);
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
