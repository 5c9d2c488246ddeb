// The WebAssembly module: the kernel behind a small C interface.
//
// What crosses the border are i32, f64 and addresses, never i64: JavaScript needs no BigInt, and
// whole numbers up to 2^53 - 1 (seeds, epochs, steps) come as f64. Arrays lie in the module's
// memory, row-major: weights and what is computed from them in the model's precision, tokens and
// targets as i32, masks as bytes, everything else as f64. Nothing is imported.
//
// A function that can fail returns 0 when it has not (or, where it returns an address, 0 when it
// has), and `last_error` then gives a sentence. All numbers are checked here; that arrays have the
// sizes that the comments state is up to the caller (web/src/model/kernel.ts).
#include <cstdint>
#include <cstdlib>
#include <new>

#include "catalog_json.hpp"
#include "checks.hpp"
#include "engine.hpp"
#include "group_name.hpp"
#include "projection.hpp"
#include "shares.hpp"
#include "wasm_model.hpp"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

extern "C" const dynascope::Engine<float>* dynascope_engine_wasm_float();
extern "C" const dynascope::Engine<double>* dynascope_engine_wasm_double();
extern "C" const dynascope::Task* dynascope_task_wasm_float();
extern "C" const dynascope::Measures* dynascope_measures_wasm();

using namespace dynascope;

