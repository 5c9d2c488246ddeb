// The one table of what the kernel has: parameters, stages, curves, measures, activations, norms,
// update rules, schedules, and every option with its default, its limits and its meaning.
//
// A fact of this kind stands here and nowhere else. The enumerations, structs, layouts and checks
// of the kernel follow from it; Python reads it from the extension (catalog_json.hpp, catalog.py);
// and scripts/generate writes the names and types that TypeScript and mypy know.
//
// Rows are only ever added at the end of their list: stores and streams of random numbers count on
// the order of what is there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dynascope {

// ---- limits -------------------------------------------------------------------------------------
constexpr int64_t MAX_WHOLE = (int64_t{1} << 53) - 1;  // what a browser holds exactly: seeds, steps
constexpr int64_t MAX_LENGTH = 1024;
constexpr int64_t MAX_VOCAB = 4096;
constexpr int64_t MAX_EMBEDDINGS = 8192;
constexpr int64_t MAX_DIM = 1024;
constexpr int64_t MAX_HIDDEN = 65536;
constexpr int64_t MAX_PAIRS = 1 << 20;      // token-position pairs: all are tabulated at every step
constexpr int64_t MAX_SEQUENCES = 1 << 24;  // in a data set
constexpr int64_t MAX_EPOCHS = 10000000;
constexpr int64_t MAX_MEASURED = 1 << 20;  // sequences up to which a circuit is measured on all
constexpr int64_t MAX_SUMMED = 16;  // tokens up to which the sum that a circuit keeps is sought
constexpr double MIN_TAU = 1e-6;    // its third power must be a number in float32

// ---- what shapes are made of --------------------------------------------------------------------
enum class Axis { NONE, EMBEDDINGS, LENGTH, DIM, HIDDEN, RELEVANT, FOUR };

// ---- parameters ---------------------------------------------------------------------------------
/// How initial weights are drawn, as PyTorch does: N(0, 1), or uniform within 1/sqrt(fan-in).
enum class Start { NORMAL, BY_DIM, BY_HIDDEN };
/// Which part of the model a parameter belongs to; the feed-forward has a learning rate of its own.
enum class Part { EMBEDDING, ATTENTION, FEED_FORWARD };

// X(id, name, symbol, rows, columns, start, part, whether it is there only with model.bias)
#define DYNASCOPE_PARAMETERS(X)                                                         \
  X(TOKEN_EMBEDDING, token_embedding, "E", EMBEDDINGS, DIM, NORMAL, EMBEDDING, false)   \
  X(POSITION_EMBEDDING, position_embedding, "P", LENGTH, DIM, NORMAL, EMBEDDING, false) \
  X(QUERY, query, "q", NONE, DIM, BY_DIM, ATTENTION, false)                             \
  X(VALUE, value, "V", DIM, DIM, BY_DIM, ATTENTION, false)                              \
  X(RECEPTORS, receptors, "W", HIDDEN, DIM, BY_DIM, FEED_FORWARD, false)                \
  X(RECEPTOR_BIAS, receptor_bias, "b1", NONE, HIDDEN, BY_DIM, FEED_FORWARD, true)       \
  X(ASSEMBLERS, assemblers, "U", DIM, HIDDEN, BY_HIDDEN, FEED_FORWARD, false)           \
  X(ASSEMBLER_BIAS, assembler_bias, "b2", NONE, DIM, BY_HIDDEN, FEED_FORWARD, true)

// ---- stages: every value between tokens and probabilities ---------------------------------------
// X(name, rows, columns, meaning); shapes are those of one sequence
#define DYNASCOPE_STAGES(X)                            \
  X(embedding, LENGTH, DIM, "E(x_t) + P(t)")           \
  X(normalized, LENGTH, DIM, "z")                      \
  X(scores, NONE, LENGTH, "z q / sqrt(d)")             \
  X(attention, NONE, LENGTH, "softmax of the scores")  \
  X(values, LENGTH, DIM, "V z")                        \
  X(sequence, NONE, DIM, "xi, the sequence embedding") \
  X(sequence_normalized, NONE, DIM, "norm(xi)")        \
  X(hidden, NONE, HIDDEN, "after the activation")      \
  X(feed_forward, NONE, DIM, "U hidden + b2")          \
  X(output, NONE, DIM, "psi = xi + feed_forward")      \
  X(logits, NONE, EMBEDDINGS, "E psi")                 \
  X(probabilities, NONE, EMBEDDINGS, "softmax of the logits")

