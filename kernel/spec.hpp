// The plain data that hosts and kernel exchange. No behaviour, no instruction set: every build of
// the kernel, the Python extension and the WebAssembly module see the same types.
#pragma once

#include <cstdint>

namespace dynascope {

enum Parameter {
  TOKEN_EMBEDDING,     // E [embeddings, dim]
  POSITION_EMBEDDING,  // P [length, dim]
  QUERY,               // q [dim]
  VALUE,               // V [dim, dim]
  RECEPTORS,           // W [hidden, dim]
  RECEPTOR_BIAS,       // b1 [hidden]
  ASSEMBLERS,          // U [dim, hidden]
  ASSEMBLER_BIAS,      // b2 [dim]
  PARAMETERS
};

constexpr const char* PARAMETER_NAMES[PARAMETERS] = {
    "token_embedding", "position_embedding", "query",      "value",
    "receptors",       "receptor_bias",      "assemblers", "assembler_bias"};

enum Activation { GELU, RELU, SILU };
constexpr const char* ACTIVATION_NAMES[] = {"gelu", "relu", "silu"};
enum Norm { RMS, UNIT, SMOOTH, NONE };
constexpr const char* NORM_NAMES[] = {"rms", "unit", "smooth", "none"};
enum Rule { SGD, ADAM, ADAMW };
constexpr const char* RULE_NAMES[] = {"sgd", "adam", "adamw"};
enum Schedule { CONSTANT, WARMUP, COSINE };
constexpr const char* SCHEDULE_NAMES[] = {"constant", "warmup", "cosine"};

struct Shape {
  int64_t vocab;       // p: tokens of the task
  int64_t embeddings;  // rows of E and output classes, at least p
  int64_t length;      // N
  int64_t dim;         // d
  int64_t hidden;      // h
  bool bias;
  int activation, norm;
  double norm_eps, norm_tau;
};

struct Training {
  int rule, schedule;
  double lr, momentum, beta1, beta2, eps, weight_decay;
  double clip;             // greatest gradient norm; 0: no limit
  double mlp_lr_discount;  // the feed-forward's learning rate is divided by it
  double lr_final;         // the cosine ends here
  int64_t warmup;          // steps
  int64_t batch;
  int64_t epochs;      // the cosine's length; training may stop earlier or go on
  double query_limit;  // greatest |q|; 0: none
  bool unit_rows[2];   // rows of E, of P put to unit length after each step
};

/// Sequences and what they should give, row-major.
struct Examples {
  const int32_t* tokens;   // [count, length]
  const int32_t* targets;  // [count]
  int64_t count;
};

enum Set { TRAIN_SET, TEST_SET, UNSEEN_SET, SETS };

/// All that a trainer is made from; the arrays are copied.
template <class T> struct TrainerInput {
  Shape shape;
  Training training;
  Examples sets[SETS];             // the last two may be empty
  uint64_t seed;                   // of the shuffles
  const T* start;                  // packed
  const uint8_t* frozen;           // packed, 1 = never moves; null: none
  bool gradients, full_gradients;  // record gradient norms of the steps, of the whole train set
};

/// Parts of a model switched off: a position gets no attention, a hidden unit no activation.
struct Ablation {
  const uint8_t* positions;  // [length], 1 = cut; null: none
  const uint8_t* units;      // [hidden]
};

// ---- what is recorded each epoch: one row of curves ---------------------------------------------
enum Curve {
  TRAIN_LOSS,
  TEST_LOSS,
  UNSEEN_LOSS,
  TRAIN_ACCURACY,
  TEST_ACCURACY,
  UNSEEN_ACCURACY,
  MIN_NORM_EMBEDDING,
  MIN_NORM_SEQUENCE,
  GRAD_NORM,  // followed by one column per parameter, as are the next three
  GRAD_NORM_MAX = GRAD_NORM + PARAMETERS,
  UPDATE_RATIO = GRAD_NORM_MAX + PARAMETERS,
  FULL_GRAD_NORM = UPDATE_RATIO + PARAMETERS,
  CURVES = FULL_GRAD_NORM + PARAMETERS
};
constexpr const char* CURVE_NAMES[] = {"train_loss",         "test_loss",         "unseen_loss",
                                       "train_accuracy",     "test_accuracy",     "unseen_accuracy",
                                       "min_norm_embedding", "min_norm_sequence", "grad_norm",
                                       "grad_norm_max",      "update_ratio",      "full_grad_norm"};

// ---- and each step, when asked for --------------------------------------------------------------
enum StepCurve {
  STEP_LOSS,
  STEP_MIN_NORM_EMBEDDING,
  STEP_MIN_NORM_SEQUENCE,
  STEP_GRAD_NORM,
  STEP_CURVES = STEP_GRAD_NORM + PARAMETERS
};
constexpr const char* STEP_CURVE_NAMES[] = {"loss", "min_norm_embedding", "min_norm_sequence",
                                            "grad_norm"};

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

/// Every value between tokens and probabilities, row-major, one row per sequence; null = not
/// wanted.
template <class T> struct Activations {
  T* embedding;            // [count, length, dim]
  T* normalized;           // [count, length, dim]
  T* scores;               // [count, length]
  T* attention;            // [count, length]
  T* values;               // [count, length, dim]
  T* sequence;             // [count, dim]
  T* sequence_normalized;  // [count, dim]
  T* hidden;               // [count, hidden]
  T* feed_forward;         // [count, dim]
  T* output;               // [count, dim]
  T* logits;               // [count, embeddings]
  T* probabilities;        // [count, embeddings]
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

/// A variance in parts: between groups, between the prefixes of one, between suffixes; and the
/// squared length of the mean, to which a variance of nothing but rounding can be compared.
enum Share { BETWEEN, PERMUTATION, SUFFIX, MEAN_SQUARE, SHARES };

/// What is measured; null = not wanted.
struct CircuitMeasures {
  double* embedding;             // [SHARES]: variances of the sequence embedding
  double* logits;                // [SHARES]: of the logits, centred over classes
  double* accuracy;              // [1]
  double* permutation_survival;  // [1]
  double* suffix_survival;       // [1]
  double* attention;             // [length]
  double* value_spread;          // [length]: root mean square around the position's mean value
  double* value_size;            // [1]: root mean square of all values
  double* redraw;             // [length]: variance of the sequence embedding from this token alone
  double* swap;               // [relevant, relevant]: from the order of two relevant tokens; NaN
                              // where exchanging them is not a symmetry
  double* without_attention;  // [length]: accuracies
  double* without_value;      // [length]
  double* without_unit;       // [hidden]
  double* clusters;           // [4]: their number, gap, diameter; groups looked at
};

}  // namespace dynascope
