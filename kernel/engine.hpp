// The kernel as its hosts see it: one table of functions per instruction set and precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec.hpp"
#include "task_spec.hpp"

namespace dynascope {

/// Trainers live in memory that the host provides: `trainer_bytes` of it, aligned to 64.
template <class T> struct Engine {
  uint64_t (*trainer_bytes)(const TrainerInput<T>&);
  void* (*make_trainer)(const TrainerInput<T>&, void* memory);
  void (*advance)(void* trainer, int64_t epochs, int64_t steps, Recorder<T>&);
  void (*record_now)(void* trainer, Recorder<T>&);
  Progress (*progress)(const void* trainer);
  void (*read_parameters)(const void* trainer, T* packed);
  void (*set_parameters)(void* trainer, const T* packed);
  void (*read_state)(const void* trainer, T* state);
  void (*write_state)(void* trainer, const T* state, int64_t epoch, int64_t step);
  /// Everything, also in the middle of an epoch: rows are [4, packed]. Such a snapshot, with the
  /// trainer's progress, makes another one of the same input go on as this one would.
  void (*read_snapshot)(const void* trainer, T* rows, EpochSoFar&);
  void (*write_snapshot)(void* trainer, const T* rows, const EpochSoFar&, const Progress&);

  void (*initialize)(T* packed, const Shape&, uint64_t seed);
  uint64_t (*work_bytes)(const Shape&, int64_t count);  // for the four below
  T (*loss_and_gradient)(T* grad, const T* packed, const Shape&, const Examples&, const Ablation&,
                         void* memory);
  void (*inspect)(const Activations<T>& out, const Activations<T>& patch, const T* packed,
                  const Shape&, const Examples&, const Ablation&, void* memory);
  /// Logits [count, embeddings] when points [count, dim] take the place of sequence
  /// embeddings, or of outputs.
  void (*decode)(T* logits, const T* points, bool outputs, int64_t count, const T* packed,
                 const Shape&, void* memory);
  /// Mean loss and accuracy on the examples for each of `rows` weights; in `work_bytes` of memory.
  void (*evaluate)(double* loss, double* accuracy, const T* packed, int64_t rows, const Shape&,
                   const Examples&, void* memory);
  void (*evaluate_math)(int function, T* y, const T* x, int64_t count);
  /// The learning rate of step `step` (from 0) out of `total`.
  double (*learning_rate)(const Training&, int64_t step, int64_t total);
  /// 1 - beta^steps for both moments: what they are divided by after so many steps.
  void (*unbias)(double out[2], const Training&, int64_t steps);
};

/// For tests: after these come value, slope and bend of each activation, in the table's order.
enum MathFunction { EXP, LOG, ERF, ACTIVATION_VALUES };
constexpr const char* MATH_NAMES[] = {"exp", "log", "erf"};
constexpr const char* MATH_OF_ACTIVATION[] = {"", "_slope", "_bend"};

/// Sequences, and what tasks make of them. A TaskSpec without a problem (`problem_of`) is assumed.
struct Task {
  void (*draw)(int32_t* tokens, int64_t first, int64_t count, int64_t length, int64_t vocab,
               uint64_t seed, uint32_t stream);
  void (*enumerate)(int32_t* tokens, int64_t first, int64_t count, int64_t length, int64_t vocab);
  void (*shuffle)(uint32_t* order, uint32_t n, uint64_t seed, uint32_t epoch);

  void (*targets)(int32_t* targets, const int32_t* tokens, int64_t count, const TaskSpec&);
  void (*make_canonical)(int kind, int32_t* prefix, int64_t size);  // what stands for its group
  bool (*exchangeable)(int kind, int64_t i, int64_t j);             // two relevant tokens
  double (*count_groups)(const TaskSpec&);                          // infinite beyond 2^40

  uint64_t (*class_shares_bytes)(const TaskSpec&);
  /// shares [vocab]: how often each class is right; NaN where that would take too long to find.
  void (*class_shares)(double* shares, const TaskSpec&, void* memory);

  DesignSizes (*design_sizes)(const TaskSpec&);
  uint64_t (*design_bytes)(const TaskSpec&);
  /// As design.hpp's `Design::write`.
  void (*design)(int32_t* prefixes, int32_t* groups, int32_t* suffixes, const TaskSpec&,
                 void* memory);
};

/// Measures of a model with weights of type T; themselves always double.
template <class T> struct MeasuresOf {
  uint64_t (*circuit_bytes)(const Shape&, const Crossed&, const CircuitMeasures& wanted);
  void (*circuit)(const CircuitMeasures& out, const T* packed, const Shape&, const Crossed&,
                  void* memory, Meter* meter);  // null = nobody looks
};

struct Measures {
  MeasuresOf<float> single;
  MeasuresOf<double> twice;

  /// The sum that a model keeps, or how much a given one explains; false: nothing varies. For
  /// modular addition of at most MAX_SUMMED tokens, of weights in double precision.
  uint64_t (*kept_sum_bytes)(const Shape&, const TaskSpec&);
  bool (*kept_sum)(KeptSum& out, const double* packed, const Shape&, const TaskSpec&,
                   const SumRule&, void* memory);
  uint64_t (*sum_share_bytes)(const Shape&, const TaskSpec&);
  bool (*sum_share)(double& share, int64_t& values, const double* packed, const Shape&,
                    const TaskSpec&, const SumTable&, double rounding, void* memory);
};

/// Second derivatives of the mean loss, in double precision.
struct Curvature {
  uint64_t (*bytes)(const Shape&, int64_t count);
  /// products[i] = H directions[i] for i < rows, all packed; also the gradient and the loss.
  double (*products)(double* products, double* grad, const double* packed, const double* directions,
                     int64_t rows, const Shape&, const Examples&, void* memory);
};

struct Build {
  const char* name;  // of the instruction set
  const Engine<float>* single;
  const Engine<double>* twice;
  const Task* task;
  const Measures* measures;
  const Curvature* curvature;
};

}  // namespace dynascope