// ---- measures of a circuit (docs/analysis.md says what each means) ------------------------------
// X(name, rows, columns, meaning); those without an axis are one number
#define DYNASCOPE_MEASURES(X)                                                                \
  X(embedding, NONE, FOUR, "variances of the sequence embedding (see Share)")                \
  X(logits, NONE, FOUR, "of the logits, centred over classes")                               \
  X(accuracy, NONE, NONE, "on all sequences of the design")                                  \
  X(permutation_survival, NONE, NONE, "how often the prediction survives a permutation")     \
  X(suffix_survival, NONE, NONE, "and a redraw of the irrelevant tokens")                    \
  X(attention, NONE, LENGTH, "mean attention of each position")                              \
  X(value_spread, NONE, LENGTH, "root mean square around the position's mean value")         \
  X(value_size, NONE, NONE, "root mean square of all values")                                \
  X(redraw, NONE, LENGTH, "variance of the sequence embedding from this token alone")        \
  X(swap, RELEVANT, RELEVANT, "from the order of two relevant tokens")                       \
  X(without_attention, NONE, LENGTH, "accuracy with this position's attention cut")          \
  X(without_value, NONE, LENGTH, "accuracy with its value replaced by the mean over tokens") \
  X(without_unit, NONE, HIDDEN, "accuracy with this hidden unit cut")                        \
  X(clusters, NONE, FOUR, "their number, gap, diameter; groups looked at")

/// A variance in parts: between groups, between orderings of one, between suffixes; and the
/// squared length of the mean, to which a variance of nothing but rounding can be compared.
enum Share { BETWEEN, PERMUTATION, SUFFIX, MEAN_SQUARE, SHARES };

// ---- kinds of sums that a circuit can keep, the simplest first (sum_terms.hpp) ------------------
// X(id, name)
#define DYNASCOPE_SUM_KINDS(X) \
  X(SUM_PLAIN, plain)          \
  X(SUM_SIGNED, signed)        \
  X(SUM_FOLDED, folded)        \
  X(SUM_SPLIT, split)          \
  X(SUM_TWO, two)              \
  X(SUM_UNEXPLAINED, unexplained)

/// A sum whose values the embedding does not tell apart is not one that it keeps: any statistic
/// that is fine enough explains it. Told apart is a value whose mean is farther from all others
/// than SUM_GAP times the spread within values, and so must be SUM_TOLD_APART of the values. (Of
/// 173 solved runs all had 0.19 or more, and with other positions taken for the relevant ones 0.)
constexpr double SUM_GAP = 3, SUM_TOLD_APART = 0.1;

// ---- curves: what is recorded each epoch --------------------------------------------------------
/// What a curve needs: a test set, or an option of the section `record`.
enum class Needs { NOTHING, TEST, UNSEEN, GRADIENTS, FULL_GRADIENTS };

// X(id, name, whether there is one for each parameter, needs, meaning)
#define DYNASCOPE_CURVES(X)                                                                       \
  X(TRAIN_LOSS, train_loss, false, NOTHING, "on the whole train set, after each epoch")           \
  X(TEST_LOSS, test_loss, false, TEST, "on the test set")                                         \
  X(UNSEEN_LOSS, unseen_loss, false, UNSEEN, "on sequences that the train set lacks")             \
  X(TRAIN_ACCURACY, train_accuracy, false, NOTHING, "on the whole train set")                     \
  X(TEST_ACCURACY, test_accuracy, false, TEST, "on the test set")                                 \
  X(UNSEEN_ACCURACY, unseen_accuracy, false, UNSEEN, "on sequences that the train set lacks")     \
  X(MIN_NORM_EMBEDDING, min_norm_embedding, false, NOTHING, "shortest embedding normalised")      \
  X(MIN_NORM_SEQUENCE, min_norm_sequence, false, NOTHING, "shortest sequence embedding")          \
  X(GRAD_NORM, grad_norm, true, GRADIENTS, "mean gradient norm over the epoch's steps")           \
  X(GRAD_NORM_MAX, grad_norm_max, true, GRADIENTS, "the largest of them")                         \
  X(UPDATE_RATIO, update_ratio, true, NOTHING, "how far the epoch moved it, over its length")     \
  X(FULL_GRAD_NORM, full_grad_norm, true, FULL_GRADIENTS, "gradient norm on the whole train set") \
  X(WEIGHT_NORM, weight_norm, true, NOTHING, "length of the parameter after the epoch")