namespace {

enum Outcome { FINE, BAD_INPUT, NO_MEMORY };

constexpr auto WHOLE = static_cast<double>(MAX_WHOLE);
constexpr int MAX_HOLDS = 64;      // attention that is held, at different epochs
constexpr double MAX_GRID = 4096;  // points along one side
constexpr int INTERFACE = 4;       // raised whenever a function below changes

template <class T> const Engine<T>& engine() {
  if constexpr (sizeof(T) == 4) return *dynascope_engine_wasm_float();
  else return *dynascope_engine_wasm_double();
}
template <class T> const MeasuresOf<T>& measures_of() {
  if constexpr (sizeof(T) == 4) return dynascope_measures_wasm()->single;
  else return dynascope_measures_wasm()->twice;
}
const Task& task() { return *dynascope_task_wasm_float(); }

// ---- memory -------------------------------------------------------------------------------------
/// Aligned to 64; null and a sentence when there is no more.
void* take(uint64_t bytes) {
  const uint64_t whole = (bytes / 64 + 1) * 64;
  void* p =
      whole < uint64_t{1} << 31 ? std::aligned_alloc(64, static_cast<size_t>(whole)) : nullptr;
  if (!p) {
    Sentence() << "memory: expected less to be needed, but " << static_cast<int64_t>(bytes)
               << " bytes more do not fit; take fewer sequences or a smaller model.";
  }
  return p;
}

struct Memory {
  void* p;
  explicit Memory(uint64_t bytes) : p(take(bytes)) {}
  ~Memory() { std::free(p); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

bool read_task(TaskSpec& t, const int32_t* given) {
  t = {given[0], given[1], given[2], given + 4, given[3]};
  const char* problem = problem_of(t);
  if (problem) Sentence() << problem;
  return !problem;
}

// ---- trainers ----------------------------------------------------------------------------------
/// A trainer's memory begins with this; the kernel's part follows.
struct alignas(64) TrainerHandle {
  Model model;
  int64_t steps_per_epoch;
  void* kernel;
};

/// Where an advancing trainer writes; addresses, 0 = not wanted.
struct Record {
  void* curves;   // [epochs, curves]
  void* weights;  // [kept, size], of each epoch divisible by the next number
  int32_t weights_every;
  void* states;  // [kept, 3, size]
  int32_t state_every;
  void* step_curves;   // [steps, step curves]
  void* step_weights;  // [steps, size]
};

template <class T> Recorder<T> recorder(const Record& r) {
  Recorder<T> to;
  to.curves = static_cast<T*>(r.curves);
  to.weights = r.weights_every > 0 ? static_cast<T*>(r.weights) : nullptr;
  to.weights_every = r.weights_every;
  to.states = r.state_every > 0 ? static_cast<T*>(r.states) : nullptr;
  to.state_every = r.state_every;
  to.step_curves = static_cast<T*>(r.step_curves);
  to.step_weights = static_cast<T*>(r.step_weights);
  return to;
}

}  // namespace

// ---- memory, errors, names ----------------------------------------------------------------------
EXPORT(version) int version() { return INTERFACE; }
/// Of the table of names and options; names.ts has it from the same table.
EXPORT(catalog) uint32_t catalog() { return catalog_hash(); }
EXPORT(last_error) const char* last_error() { return Sentence::text; }

/// At least 64 bytes, aligned to 64.
EXPORT(allocate) void* allocate(double bytes) {
  if (!whole("bytes", bytes, 0, WHOLE)) return nullptr;
  return take(static_cast<uint64_t>(bytes));
}
/// Of what `allocate`, `model` or `trainer` gave.
EXPORT(release) void release(void* p) { std::free(p); }

// ---- models -------------------------------------------------------------------------------------
/// `options`: a number for each option of the section `model`, see read_options.
EXPORT(model) Model* model(int twice, double vocab, double length, const double* options) {
  Shape shape{};
  if (!read_shape(shape, vocab, length, options)) return nullptr;
  auto* made = static_cast<Model*>(take(sizeof(Model)));
  if (made) *made = {shape, twice != 0};
  return made;
}

/// Numbers in packed weights.
EXPORT(packed_size) int packed_size(const Model* m) { return static_cast<int>(m->size()); }

/// Where a parameter begins in packed weights; -1: this model does not have it.
EXPORT(offset) int offset(const Model* m, int parameter) {
  Axis axes[2];
  if (!m->axes_of(PARAMETER_LIST, parameter, axes)) return -1;
  return static_cast<int>(dynascope::packed_size(m->shape, parameter));
}

/// The shape of a parameter, of a stage for one sequence, or of a measure (with so many relevant
/// positions): writes at most two sizes and returns how many; -1: there is none.
EXPORT(dims) int dims(const Model* m, int list, int index, int relevant, int32_t* out) {
  Axis axes[2];
  if (!m->axes_of(list, index, axes)) return -1;
  int rank = 0;
  for (Axis axis : axes)
    if (axis != Axis::NONE) out[rank++] = static_cast<int32_t>(size_of(axis, m->shape, relevant));
  return rank;
}

/// weights [size]: those that a run of this seed starts from.
EXPORT(initialize) int initialize(const Model* m, double seed, void* weights) {
  if (!whole("seed", seed, 0, WHOLE)) return BAD_INPUT;
  m->visit([&](auto zero) {
    using T = decltype(zero);
    engine<T>().initialize(static_cast<T*>(weights), m->shape, static_cast<uint64_t>(seed));
  });
  return FINE;
}

/// Every intermediate value of tokens [count, length], which may be any row of the embedding.
/// `out`: an address for each stage ([count, its dims]), 0 = not wanted. `patch`: null, or an
/// address for each stage whose values are to be replaced. Masks [length] and [hidden] or null:
/// 1 = cut. attention [length], f64, of every sequence, or null.
EXPORT(forward)
int forward(const Model* m, const void* weights, const int32_t* tokens, int count, void* const* out,
            void* const* patch, const uint8_t* cut_positions, const uint8_t* cut_units,
            const double* attention) {
  const Shape s = m->whole();
  if (!check_tokens("tokens", tokens, count, s) || !check_cut(cut_positions, s) ||
      (attention && !check_attention(attention, s)))
    return BAD_INPUT;
  return m->visit([&](auto zero) -> int {
    using T = decltype(zero);
    Activations<T> wanted{}, patches{};
    std::memcpy(&wanted, out, sizeof wanted);
    if (patch) std::memcpy(&patches, patch, sizeof patches);
    const Memory memory(engine<T>().work_bytes(s, 1));  // sequences go through a few at a time
    if (!memory.p) return NO_MEMORY;
    engine<T>().inspect(wanted, patches, static_cast<const T*>(weights), s,
                        {tokens, nullptr, count}, {cut_positions, cut_units, attention}, memory.p);
    return FINE;
  });
}

/// logits [height, width, embeddings] at the points origin + x a + y b, which take the place
/// of the sequence embedding, or of the output; origin, a and b [dim], x [width], y [height].
EXPORT(grid)
int grid(const Model* m, const void* weights, int outputs, const double* origin, const double* a,
         const double* b, const double* x, int width, const double* y, int height, void* logits) {
  if (!whole("width", width, 0, MAX_GRID) || !whole("height", height, 0, MAX_GRID))
    return BAD_INPUT;
  const int64_t d = m->shape.dim;
  return m->visit([&](auto zero) -> int {
    using T = decltype(zero);
    const Memory row(static_cast<uint64_t>(width * d) * sizeof(T));
    const Memory memory(engine<T>().work_bytes(m->shape, 1));
    if (!row.p || !memory.p) return NO_MEMORY;
    T *points = static_cast<T*>(row.p), *to = static_cast<T*>(logits);
    for (int j = 0; j < height; ++j, to += width * m->shape.embeddings) {
      for (int i = 0; i < width; ++i)
        for (int64_t c = 0; c < d; ++c)
          points[i * d + c] = static_cast<T>(origin[c] + x[i] * a[c] + y[j] * b[c]);
      engine<T>().decode(to, points, outputs != 0, width, static_cast<const T*>(weights), m->shape,
                         memory.p);
    }
    return FINE;
  });
}

/// loss [rows] and accuracy [rows] of weights [rows, size] on the examples.
EXPORT(evaluate)
int evaluate(const Model* m, const void* weights, int rows, const int32_t* tokens,
             const int32_t* targets, int count, double* loss, double* accuracy) {
  const Examples data{tokens, targets, count};
  if (!check_examples("examples", data, m->shape, 1) || !whole("rows", rows, 0, 1e9))
    return BAD_INPUT;
  return m->visit([&](auto zero) -> int {
    using T = decltype(zero);
    const Memory memory(engine<T>().work_bytes(m->shape, count));
    if (!memory.p) return NO_MEMORY;
    engine<T>().evaluate(loss, accuracy, static_cast<const T*>(weights), rows, m->shape, data,
                         memory.p);
    return FINE;
  });
}

/// The mean loss and its gradient [size]; tokens may be any row of the embedding. Masks as above.
EXPORT(gradient)
int gradient(const Model* m, const void* weights, const int32_t* tokens, const int32_t* targets,
             int count, const uint8_t* cut_positions, const uint8_t* cut_units,
             const double* attention, double* loss, void* grad) {
  const Shape s = m->whole();
  const Examples data{tokens, targets, count};
  if (!check_examples("examples", data, s, 1) || !check_cut(cut_positions, s) ||
      (attention && !check_attention(attention, s)))
    return BAD_INPUT;
  return m->visit([&](auto zero) -> int {
    using T = decltype(zero);
    const Memory memory(engine<T>().work_bytes(s, count));
    if (!memory.p) return NO_MEMORY;
    *loss = static_cast<double>(
        engine<T>().loss_and_gradient(static_cast<T*>(grad), static_cast<const T*>(weights), s,
                                      data, {cut_positions, cut_units, attention}, memory.p));
    return FINE;
  });
}

/// Measures of the circuit. `crossed`: the sequences (see spec.hpp) as addresses and counts: task
/// (as under "data" below), prefixes, prefix_count, groups, group_count, suffixes, suffix_count,
/// sampled. `out`: an address for each measure, f64 whatever the weights are; 0 = not wanted.
EXPORT(circuit)
int circuit(const Model* m, const void* weights, const intptr_t* crossed, void* const* out) {
  const auto table = [&](int i) { return reinterpret_cast<const int32_t*>(crossed[i]); };
  TaskSpec t;
  if (!read_task(t, table(0)) || !require(t.length == m->shape.length && t.vocab == m->shape.vocab,
                                          "task: expected the model's length and vocab."))
    return BAD_INPUT;
  const Crossed data{t.kind,   t.positions, t.relevant, table(1),   table(3),
                     table(5), crossed[2],  crossed[4], crossed[6], crossed[7] != 0};
  CircuitMeasures wanted;
  std::memcpy(&wanted, out, sizeof wanted);
  if (!check_crossed(data, m->shape) || !check_wanted(wanted)) return BAD_INPUT;
  return m->visit([&](auto zero) -> int {
    using T = decltype(zero);
    if (!check_finite("weights", static_cast<const T*>(weights), m->size())) return BAD_INPUT;
    const Memory memory(measures_of<T>().circuit_bytes(m->shape, data, wanted));
    if (!memory.p) return NO_MEMORY;
    measures_of<T>().circuit(wanted, static_cast<const T*>(weights), m->shape, data, memory.p,
                             nullptr);
    return FINE;
  });
}

/// The sum that a model keeps (see spec.hpp's KeptSum): terms [2, length, vocab, vocab], and
/// numbers [12]: kind (-1: nothing varies), sums, the two positions apart (-1: none), share,
/// corrected share, values, then the corrected share that each kind but the last reached.
EXPORT(kept_sum)
int kept_sum(const Model* m, const void* weights, const int32_t* given, double threshold,
             double rounding, int32_t* terms, double* numbers) {
  TaskSpec t;
  if (!read_task(t, given) || !check_summed(t, m->shape)) return BAD_INPUT;
  const Measures& measures = *dynascope_measures_wasm();
  const int64_t size = m->size();
  const Memory memory(measures.kept_sum_bytes(m->shape, t));
  const Memory room(static_cast<uint64_t>(size) * sizeof(double));
  if (!memory.p || !room.p) return NO_MEMORY;
  auto* wide = static_cast<double*>(room.p);
  const bool finite = m->visit([&](auto zero) -> bool {
    const auto* own = static_cast<const decltype(zero)*>(weights);
    for (int64_t i = 0; i < size; ++i) wide[i] = static_cast<double>(own[i]);
    return check_finite("weights", own, size);
  });
  if (!finite) return BAD_INPUT;
  KeptSum sum{};
  sum.terms = terms;
  const SumRule rule{threshold, rounding, false};
  numbers[0] = -1;
  if (!measures.kept_sum(sum, wide, m->shape, t, rule, memory.p)) return FINE;
  *numbers++ = sum.kind;
  *numbers++ = sum.sums;
  for (int32_t position : sum.apart) *numbers++ = position;
  *numbers++ = sum.share;
  *numbers++ = sum.corrected;
  *numbers++ = static_cast<double>(sum.values);
  for (double best : sum.best) *numbers++ = best;
  return FINE;
}

/// axes [2, d], mean [d] and shares [2] of points [n, d]; see projection.hpp.
EXPORT(plane)
int plane(const double* points, int n, int d, double* axes, double* mean, double* shares) {
  if (!whole("points", n, 1, 1e9) || !whole("dim", d, 1, MAX_DIM)) return BAD_INPUT;
  const Memory memory(static_cast<uint64_t>(plane_work(d)) * sizeof(double));
  if (!memory.p) return NO_MEMORY;
  if (plane(axes, mean, shares, points, n, d, static_cast<double*>(memory.p))) return FINE;
  Sentence() << "points: expected finite numbers.";
  return BAD_INPUT;
}

/// From the parts of a variance [4], as measured: the shares between, permutation and suffix, and
/// the variance, to `out` [4]. 0: nothing varies.
EXPORT(variance_shares)
int variance_shares(const double* parts, double rounding, double* out) {
  return variance_shares(out, parts, rounding) ? 1 : 0;
}

// ---- data ---------------------------------------------------------------------------------------
/// tokens [count, length], uniform; row i depends on (seed, stream, i) alone.
EXPORT(draw)
int draw(int count, int length, int vocab, double seed, int stream, int32_t* tokens) {
  if (!check_sizes(count, length, vocab) || !whole("seed", seed, 0, WHOLE) ||
      !whole("stream", stream, 0, 15))
    return BAD_INPUT;
  task().draw(tokens, 0, count, length, vocab, static_cast<uint64_t>(seed),
              static_cast<uint32_t>(stream));
  return FINE;
}

/// tokens [count, length]: sequences `first` and on of all vocab^length, in the order of digits.
EXPORT(enumerate) int enumerate(double first, int count, int length, int vocab, int32_t* tokens) {
  if (!check_sizes(count, length, vocab) || !whole("first", first, 0, WHOLE)) return BAD_INPUT;
  task().enumerate(tokens, static_cast<int64_t>(first), count, length, vocab);
  return FINE;
}

/// A task is i32 in all that follows: its place in the table of tasks, length, vocab, relevant,
/// then the relevant positions, rising.

/// targets [count] of tokens [count, length].
EXPORT(targets)
int targets(const int32_t* given, const int32_t* tokens, int count, int32_t* out) {
  TaskSpec t;
  if (!read_task(t, given) || !whole("count", count, 0, MAX_SEQUENCES) ||
      !within("tokens", tokens, count * t.length, t.vocab))
    return BAD_INPUT;
  task().targets(out, tokens, count, t);
  return FINE;
}

/// prefixes [count, relevant] become those that stand for their groups.
EXPORT(canonical) int canonical(const int32_t* given, int32_t* prefixes, int count) {
  TaskSpec t;
  if (!read_task(t, given) || !whole("count", count, 0, MAX_SEQUENCES) ||
      !within("prefixes", prefixes, count * t.relevant, t.vocab))
    return BAD_INPUT;
  for (int i = 0; i < count; ++i)
    task().make_canonical(t.kind, prefixes + i * t.relevant, t.relevant);
  return FINE;
}

/// The name of the group that a canonical prefix [relevant] stands for, until the next call; null:
/// it failed.
EXPORT(group_name) const char* group_name(const int32_t* given, const int32_t* canonical) {
  alignas(GroupName) static char room[sizeof(GroupName)];
  TaskSpec t;
  if (!read_task(t, given) || !within("prefix", canonical, t.relevant, t.vocab)) return nullptr;
  return (new (room) GroupName(t, canonical))->text;
}

/// How many groups there are, infinite beyond 2^40; NaN: it failed.
EXPORT(group_count) double group_count(const int32_t* given) {
  TaskSpec t;
  return read_task(t, given) ? task().count_groups(t) : __builtin_nan("");
}

/// out [relevant, relevant], i32: whether exchanging two relevant tokens is a symmetry.
EXPORT(exchangeable) int exchangeable(const int32_t* given, int32_t* out) {
  TaskSpec t;
  if (!read_task(t, given)) return BAD_INPUT;
  for (int64_t i = 0; i < t.relevant; ++i)
    for (int64_t j = 0; j < t.relevant; ++j) *out++ = task().exchangeable(t.kind, i, j);
  return FINE;
}

/// shares [vocab]: how often each class is right; NaN where that would take too long to find.
EXPORT(class_shares) int class_shares(const int32_t* given, double* shares) {
  TaskSpec t;
  if (!read_task(t, given)) return BAD_INPUT;
  const Memory memory(task().class_shares_bytes(t));
  if (!memory.p) return NO_MEMORY;
  task().class_shares(shares, t, memory.p);
  return FINE;
}

/// The sizes of a design: prefixes, groups, suffixes, and whether it is a sample.
EXPORT(design_sizes) int design_sizes(const int32_t* given, int32_t* out) {
  TaskSpec t;
  if (!read_task(t, given)) return BAD_INPUT;
  const DesignSizes sizes = task().design_sizes(t);
  const int64_t all[] = {sizes.prefix_count, sizes.group_count, sizes.suffix_count, sizes.sampled};
  for (int64_t each : all) *out++ = static_cast<int32_t>(each);
  return FINE;
}

/// The sequences that a model is measured on: prefixes [prefixes, relevant], groups [groups + 1],
/// suffixes [suffixes, length - relevant].
EXPORT(design)
int design(const int32_t* given, int32_t* prefixes, int32_t* groups, int32_t* suffixes) {
  TaskSpec t;
  if (!read_task(t, given)) return BAD_INPUT;
  const Memory memory(task().design_bytes(t));
  if (!memory.p) return NO_MEMORY;
  task().design(prefixes, groups, suffixes, t, memory.p);
  return FINE;
}

/// order [count], u32: the permutation of this seed and epoch.
EXPORT(shuffle) int shuffle(int count, double seed, double epoch, uint32_t* order) {
  if (!whole("count", count, 0, MAX_SEQUENCES) || !whole("seed", seed, 0, WHOLE) ||
      !whole("epoch", epoch, 0, 4294967295.0))
    return BAD_INPUT;
  task().shuffle(order, static_cast<uint32_t>(count), static_cast<uint64_t>(seed),
                 static_cast<uint32_t>(epoch));
  return FINE;
}

// ---- training -----------------------------------------------------------------------------------
/// `training`: a number for each option of that section, see read_options. `sets`: addresses of
/// tokens, of targets, and the count, of train, test and unseen set (the last two may have 0).
/// start [size]; frozen [size], 1 = never moves, or null; since [2], f64: steps that were done when
/// each slot of the state began; holds [hold_count, 2 + length], f64: from, to and the attention
/// that is held in between. All of it is copied. Null: it failed.
EXPORT(trainer)
TrainerHandle* trainer(const Model* m, const double* training, const intptr_t* sets, double seed,
                       const void* start, const uint8_t* frozen, int gradients, int full_gradients,
                       const double* since, const double* given_holds, int hold_count) {
  Examples data[SETS];
  constexpr const char* fields[SETS] = {"train", "test", "unseen"};
  for (int i = 0; i < SETS; ++i) {
    data[i] = {reinterpret_cast<const int32_t*>(sets[3 * i]),
               reinterpret_cast<const int32_t*>(sets[3 * i + 1]), sets[3 * i + 2]};
    if (!check_examples(fields[i], data[i], m->shape, i == TRAIN_SET)) return nullptr;
  }
  Training chosen{};
  if (!check_task_size(m->shape) || !read_training(chosen, training, data[TRAIN_SET].count) ||
      !whole("seed", seed, 0, WHOLE))
    return nullptr;
  for (int i = 0; i < SLOTS; ++i)
    if (!whole("slots_since", since[i], 0, WHOLE)) return nullptr;
  if (!whole("clamps", hold_count, 0, MAX_HOLDS)) return nullptr;
  Hold holds[MAX_HOLDS];
  for (int i = 0; i < hold_count; ++i) {
    const double* row = given_holds + i * (2 + m->shape.length);
    if (!whole("clamps", row[0], 0, MAX_EPOCHS) || !whole("clamps", row[1], 0, MAX_EPOCHS))
      return nullptr;
    holds[i] = {static_cast<int64_t>(row[0]), static_cast<int64_t>(row[1]), row + 2};
  }
  if (!check_holds(holds, hold_count, m->shape)) return nullptr;
  return m->visit([&](auto zero) -> TrainerHandle* {
    using T = decltype(zero);
    const TrainerInput<T> in{m->shape,
                             chosen,
                             {data[0], data[1], data[2]},
                             static_cast<uint64_t>(seed),
                             static_cast<const T*>(start),
                             frozen,
                             gradients != 0,
                             full_gradients != 0,
                             {static_cast<int64_t>(since[0]), static_cast<int64_t>(since[1])},
                             holds,
                             hold_count};
    auto* made =
        static_cast<TrainerHandle*>(take(sizeof(TrainerHandle) + engine<T>().trainer_bytes(in)));
    if (!made) return nullptr;
    *made = {*m, (data[TRAIN_SET].count + chosen.batch - 1) / chosen.batch,
             engine<T>().make_trainer(in, made + 1)};
    return made;
  });
}

/// Goes on until so many epochs have ended or so many steps are done, whichever comes first, or
/// the run has diverged. `record`: null, or a Record with room for all of it.
EXPORT(advance)
int advance(TrainerHandle* t, double epochs, double steps, const Record* record) {
  if (!whole("epochs", epochs, 0, WHOLE) || !whole("steps", steps, 0, WHOLE)) return BAD_INPUT;
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    Recorder<T> to = recorder<T>(record ? *record : Record{});
    engine<T>().advance(t->kernel, static_cast<int64_t>(epochs), static_cast<int64_t>(steps), to);
  });
  return FINE;
}

