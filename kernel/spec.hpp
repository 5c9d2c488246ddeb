// The plain data that hosts and kernel exchange. No behaviour, no instruction set: every build of
// the kernel, the Python extension and the WebAssembly module see the same types.
#pragma once

#include <cstdint>

#include "options.hpp"

namespace dynascope {

/// Sequences and what they should give, row-major.
struct Examples {
  const int32_t* tokens;   // [count, length]
  const int32_t* targets;  // [count]
  int64_t count;
};

enum Set { TRAIN_SET, TEST_SET, UNSEEN_SET, SETS };

/// Parts of a model switched off: a position gets no attention, a hidden unit no activation. Or
/// attention that is held, the same for every sequence, whatever the scores are.
struct Ablation {
  const uint8_t* positions = nullptr;  // [length], 1 = cut; null: none
  const uint8_t* units = nullptr;      // [hidden]
  const double* attention = nullptr;   // [length], sums to 1; null: it follows the scores
};

/// Attention that is held while a run is trained: after the end of epoch `from`, up to that of
/// `to`.
struct Hold {
  int64_t from, to;
  const double* attention;  // [length]
};

/// All that a trainer is made from; the arrays are copied.
template <class T> struct TrainerInput {
  Shape shape;
  Training training;
  Examples sets[SETS];             // the last two may be empty
  uint64_t seed;                   // of the shuffles
  const T* start;                  // packed
  const uint8_t* frozen;           // packed, 1 = never moves; null: none
  bool gradients, full_gradients;  // record gradient norms of the steps, of the whole train set
  int64_t slots_since[SLOTS];      // steps done when each slot of the state began, at zero
  const Hold* holds;               // [hold_count]; at every epoch one of them at most
  int64_t hold_count;
};

/// Where a trainer writes; null pointers are skipped.
template <class T> struct Recorder {
  T* curves = nullptr;   // [epochs advanced, CURVES]
  T* weights = nullptr;  // packed, one row for each epoch divisible by weights_every
  int64_t weights_every = 0;
  T* states = nullptr;  // [kept, 3, packed]: weights, first and second moments
  int64_t state_every = 0;
  T* step_curves = nullptr;   // [steps, STEP_CURVES]: the batch before the step
  T* step_weights = nullptr;  // [steps, packed]: after the step
};

/// How far a trainer is. `diverged`: the epoch at which it blew up, or -1.
struct Progress {
  int64_t epoch, step_in_epoch, step, diverged;
};

/// What an epoch's curves are made from, over the steps that it has had. Numbers of the trainer's
/// own precision, which a double holds exactly, but for the sums.
struct EpochSoFar {
  double norm_sum[PARAMETERS], norm_max[PARAMETERS];  // of the gradient
  double shortest_embedding, shortest_sequence;
};

/// Every value between tokens and probabilities, row-major, one row per sequence; null = not
/// wanted.
template <class T> struct Activations {
#define X(name, ...) T* name;
  DYNASCOPE_STAGES(X)
#undef X
};

// ---- the circuit of a model ---------------------------------------------------------------------
/// Sequences as every combination of relevant tokens with irrelevant ones.
struct Crossed {
  int task;                  // a TaskKind: what the targets are, and which exchanges are symmetries
  const int32_t* positions;  // [relevant]
  int64_t relevant;
  const int32_t* prefixes;  // [prefix_count, relevant]: those of one group side by side
  const int32_t* groups;    // [group_count + 1]: where the prefixes of each group begin
  const int32_t* suffixes;  // [suffix_count, length - relevant]
  int64_t prefix_count, group_count, suffix_count;
  bool sampled;  // drawn, for each group as many prefixes: estimates are corrected for it
};

/// What is measured; null = not wanted.
struct CircuitMeasures {
#define X(name, ...) double* name;
  DYNASCOPE_MEASURES(X)
#undef X
};

/// How far a measurement is, in sequences that went through the feed-forward layer, which takes
/// most of its time; another thread may look at it meanwhile.
struct Meter {
  int64_t done, all;

  void expect(int64_t count) { __atomic_store_n(&all, all + count, __ATOMIC_RELAXED); }
  void add(int64_t count) { __atomic_store_n(&done, done + count, __ATOMIC_RELAXED); }
};

// ---- the sum that a circuit keeps (sum_terms.hpp) -----------------------------------------------
constexpr int MOST_SUMS = 2, MOST_APART = 2;

struct SumRule {
  double threshold;  // of the corrected share
  double rounding;   // of the mean square: a variance below it is none
  bool exhaustive;
};

/// A sum as counts: what token x at t adds to count j is terms[sum, t, x, j].
struct SumTable {
  const int32_t* terms;  // [MOST_SUMS, length, vocab, vocab]
  int32_t sums;
  int32_t apart[MOST_APART];  // positions, rising; -1: none
};

struct KeptSum {
  int32_t* terms;  // as in SumTable; given by the host
  int32_t sums, apart[MOST_APART], kind;
  double share, corrected, told_apart;
  int64_t values, tried;
  double best[SUM_UNEXPLAINED];  // the corrected share that each kind reached; NaN: not tried
};

}  // namespace dynascope
