// One build of the kernel. Compiled once per instruction set and precision, with DYNASCOPE_ISA and
// DYNASCOPE_SCALAR set; the only symbols that leave this file are `dynascope_engine_<isa>_<scalar>`
// and `dynascope_task_<isa>_<scalar>`, and for measures.cpp the choice of a feed-forward layer.
#include "engine.hpp"

#include <new>

#include "class_shares.hpp"
#include "design.hpp"
#include "initialize.hpp"
#include "inspect.hpp"
#include "no_value.hpp"
#include "train.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template FeedForward<DYNASCOPE_SCALAR> feed_forward<DYNASCOPE_SCALAR, true>(const Shape&);
template FeedForward<DYNASCOPE_SCALAR> feed_forward<DYNASCOPE_SCALAR, false>(const Shape&);

namespace {

template <class T> Trainer<T>& trainer(void* p) { return *static_cast<Trainer<T>*>(p); }
template <class T> const Trainer<T>& trainer(const void* p) {
  return *static_cast<const Trainer<T>*>(p);
}

template <class T> uint64_t trainer_bytes(const TrainerInput<T>& in) {
  Arena arena;
  arena.take<Trainer<T>>(1);
  Trainer<T> measured(in, arena);
  return arena.used();
}

template <class T> void* make_trainer(const TrainerInput<T>& in, void* memory) {
  Arena arena(memory);
  return new (arena.take<Trainer<T>>(1)) Trainer<T>(in, arena);
}

/// Weights and gradient in padded form, sequences, the model: what one call needs.
template <class T> struct Work {
  Model<T> model;
  Sequences data;
  T *theta, *grad;
  Work(const Shape& s, int64_t count, Arena& arena) : model(s, arena), data(s, count, arena) {
    theta = arena.take<T>(model.layout.padded_size);
    grad = arena.take<T>(model.layout.padded_size);
  }
};

template <class T> uint64_t work_bytes(const Shape& s, int64_t count) {
  Arena gradient, inspection;
  Work<T> work(s, count, gradient);
  Inspector<T> inspector(s, inspection);
  return gradient.used() > inspection.used() ? gradient.used() : inspection.used();
}

template <class T>
T loss_and_gradient(T* grad, const T* packed, const Shape& s, const Examples& examples,
                    const Ablation& ablation, void* memory) {
  Arena arena(memory);
  Work<T> w(s, examples.count, arena);
  unpack(w.theta, packed, w.model.layout);
  for (int64_t i = 0; i < examples.count; ++i)
    w.data.append(examples.tokens + i * s.length, examples.targets[i]);
  w.model.prepare(w.theta, ablation);
  w.model.clear(w.grad);
  double loss = 0;
  for (int64_t i = 0; i < examples.count; i += TILE_SEQUENCES) {
    const int64_t left = examples.count - i < TILE_SEQUENCES ? examples.count - i : TILE_SEQUENCES;
    w.model.template forward<true>(w.data, i, left, examples.count);
    for (int m = 0; m < w.model.tile.vectors; ++m)
      loss += static_cast<double>(sum<T>(w.model.tile.loss[m] * w.model.tile.share[m]));
    w.model.backward(w.grad);
  }
  w.model.finish(w.grad);
  pack(grad, w.grad, w.model.layout);
  fix_nans(grad, w.model.layout.packed_size);
  return fixed_nan(static_cast<T>(loss));
}

template <class T>
void inspect(const Activations<T>& out, const Activations<T>& patch, const T* packed,
             const Shape& s, const Examples& examples, const Ablation& ablation, void* memory) {
  Arena arena(memory);
  Inspector<T>(s, arena).run(out, patch, packed, examples, ablation);
}

template <class T>
void decode(T* logits, const T* points, bool outputs, int64_t count, const T* packed,
            const Shape& s, void* memory) {
  Arena arena(memory);
  Inspector<T>(s, arena).decode(logits, points, outputs, count, packed);
}

template <class T>
void evaluate(double* loss, double* accuracy, const T* packed, int64_t rows, const Shape& s,
              const Examples& examples, void* memory) {
  Arena arena(memory);
  Work<T> w(s, examples.count, arena);
  for (int64_t i = 0; i < examples.count; ++i)
    w.data.append(examples.tokens + i * s.length, examples.targets[i]);
  for (int64_t row = 0; row < rows; ++row) {
    unpack(w.theta, packed + row * w.model.layout.packed_size, w.model.layout);
    w.model.prepare(w.theta);
    loss[row] = accuracy[row] = 0;
    for (int64_t i = 0; i < examples.count; i += TILE_SEQUENCES) {
      const int64_t left =
          examples.count - i < TILE_SEQUENCES ? examples.count - i : TILE_SEQUENCES;
      w.model.template forward<false>(w.data, i, left, examples.count);
      for (int m = 0; m < w.model.tile.vectors; ++m) {
        const Lanes<T> share = w.model.tile.share[m];
        loss[row] += static_cast<double>(sum<T>(w.model.tile.loss[m] * share));
        accuracy[row] += static_cast<double>(sum<T>(w.model.tile.correct[m] * share));
      }
    }
  }
  fix_nans(loss, rows);
}

template <class T> Lanes<T> math(int function, const Lanes<T>& x) {
  if (function == EXP) return exponential<T>(x);
  if (function == LOG) return logarithm<T>(x);
  if (function == ERF) return error_function<T>(x);
  const int derivative = (function - ACTIVATION_VALUES) % 3;
  return with_activation((function - ACTIVATION_VALUES) / 3, [&](auto act) {
    if (derivative == 0) return act.template value<T>(x);
    return derivative == 1 ? act.template both<T>(x).slope : act.template all<T>(x).bend;
  });
}

template <class T> void evaluate_math(int function, T* y, const T* x, int64_t count) {
  for (int64_t i = 0; i < count; i += LANES) {
    const int64_t left = count - i < LANES ? count - i : LANES;
    T lane[LANES];
    for (int64_t k = 0; k < LANES; ++k) lane[k] = x[i + (k < left ? k : 0)];
    const Lanes<T> result = math<T>(function, cast<Lanes<T>>(lane));
    std::memcpy(y + i, &result, static_cast<size_t>(left) * sizeof(T));
  }
  fix_nans(y, count);
}

uint64_t class_shares_bytes(const TaskSpec& t) {
  Arena arena;
  ClassShares measured(t, arena);
  return arena.used();
}

void class_shares(double* shares, const TaskSpec& t, void* memory) {
  Arena arena(memory);
  ClassShares(t, arena).find(shares);
}

uint64_t design_bytes(const TaskSpec& t) {
  Arena arena;
  Design measured(t, arena);
  return arena.used();
}

void design(int32_t* prefixes, int32_t* groups, int32_t* suffixes, const TaskSpec& t,
            void* memory) {
  Arena arena(memory);
  Design(t, arena).write(prefixes, groups, suffixes);
}

template <class T> constexpr Engine<T> engine() {
  return {
      trainer_bytes<T>,
      make_trainer<T>,
      [](void* t, int64_t epochs, int64_t steps, Recorder<T>& to) {
        trainer<T>(t).advance(epochs, steps, to);
      },
      [](void* t, Recorder<T>& to) { trainer<T>(t).record_now(to); },
      [](const void* t) { return trainer<T>(t).progress(); },
      [](const void* t, T* packed) { trainer<T>(t).read_parameters(packed); },
      [](void* t, const T* packed) { trainer<T>(t).set_parameters(packed); },
      [](const void* t, T* state) { trainer<T>(t).read_state(state); },
      [](void* t, const T* state, int64_t epoch, int64_t step) {
        trainer<T>(t).write_state(state, epoch, step);
      },
      [](const void* t, T* rows, EpochSoFar& so_far) { trainer<T>(t).read_snapshot(rows, so_far); },
      [](void* t, const T* rows, const EpochSoFar& so_far, const Progress& progress) {
        trainer<T>(t).write_snapshot(rows, so_far, progress);
      },
      initialize<T>,
      work_bytes<T>,
      loss_and_gradient<T>,
      inspect<T>,
      decode<T>,
      evaluate<T>,
      evaluate_math<T>,
      learning_rate,
      unbias,
  };
}

constexpr Engine<DYNASCOPE_SCALAR> this_engine = engine<DYNASCOPE_SCALAR>();
constexpr Task task = {draw_sequences, enumerate_sequences, shuffle,      find_targets,
                       make_canonical, exchangeable,        count_groups, class_shares_bytes,
                       class_shares,   Design::sizes,       design_bytes, design};

}  // namespace
}  // namespace DYNASCOPE_ISA
}  // namespace dynascope

#define DYNASCOPE_JOIN_(a, b, c) a##b##_##c
#define DYNASCOPE_JOIN(a, b, c) DYNASCOPE_JOIN_(a, b, c)

extern "C" const dynascope::Engine<DYNASCOPE_SCALAR>* DYNASCOPE_JOIN(dynascope_engine_,
                                                                     DYNASCOPE_ISA,
                                                                     DYNASCOPE_SCALAR)() {
  return &dynascope::DYNASCOPE_ISA::this_engine;
}
extern "C" const dynascope::Task* DYNASCOPE_JOIN(dynascope_task_, DYNASCOPE_ISA,
                                                 DYNASCOPE_SCALAR)() {
  return &dynascope::DYNASCOPE_ISA::task;
}