/// One row of curves of the present weights; row 0 of a run.
EXPORT(record_now) void record_now(TrainerHandle* t, void* curves) {
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    Recorder<T> to;
    to.curves = static_cast<T*>(curves);
    engine<T>().record_now(t->kernel, to);
  });
}

/// Epochs ended, steps done in this epoch, in all, the epoch at which it diverged or -1, steps in
/// an epoch.
EXPORT(progress) void progress(TrainerHandle* t, double* out) {
  const Progress now =
      t->model.visit([&](auto zero) { return engine<decltype(zero)>().progress(t->kernel); });
  const int64_t all[] = {now.epoch, now.step_in_epoch, now.step, now.diverged, t->steps_per_epoch};
  for (int64_t each : all) *out++ = static_cast<double>(each);
}

EXPORT(read_parameters) void read_parameters(TrainerHandle* t, void* weights) {
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    engine<T>().read_parameters(t->kernel, static_cast<T*>(weights));
  });
}

/// Moments, epoch and shuffles stay: training goes on from the new weights.
EXPORT(set_parameters) void set_parameters(TrainerHandle* t, const void* weights) {
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    engine<T>().set_parameters(t->kernel, static_cast<const T*>(weights));
  });
}

/// state [3, size]: weights, first and second moments.
EXPORT(read_state) void read_state(TrainerHandle* t, void* state) {
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    engine<T>().read_state(t->kernel, static_cast<T*>(state));
  });
}

/// A state as `read_state` gave it, at the end of `epoch`, after `step` steps in all.
EXPORT(write_state)
int write_state(TrainerHandle* t, const void* state, double epoch, double step) {
  if (!whole("epoch", epoch, 0, MAX_EPOCHS) || !whole("step", step, 0, WHOLE)) return BAD_INPUT;
  t->model.visit([&](auto zero) {
    using T = decltype(zero);
    engine<T>().write_state(t->kernel, static_cast<const T*>(state), static_cast<int64_t>(epoch),
                            static_cast<int64_t>(step));
  });
  return FINE;
}
