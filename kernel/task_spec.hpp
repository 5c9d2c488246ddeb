// What hosts and kernel exchange about a task. The list of tasks: catalog.hpp; what each does:
// task.hpp.
#pragma once

#include <cstdint>

#include "catalog.hpp"

namespace dynascope {

struct TaskSpec {
  int kind;
  int64_t length, vocab;
  const int32_t* positions;  // [relevant], rising
  int64_t relevant;
};

/// What is wrong with a task, in a sentence; null: nothing.
inline const char* problem_of(const TaskSpec& t) {
  if (t.kind < 0 || t.kind >= TASKS) return "name: expected one of the kernel's tasks.";
  if (t.length < 1 || t.length > MAX_LENGTH) return "length: expected 1 to 1024 positions.";
  if (t.vocab < 2 || t.vocab > MAX_VOCAB) return "vocab: expected 2 to 4096 tokens.";
  if (t.relevant < 1 || t.relevant > t.length)
    return "relevant: expected at least one position, and at most all.";
  for (int64_t i = 0; i < t.relevant; ++i) {
    if (t.positions[i] < 0 || t.positions[i] >= t.length)
      return "positions: expected numbers from 0 to below the length.";
    if (i > 0 && t.positions[i] <= t.positions[i - 1]) return "positions: expected rising numbers.";
  }
  if (TASK_GROUPINGS[t.kind] == Grouping::PAIRS && t.relevant % 2)
    return "relevant: expected an even number of positions, which this task takes in pairs.";
  return nullptr;
}

// ---- the sequences that a model is measured on --------------------------------------------------
/// Every prefix is combined with every suffix. `sampled`: they are drawn, for each group as many.
struct DesignSizes {
  int64_t prefix_count, group_count, suffix_count;
  bool sampled;
};

}  // namespace dynascope
