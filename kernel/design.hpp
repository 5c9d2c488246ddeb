// The sequences that a model is measured on: all of them, or a sample where there are more than
// 2^20. Either way every choice of relevant tokens (prefix) is combined with every choice of
// irrelevant ones (suffix), which is what lets a variance be taken apart exactly (variance.hpp).
#pragma once

#include "arena.hpp"
#include "task.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

class Design {
 public:
  Design(const TaskSpec& t, Arena& arena) : task_(t), sizes_(sizes(t)) {
    keys_ = arena.take<int64_t>(sizes_.sampled ? 0 : sizes_.prefix_count);
    row_ = arena.take<int32_t>(t.relevant);
    order_ = arena.take<uint32_t>(t.relevant);
  }

  static DesignSizes sizes(const TaskSpec& t) {
    const int64_t rest = t.length - t.relevant;
    if (power(t.vocab, t.length) > MAX_MEASURED)
      return {ORDERINGS * DRAWN_GROUPS, DRAWN_GROUPS, rest > 0 ? SUFFIXES : 1, true};
    return {power(t.vocab, t.relevant), static_cast<int64_t>(count_groups(t)), power(t.vocab, rest),
            false};
  }

  /// prefixes [prefix_count, relevant], those of a group side by side; groups [group_count + 1]:
  /// where each begins; suffixes [suffix_count, length - relevant].
  void write(int32_t* prefixes, int32_t* groups, int32_t* suffixes) {
    if (sizes_.sampled) sample(prefixes, groups, suffixes);
    else everything(prefixes, groups, suffixes);
  }

 private:
  static constexpr int64_t DRAWN_GROUPS = 256, ORDERINGS = 2, SUFFIXES = 128;  // 65536 sequences
  static constexpr uint32_t BLOCK = 1 << 16;  // rows between the parts of the sample's stream
  TaskSpec task_;
  DesignSizes sizes_;
  int64_t* keys_;
  int32_t* row_;
  uint32_t* order_;

  /// base^exponent, or something above MAX_MEASURED.
  static int64_t power(int64_t base, int64_t exponent) {
    int64_t product = 1;
    for (int64_t i = 0; i < exponent && product <= MAX_MEASURED; ++i) product *= base;
    return product;
  }

  /// Groups in the order of their canonical forms, prefixes within them in the order of digits.
  void everything(int32_t* prefixes, int32_t* groups, int32_t* suffixes) {
    const int64_t count = sizes_.prefix_count, k = task_.relevant;
    for (int64_t i = 0; i < count; ++i) {
      enumerate_sequences(row_, i, 1, k, task_.vocab);
      make_canonical(task_.kind, row_, k);
      int64_t canonical = 0;
      for (int64_t j = 0; j < k; ++j) canonical = canonical * task_.vocab + row_[j];
      keys_[i] = canonical * count + i;
    }
    sort_rising(keys_, count);
    int64_t group = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (i == 0 || keys_[i] / count != keys_[i - 1] / count)
        groups[group++] = static_cast<int32_t>(i);
      enumerate_sequences(prefixes + i * k, keys_[i] % count, 1, k, task_.vocab);
    }
    groups[group] = static_cast<int32_t>(count);
    enumerate_sequences(suffixes, 0, sizes_.suffix_count, task_.length - k, task_.vocab);
  }

  /// Groups as uniform prefixes have them, two random prefixes of each, and uniform suffixes.
  void sample(int32_t* prefixes, int32_t* groups, int32_t* suffixes) {
    const int64_t k = task_.relevant;
    for (int64_t m = 0; m <= DRAWN_GROUPS; ++m) groups[m] = static_cast<int32_t>(ORDERINGS * m);
    for (int64_t i = 0; i < sizes_.prefix_count; ++i) {
      draw_sequences(row_, i / ORDERINGS, 1, k, task_.vocab, 0, SAMPLE);
      reorder(prefixes + i * k, static_cast<uint32_t>(i));
    }
    draw_sequences(suffixes, BLOCK, sizes_.suffix_count, task_.length - k, task_.vocab, 0, SAMPLE);
  }

  /// A uniform member of the group of the prefix in `row_`: the i-th of the sample.
  void reorder(int32_t* prefix, uint32_t i) {
    const int64_t k = task_.relevant;
    if (TASK_GROUPINGS[task_.kind] == Grouping::MULTISETS) {
      shuffle(order_, static_cast<uint32_t>(k), 0, BLOCK + i);
      for (int64_t j = 0; j < k; ++j) prefix[j] = row_[order_[j]];
      return;
    }
    shuffle(order_, static_cast<uint32_t>(k / 2), 0, BLOCK + i);
    Words flips(0, SAMPLE, 2 * BLOCK + i);
    for (int64_t j = 0; j < k / 2; ++j) {
      const uint32_t flip = flips.below(2, static_cast<uint32_t>(j)), from = 2 * order_[j];
      prefix[2 * j] = row_[from + flip];
      prefix[2 * j + 1] = row_[from + 1 - flip];
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
