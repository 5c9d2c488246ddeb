// Models as wasm.cpp hands them out, and the tables of names and shapes that its users read instead
// of keeping their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec.hpp"
#include "task_spec.hpp"
#include "wasm_checks.hpp"

namespace dynascope {

enum Table {
  PARAMETER_TABLE,
  STAGE_TABLE,    // in the order of Activations
  MEASURE_TABLE,  // in the order of CircuitMeasures
  ACTIVATION_TABLE,
  NORM_TABLE,
  RULE_TABLE,
  SCHEDULE_TABLE,
  TRAINING_TABLE,  // numbers that `trainer` takes, in order
  CURVE_TABLE,     // those with a column per parameter are the last four; of steps, the last
  STEP_CURVE_TABLE,
  TASK_TABLE,
  GROUPING_TABLE,
  TABLES
};

constexpr const char* STAGE_NAMES[] = {
    "embedding",           "normalized", "scores",       "attention", "values", "sequence",
    "sequence_normalized", "hidden",     "feed_forward", "output",    "logits", "probabilities"};
constexpr const char* MEASURE_NAMES[] = {
    "embedding",       "logits",    "accuracy",          "permutation_survival",
    "suffix_survival", "attention", "value_spread",      "value_size",
    "redraw",          "swap",      "without_attention", "without_value",
    "without_unit",    "clusters"};
constexpr int STAGES = 12, MEASURES = 14;
static_assert(sizeof(Activations<float>) == STAGES * sizeof(void*), "a name for each stage");
static_assert(sizeof(CircuitMeasures) == MEASURES * sizeof(void*), "a name for each measure");

struct Names {
  const char* const* first;
  int count;
};
template <size_t N> constexpr Names names(const char* const (&all)[N]) {
  return {all, static_cast<int>(N)};
}
constexpr Names NAMES[TABLES] = {
    names(PARAMETER_NAMES), names(STAGE_NAMES),      names(MEASURE_NAMES),  names(ACTIVATION_NAMES),
    names(NORM_NAMES),      names(RULE_NAMES),       names(SCHEDULE_NAMES), names(TRAINING_NAMES),
    names(CURVE_NAMES),     names(STEP_CURVE_NAMES), names(TASK_NAMES),     names(GROUPING_NAMES)};

struct Model {
  Shape shape;
  bool twice;  // double precision

  /// `f` called with a number of the model's precision, whose type is all that counts.
  template <class F> auto visit(F f) const { return twice ? f(double{}) : f(float{}); }

  /// As ds.forward and ds.loss_and_gradient see it: every embedding row is a token.
  Shape whole() const {
    Shape s = shape;
    s.vocab = s.embeddings;
    return s;
  }

  bool present(int p) const { return shape.bias || (p != RECEPTOR_BIAS && p != ASSEMBLER_BIAS); }

  /// Writes at most two sizes; returns how many.
  int dims_of(int table, int index, int relevant, int32_t* out) const {
    const auto R = static_cast<int32_t>(shape.embeddings), N = static_cast<int32_t>(shape.length);
    const auto d = static_cast<int32_t>(shape.dim), h = static_cast<int32_t>(shape.hidden);
    const int32_t k = relevant;
    struct Dims {
      int rank;
      int32_t size[2];
    };
    const Dims parameters[] = {{2, {R, d}}, {2, {N, d}}, {1, {d, 0}}, {2, {d, d}},
                               {2, {h, d}}, {1, {h, 0}}, {2, {d, h}}, {1, {d, 0}}};
    const Dims stages[] = {{2, {N, d}}, {2, {N, d}}, {1, {N, 0}}, {1, {N, 0}},
                           {2, {N, d}}, {1, {d, 0}}, {1, {d, 0}}, {1, {h, 0}},
                           {1, {d, 0}}, {1, {d, 0}}, {1, {R, 0}}, {1, {R, 0}}};
    const Dims measures[] = {{1, {SHARES, 0}}, {1, {SHARES, 0}}, {0, {}},     {0, {}},
                             {0, {}},          {1, {N, 0}},      {1, {N, 0}}, {0, {}},
                             {1, {N, 0}},      {2, {k, k}},      {1, {N, 0}}, {1, {N, 0}},
                             {1, {h, 0}},      {1, {4, 0}}};
    const Dims& found = table == PARAMETER_TABLE ? parameters[index]
                        : table == STAGE_TABLE   ? stages[index]
                                                 : measures[index];
    for (int i = 0; i < found.rank; ++i) out[i] = found.size[i];
    return found.rank;
  }

  int64_t size_of(int parameter) const {
    int32_t dims[2] = {1, 1};
    dims_of(PARAMETER_TABLE, parameter, 0, dims);
    return present(parameter) ? int64_t{dims[0]} * dims[1] : 0;
  }
  /// Where a parameter begins in packed weights; of PARAMETERS: where all end.
  int64_t offset_of(int parameter) const {
    int64_t at = 0;
    for (int p = 0; p < parameter; ++p) at += size_of(p);
    return at;
  }
  int64_t size() const { return offset_of(PARAMETERS); }
};

}  // namespace dynascope
