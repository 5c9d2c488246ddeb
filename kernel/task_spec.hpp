// The list of tasks, and what hosts and kernel exchange about one. What each task does: task.hpp.
#pragma once

#include <cstdint>

namespace dynascope {

/// Which prefixes (relevant tokens, in the order of their positions) form a group. All of a group
/// have the same target, and what takes one to another is a symmetry of the task.
enum Grouping {
  MULTISETS,  // the same tokens in any order
  PAIRS       // neighbours as unordered pairs (first and second, third and fourth), in any order
};
constexpr const char* GROUPING_NAMES[] = {"multisets", "pairs"};

/// Identifier, name, grouping. The target of each is in task.hpp's `target_of`, the distribution of
/// its targets in class_shares.hpp.
#define DYNASCOPE_TASKS(X)                           \
  X(MODULAR_ADDITION, "modular-addition", MULTISETS) \
  X(MOST_FREQUENT, "most-frequent", MULTISETS)       \
  X(PRODUCTS, "products", PAIRS)

#define X(identifier, name, grouping) identifier,
enum TaskKind { DYNASCOPE_TASKS(X) TASKS };
#undef X
#define X(identifier, name, grouping) name,
constexpr const char* TASK_NAMES[TASKS] = {DYNASCOPE_TASKS(X)};
#undef X
#define X(identifier, name, grouping) grouping,
constexpr Grouping TASK_GROUPINGS[TASKS] = {DYNASCOPE_TASKS(X)};
#undef X

struct TaskSpec {
  int kind;
  int64_t length, vocab;
  const int32_t* positions;  // [relevant], rising
  int64_t relevant;
};

constexpr int64_t MAX_LENGTH = 1024, MAX_VOCAB = 4096;

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
  if (TASK_GROUPINGS[t.kind] == PAIRS && t.relevant % 2)
    return "relevant: expected an even number of positions, which this task takes in pairs.";
  return nullptr;
}

// ---- the sequences that a model is measured on --------------------------------------------------
constexpr int64_t MAX_MEASURED = int64_t{1} << 20;  // up to here all sequences are measured

/// Every prefix is combined with every suffix. `sampled`: they are drawn, for each group as many.
struct DesignSizes {
  int64_t prefix_count, group_count, suffix_count;
  bool sampled;
};

}  // namespace dynascope