// And each step, when asked for: of the batch, before the step.
#define DYNASCOPE_STEP_CURVES(X)                                                              \
  X(STEP_LOSS, loss, false, NOTHING, "mean over the batch")                                   \
  X(STEP_MIN_NORM_EMBEDDING, min_norm_embedding, false, NOTHING, "shortest embedding")        \
  X(STEP_MIN_NORM_SEQUENCE, min_norm_sequence, false, NOTHING, "shortest sequence embedding") \
  X(STEP_GRAD_NORM, grad_norm, true, NOTHING, "gradient norm")

// ---- words that an option can be ----------------------------------------------------------------
// X(id, name, struct in math.hpp, max |f'| rounded up,
//   how far from 0 it is a ramp but for 0.003 (0: it is none), whether f(a x) = a f(x) for a > 0)
// gelu is steepest at sqrt(2), since gelu'' = phi(x) (2 - x^2); silu where x tanh(x/2) = 2.
#define DYNASCOPE_ACTIVATIONS(X)                \
  X(GELU, gelu, Gelu, 1.1289041452, 4.0, false) \
  X(RELU, relu, Relu, 1.0, 1.0, true)           \
  X(SILU, silu, Silu, 1.0998393202, 8.0, false) \
  X(TANH, tanh, Tanh, 1.0, 0.0, false)

// X(id, name); normalize.hpp has the formulas
#define DYNASCOPE_NORMS(X) \
  X(RMS, rms)              \
  X(UNIT, unit)            \
  X(SMOOTH, smooth)        \
  X(NONE, none)

/// In which metric a rule follows the gradient: its own, that of Adam's second moments, or none
/// that is linear in the gradient.
enum class Metric { PLAIN, SECOND_MOMENT, NONLINEAR };

constexpr int SLOTS = 2;  // of an optimizer's state, besides the weights

// X(id, name, what the slots of its state hold ("": nothing), metric, whether weight decay is
//   apart from the gradient)
#define DYNASCOPE_RULES(X)                                              \
  X(SGD, sgd, "momentum", "", PLAIN, false)                             \
  X(ADAM, adam, "first_moment", "second_moment", SECOND_MOMENT, false)  \
  X(ADAMW, adamw, "first_moment", "second_moment", SECOND_MOMENT, true) \
  X(LION, lion, "momentum", "", NONLINEAR, true)                        \
  X(MUON, muon, "first_moment", "second_moment", NONLINEAR, true)

// X(id, name, whether it ends with the run: then a longer run is another run)
#define DYNASCOPE_SCHEDULES(X) \
  X(CONSTANT, constant, false) \
  X(WARMUP, warmup, false)     \
  X(COSINE, cosine, true)

/// Which prefixes (relevant tokens, in the order of their positions) form a group. All of a group
/// have the same target, and what takes one to another is a symmetry of the task.
enum class Grouping {
  MULTISETS,  // the same tokens in any order
  PAIRS       // neighbours as unordered pairs (first and second, third and fourth), in any order
};

// X(id, name, grouping). The target of each is in task.hpp's `target_of`, the distribution of its
// targets in class_shares.hpp.
#define DYNASCOPE_TASKS(X)                           \
  X(MODULAR_ADDITION, "modular-addition", MULTISETS) \
  X(MOST_FREQUENT, "most-frequent", MULTISETS)       \
  X(PRODUCTS, "products", PAIRS)

// ---- enumerations and rows ----------------------------------------------------------------------
#define X(id, ...) id,
enum Parameter { DYNASCOPE_PARAMETERS(X) PARAMETERS };
enum Activation { DYNASCOPE_ACTIVATIONS(X) ACTIVATIONS };
enum Norm { DYNASCOPE_NORMS(X) NORMS };
enum Rule { DYNASCOPE_RULES(X) RULES };
enum Schedule { DYNASCOPE_SCHEDULES(X) SCHEDULES };
enum TaskKind { DYNASCOPE_TASKS(X) TASKS };
enum SumKind { DYNASCOPE_SUM_KINDS(X) SUM_KINDS };
#undef X

// A curve with one column per parameter has so many; the next begins after them.
#define X(id, name, each, ...) id, id##_END = id + (each ? PARAMETERS : 1) - 1,
enum Curve { DYNASCOPE_CURVES(X) CURVES };
enum StepCurve { DYNASCOPE_STEP_CURVES(X) STEP_CURVES };
#undef X

struct ParameterRow {
  const char *name, *symbol;
  Axis rows, columns;
  Start start;
  Part part;
  bool bias;
};
constexpr ParameterRow PARAMETER_ROWS[] = {
#define X(id, name, symbol, rows, columns, start, part, bias) \
  {#name, symbol, Axis::rows, Axis::columns, Start::start, Part::part, bias},
    DYNASCOPE_PARAMETERS(X)
#undef X
};

struct ShapeRow {
  const char* name;
  Axis rows, columns;
  const char* meaning;
};
#define X(name, rows, columns, meaning) {#name, Axis::rows, Axis::columns, meaning},
constexpr ShapeRow STAGE_ROWS[] = {DYNASCOPE_STAGES(X)};
constexpr ShapeRow MEASURE_ROWS[] = {DYNASCOPE_MEASURES(X)};
#undef X
constexpr int STAGES = sizeof STAGE_ROWS / sizeof *STAGE_ROWS;
constexpr int MEASURES = sizeof MEASURE_ROWS / sizeof *MEASURE_ROWS;

struct CurveRow {
  const char* name;
  bool each;  // one column per parameter
  Needs needs;
  const char* meaning;
};
#define X(id, name, each, needs, meaning) {#name, each, Needs::needs, meaning},
constexpr CurveRow CURVE_ROWS[] = {DYNASCOPE_CURVES(X)};
constexpr CurveRow STEP_CURVE_ROWS[] = {DYNASCOPE_STEP_CURVES(X)};
#undef X

struct ActivationRow {
  const char* name;
  double steepest, ramp;
  bool homogeneous;
};
constexpr ActivationRow ACTIVATION_ROWS[] = {
#define X(id, name, type, steepest, ramp, homogeneous) {#name, steepest, ramp, homogeneous},
    DYNASCOPE_ACTIVATIONS(X)
#undef X
};

struct RuleRow {
  const char *name, *slots[SLOTS];
  Metric metric;
  bool decoupled_decay;
};
constexpr RuleRow RULE_ROWS[] = {
#define X(id, name, first, second, metric, decoupled) \
  {#name, {first, second}, Metric::metric, decoupled},
    DYNASCOPE_RULES(X)
#undef X
};

struct ScheduleRow {
  const char* name;
  bool ends;
};
constexpr ScheduleRow SCHEDULE_ROWS[] = {
#define X(id, name, ends) {#name, ends},
    DYNASCOPE_SCHEDULES(X)
#undef X
};

#define X(id, name, grouping) name,
constexpr const char* TASK_NAMES[] = {DYNASCOPE_TASKS(X)};
#undef X
#define X(id, name, grouping) Grouping::grouping,
constexpr Grouping TASK_GROUPINGS[] = {DYNASCOPE_TASKS(X)};
#undef X

struct WordList {
  const char* const* first;
  int count;
};
template <size_t N> constexpr WordList words(const char* const (&all)[N]) {
  return {all, static_cast<int>(N)};
}
#define X(id, name, ...) #name,
constexpr const char* ACTIVATION_NAMES[] = {DYNASCOPE_ACTIVATIONS(X)};
constexpr const char* NORM_NAMES[] = {DYNASCOPE_NORMS(X)};
constexpr const char* RULE_NAMES[] = {DYNASCOPE_RULES(X)};
constexpr const char* SCHEDULE_NAMES[] = {DYNASCOPE_SCHEDULES(X)};
constexpr const char* SUM_KIND_NAMES[] = {DYNASCOPE_SUM_KINDS(X)};
#undef X
constexpr const char* UNIT_ROW_NAMES[] = {"token_embedding", "position_embedding"};
constexpr const char* PRECISION_NAMES[] = {"float32", "float64"};

}  // namespace dynascope
