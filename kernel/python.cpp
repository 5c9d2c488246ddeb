// The Python extension `dynascope._kernel`: arrays in, arrays out, the GIL released while
// computing.
//
// Thin on purpose. Arguments have been checked by the Python side (engine.py), which can say better
// what is wrong; what is checked here is only what would otherwise write out of bounds.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "dispatch.hpp"
#include "group_name.hpp"
#include "model_naive.hpp"
#include "projection.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynascope {
namespace {

template <class T> using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
template <class T> using Numpy = nb::ndarray<nb::numpy, T>;
using Bytes = std::optional<Array<uint8_t>>;

const Build& build() {
  static const Build& chosen = []() -> const Build& {
    const char* name = std::getenv("DYNASCOPE_ISA");
    return choose_build(name ? name : "");
  }();
  return chosen;
}
template <class T> const Engine<T>& engine() {
  if constexpr (sizeof(T) == 4) return *build().single;
  else return *build().twice;
}

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
};
using Memory = std::unique_ptr<void, AlignedDelete>;
Memory allocate(size_t bytes) { return Memory(::operator new(bytes, std::align_val_t(64))); }

template <class T> Numpy<T> make_array(std::vector<size_t> shape) {
  size_t size = 1;
  for (size_t n : shape) size *= n;
  T* data = new T[size ? size : 1]();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Numpy<T>(data, shape.size(), shape.data(), owner);
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

Examples examples(const Array<int32_t>& tokens, const Array<int32_t>& targets, const Shape& s) {
  require(tokens.ndim() == 2 && targets.ndim() == 1 && tokens.shape(0) == targets.shape(0) &&
              static_cast<int64_t>(tokens.shape(1)) == s.length,
          "tokens must be [count, length] and targets [count]");
  for (size_t i = 0; i < tokens.size(); ++i)
    require(tokens.data()[i] >= 0 && tokens.data()[i] < s.vocab, "a token is out of range");
  for (size_t i = 0; i < targets.size(); ++i)
    require(targets.data()[i] >= 0 && targets.data()[i] < s.embeddings, "a target is out of range");
  return {tokens.data(), targets.data(), static_cast<int64_t>(tokens.shape(0))};
}

const uint8_t* mask(const Bytes& bytes, int64_t size, const char* what) {
  if (!bytes) return nullptr;
  require(static_cast<int64_t>(bytes->size()) == size, what);
  return bytes->data();
}

Ablation ablation(const Bytes& positions, const Bytes& units, const Shape& s) {
  return {mask(positions, s.length, "cut_positions must have one entry per position"),
          mask(units, s.hidden, "cut_units must have one entry per hidden unit")};
}

void check_crossed(const Crossed& data, const Array<int32_t>& prefixes,
                   const Array<int32_t>& suffixes, const Shape& s) {
  require(data.prefix_count > 0 && data.suffix_count > 0 &&
              static_cast<int64_t>(prefixes.shape(1)) == data.relevant &&
              static_cast<int64_t>(suffixes.shape(1)) == s.length - data.relevant,
          "prefixes must be [count, relevant] and suffixes [count, length - relevant]");
  for (const Array<int32_t>* tokens : {&prefixes, &suffixes})
    for (size_t i = 0; i < tokens->size(); ++i)
      require(tokens->data()[i] >= 0 && tokens->data()[i] < s.vocab, "a token is out of range");
  require(data.groups[0] == 0 && data.groups[data.group_count] == data.prefix_count,
          "groups must begin with 0 and end with the number of prefixes");
  for (int64_t m = 0; m < data.group_count; ++m)
    require(data.groups[m] < data.groups[m + 1], "groups must rise");
  const int64_t orderings = data.prefix_count / data.group_count;
  for (int64_t m = 0; data.sampled && m < data.group_count; ++m)
    require(
        data.group_count > 1 && orderings > 1 && data.groups[m + 1] - data.groups[m] == orderings,
        "a sample has several groups, with several prefixes, for all as many");
}

/// The shape of each parameter in the packed order; vectors have one dimension.
std::vector<std::pair<std::string, std::vector<int64_t>>> parameter_shapes(const Shape& s) {
  const std::vector<int64_t> shapes[PARAMETERS] = {
      {s.embeddings, s.dim}, {s.length, s.dim}, {s.dim},           {s.dim, s.dim},
      {s.hidden, s.dim},     {s.hidden},        {s.dim, s.hidden}, {s.dim}};
  std::vector<std::pair<std::string, std::vector<int64_t>>> named;
  for (int p = 0; p < PARAMETERS; ++p)
    if (s.bias || (p != RECEPTOR_BIAS && p != ASSEMBLER_BIAS))
      named.emplace_back(PARAMETER_NAMES[p], shapes[p]);
  return named;
}

int64_t packed_size(const Shape& s) {
  int64_t size = 0;
  for (const auto& [name, shape] : parameter_shapes(s))
    size += shape.size() == 2 ? shape[0] * shape[1] : shape[0];
  return size;
}

template <class T> const T* weights(const Array<T>& packed, const Shape& s) {
  require(static_cast<int64_t>(packed.size()) == packed_size(s), "weights have the wrong size");
  return packed.data();
}

template <size_t N> int index_of(const std::string& name, const char* const (&names)[N]) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<int>(i);
  throw std::invalid_argument("unknown option: " + name);
}

/// A task with its own copy of the positions.
class PyTask {
 public:
  PyTask(const std::string& name, int64_t length, int64_t vocab,
         const std::vector<int32_t>& positions)
      : kind_(index_of(name, TASK_NAMES)), length_(length), vocab_(vocab), positions_(positions) {
    if (const char* problem = problem_of(spec())) throw std::invalid_argument(problem);
  }
  TaskSpec spec() const {
    return {kind_, length_, vocab_, positions_.data(), static_cast<int64_t>(positions_.size())};
  }

 private:
  int kind_;
  int64_t length_, vocab_;
  std::vector<int32_t> positions_;
};

void check_rows(const Array<int32_t>& tokens, int64_t width, int64_t vocab) {
  require(tokens.ndim() == 2 && static_cast<int64_t>(tokens.shape(1)) == width,
          "tokens must be a table with a column for each position");
  for (size_t i = 0; i < tokens.size(); ++i)
    require(tokens.data()[i] >= 0 && tokens.data()[i] < vocab, "a token is out of range");
}

// ---- trainer ------------------------------------------------------------------------------------
template <class T> class PyTrainer {
 public:
  PyTrainer(const Shape& shape, const Training& training,
            const std::vector<std::pair<Array<int32_t>, Array<int32_t>>>& sets, uint64_t seed,
            const Array<T>& start, const Bytes& frozen, bool gradients, bool full_gradients)
      : size_(packed_size(shape)) {
    TrainerInput<T> in{shape,
                       training,
                       {},
                       seed,
                       weights(start, shape),
                       mask(frozen, size_, "frozen must have one entry per weight"),
                       gradients,
                       full_gradients};
    require(sets.size() == SETS, "three sets are needed");
    for (int i = 0; i < SETS; ++i) in.sets[i] = examples(sets[i].first, sets[i].second, shape);
    require(in.sets[TRAIN_SET].count > 0, "the train set is empty");
    nb::gil_scoped_release release;
    memory_ = allocate(engine<T>().trainer_bytes(in));
    trainer_ = engine<T>().make_trainer(in, memory_.get());
  }

  void advance(int64_t epochs, int64_t steps, std::optional<Out<T>> curves,
               std::optional<Out<T>> weights, int64_t weights_every, std::optional<Out<T>> states,
               int64_t state_every, std::optional<Out<T>> step_curves,
               std::optional<Out<T>> step_weights) {
    Recorder<T> to = recorder(epochs, curves, weights, weights_every, states, state_every);
    if (step_curves) to.step_curves = place(*step_curves, steps, STEP_CURVES);
    if (step_weights) to.step_weights = place(*step_weights, steps, size_);
    nb::gil_scoped_release release;
    engine<T>().advance(trainer_, epochs, steps, to);
  }

  void record_now(std::optional<Out<T>> curves, std::optional<Out<T>> weights,
                  std::optional<Out<T>> states) {
    Recorder<T> to;
    if (curves) to.curves = place(*curves, 1, CURVES);
    if (weights) to.weights = place(*weights, 1, size_);
    if (states) to.states = place(*states, 1, 3 * size_);
    to.weights_every = to.state_every = 1;
    nb::gil_scoped_release release;
    engine<T>().record_now(trainer_, to);
  }

  Progress progress() const { return engine<T>().progress(trainer_); }

  Numpy<T> parameters() const {
    auto out = make_array<T>({static_cast<size_t>(size_)});
    engine<T>().read_parameters(trainer_, out.data());
    return out;
  }
  void set_parameters(const Array<T>& packed) {
    require(static_cast<int64_t>(packed.size()) == size_, "weights have the wrong size");
    engine<T>().set_parameters(trainer_, packed.data());
  }
  Numpy<T> state() const {
    auto out = make_array<T>({3, static_cast<size_t>(size_)});
    engine<T>().read_state(trainer_, out.data());
    return out;
  }
  void set_state(const Array<T>& state, int64_t epoch) {
    require(static_cast<int64_t>(state.size()) == 3 * size_, "a state has three rows of weights");
    nb::gil_scoped_release release;
    engine<T>().write_state(trainer_, state.data(), epoch);
  }

 private:
  int64_t size_;
  Memory memory_;
  void* trainer_;

  /// Where `rows` of this size fit; divided, since rows may be as many as a number can say.
  static T* place(const Out<T>& out, int64_t rows, int64_t size) {
    require(static_cast<int64_t>(out.size()) / size >= rows, "an output array is too small");
    return out.data();
  }

  Recorder<T> recorder(int64_t epochs, std::optional<Out<T>>& curves,
                       std::optional<Out<T>>& weights, int64_t weights_every,
                       std::optional<Out<T>>& states, int64_t state_every) {
    const int64_t now = progress().epoch;
    auto kept = [&](int64_t every) { return (now + epochs) / every - now / every; };
    Recorder<T> to;
    if (curves) to.curves = place(*curves, epochs, CURVES);
    if (weights && weights_every > 0) {
      to.weights = place(*weights, kept(weights_every), size_);
      to.weights_every = weights_every;
    }
    if (states && state_every > 0) {
      to.states = place(*states, kept(state_every), 3 * size_);
      to.state_every = state_every;
    }
    return to;
  }
};

template <class T> void bind_trainer(nb::module_& m, const char* name) {
  using Self = PyTrainer<T>;
  nb::class_<Self>(m, name)
      .def(
          "__init__",
          [](Self* self, const Shape& shape, const Training& training, nb::list sets, uint64_t seed,
             const Array<T>& start, const Bytes& frozen, bool gradients, bool full_gradients) {
            std::vector<std::pair<Array<int32_t>, Array<int32_t>>> pairs;
            for (nb::handle set : sets)
              pairs.emplace_back(nb::cast<Array<int32_t>>(set[0]),
                                 nb::cast<Array<int32_t>>(set[1]));
            new (self) Self(shape, training, pairs, seed, start, frozen, gradients, full_gradients);
          },
          "shape"_a, "training"_a, "sets"_a, "seed"_a, "start"_a, "frozen"_a.none(), "gradients"_a,
          "full_gradients"_a)
      .def("advance", &Self::advance, "epochs"_a, "steps"_a,
           "curves"_a.noconvert().none() = nb::none(), "weights"_a.noconvert().none() = nb::none(),
           "weights_every"_a = 0, "states"_a.noconvert().none() = nb::none(), "state_every"_a = 0,
           "step_curves"_a.noconvert().none() = nb::none(),
           "step_weights"_a.noconvert().none() = nb::none())
      .def("record_now", &Self::record_now, "curves"_a.noconvert().none() = nb::none(),
           "weights"_a.noconvert().none() = nb::none(), "states"_a.noconvert().none() = nb::none())
      .def_prop_ro("epoch", [](const Self& s) { return s.progress().epoch; })
      .def_prop_ro("step", [](const Self& s) { return s.progress().step; })
      .def_prop_ro("step_in_epoch", [](const Self& s) { return s.progress().step_in_epoch; })
      .def_prop_ro("diverged", [](const Self& s) { return s.progress().diverged; })
      .def("parameters", &Self::parameters)
      .def("set_parameters", &Self::set_parameters, "packed"_a)
      .def("state", &Self::state)
      .def("set_state", &Self::set_state, "state"_a, "epoch"_a);
}

// ---- single evaluations -------------------------------------------------------------------------
template <class T>
nb::tuple loss_and_gradient(const Array<T>& packed, const Shape& s, const Array<int32_t>& tokens,
                            const Array<int32_t>& targets, const Bytes& cut_positions,
                            const Bytes& cut_units, bool naive_twin) {
  auto grad = make_array<T>({packed.size()});
  const T* theta = weights(packed, s);
  const Examples data = examples(tokens, targets, s);
  const Ablation off = ablation(cut_positions, cut_units, s);
  T loss;
  {
    nb::gil_scoped_release release;
    if (naive_twin) {
      loss = naive::loss_and_gradient(grad.data(), theta, s, data, off);
    } else {
      const Memory memory = allocate(engine<T>().work_bytes(s, data.count));
      loss = engine<T>().loss_and_gradient(grad.data(), theta, s, data, off, memory.get());
    }
  }
  return nb::make_tuple(loss, grad);
}

template <class T>
nb::dict inspect(const Array<T>& packed, const Shape& s, const Array<int32_t>& tokens,
                 nb::dict patch, const Bytes& cut_positions, const Bytes& cut_units) {
  auto targets = make_array<int32_t>({tokens.shape(0)});
  const Examples data = examples(tokens, nb::cast<Array<int32_t>>(nb::cast(targets)), s);
  const auto n = static_cast<size_t>(data.count), d = static_cast<size_t>(s.dim);
  const auto N = static_cast<size_t>(s.length), R = static_cast<size_t>(s.embeddings);
  Activations<T> out{}, patches{};
  struct Field {
    const char* name;
    T** out;
    T** patch;
    std::vector<size_t> shape;
  };
  const std::vector<Field> fields = {
      {"embedding", &out.embedding, &patches.embedding, {n, N, d}},
      {"normalized", &out.normalized, &patches.normalized, {n, N, d}},
      {"scores", &out.scores, &patches.scores, {n, N}},
      {"attention", &out.attention, &patches.attention, {n, N}},
      {"values", &out.values, &patches.values, {n, N, d}},
      {"sequence", &out.sequence, &patches.sequence, {n, d}},
      {"sequence_normalized", &out.sequence_normalized, &patches.sequence_normalized, {n, d}},
      {"hidden", &out.hidden, &patches.hidden, {n, static_cast<size_t>(s.hidden)}},
      {"feed_forward", &out.feed_forward, &patches.feed_forward, {n, d}},
      {"output", &out.output, &patches.output, {n, d}},
      {"logits", &out.logits, &patches.logits, {n, R}},
      {"probabilities", &out.probabilities, &patches.probabilities, {n, R}}};
  nb::dict result;
  std::vector<Array<T>> held;
  for (const Field& f : fields) {
    auto array = make_array<T>(f.shape);
    *f.out = array.data();
    result[f.name] = array;
    if (!patch.contains(f.name)) continue;
    held.push_back(nb::cast<Array<T>>(patch[f.name]));
    require(held.back().size() == array.size(), "a patch has the wrong size");
    *f.patch = const_cast<T*>(held.back().data());
  }
  const T* theta = weights(packed, s);
  const Ablation off = ablation(cut_positions, cut_units, s);
  nb::gil_scoped_release release;
  const Memory memory = allocate(engine<T>().work_bytes(s, data.count));
  engine<T>().inspect(out, patches, theta, s, data, off, memory.get());
  return result;
}

template <class T>
nb::tuple evaluate(const Array<T>& packed, const Shape& s, const Array<int32_t>& tokens,
                   const Array<int32_t>& targets) {
  require(packed.ndim() == 2 && static_cast<int64_t>(packed.shape(1)) == packed_size(s),
          "weights must be [rows, size]");
  const size_t rows = packed.shape(0);
  auto loss = make_array<double>({rows}), accuracy = make_array<double>({rows});
  const Examples data = examples(tokens, targets, s);
  {
    nb::gil_scoped_release release;
    const Memory memory = allocate(engine<T>().work_bytes(s, data.count));
    engine<T>().evaluate(loss.data(), accuracy.data(), packed.data(), static_cast<int64_t>(rows), s,
                         data, memory.get());
  }
  return nb::make_tuple(loss, accuracy);
}

template <class T> void bind_evaluations(nb::module_& m) {
  m.def("loss_and_gradient", loss_and_gradient<T>, "packed"_a, "shape"_a, "tokens"_a, "targets"_a,
        "cut_positions"_a.none() = nb::none(), "cut_units"_a.none() = nb::none(),
        "naive"_a = false);
  m.def("inspect", inspect<T>, "packed"_a, "shape"_a, "tokens"_a, "patch"_a,
        "cut_positions"_a.none() = nb::none(), "cut_units"_a.none() = nb::none());
  m.def("evaluate", evaluate<T>, "packed"_a, "shape"_a, "tokens"_a, "targets"_a);
  m.def("math", [](const std::string& name, const Array<T>& x) {
    auto y = make_array<T>({x.size()});
    for (int f = 0; f < static_cast<int>(std::size(MATH_NAMES)); ++f)
      if (name == MATH_NAMES[f]) {
        engine<T>().evaluate_math(f, y.data(), x.data(), static_cast<int64_t>(x.size()));
        return y;
      }
    throw std::invalid_argument("unknown function");
  });
}

template <class T> Numpy<T> initialize(const Shape& s, uint64_t seed) {
  auto packed = make_array<T>({static_cast<size_t>(packed_size(s))});
  engine<T>().initialize(packed.data(), s, seed);
  return packed;
}

// ---- measures -----------------------------------------------------------------------------------
template <class T> const MeasuresOf<T>& measures_of() {
  if constexpr (sizeof(T) == 4) return build().measures->single;
  else return build().measures->twice;
}

/// The circuits of several models, row by row of `packed`; a dict of arrays, one row per model.
template <class T>
nb::dict circuits(const Array<T>& packed, const Shape& s, const PyTask& task,
                  const Array<int32_t>& prefixes, const Array<int32_t>& groups,
                  const Array<int32_t>& suffixes, bool sampled,
                  const std::vector<std::string>& wanted) {
  const TaskSpec t = task.spec();
  require(t.length == s.length && t.vocab == s.vocab, "the task must be of the model's shape");
  require(prefixes.ndim() == 2 && suffixes.ndim() == 2 && groups.size() > 1,
          "prefixes and suffixes must be tables, in at least one group");
  const Crossed data{t.kind,
                     t.positions,
                     t.relevant,
                     prefixes.data(),
                     groups.data(),
                     suffixes.data(),
                     static_cast<int64_t>(prefixes.shape(0)),
                     static_cast<int64_t>(groups.size()) - 1,
                     static_cast<int64_t>(suffixes.shape(0)),
                     sampled};
  check_crossed(data, prefixes, suffixes, s);
  require(packed.ndim() == 2 && static_cast<int64_t>(packed.shape(1)) == packed_size(s),
          "weights must be [rows, size]");
  const auto N = static_cast<size_t>(s.length), k = static_cast<size_t>(t.relevant);
  CircuitMeasures out{};
  struct Field {
    const char* name;
    double** out;
    std::vector<size_t> shape;
  };
  const std::vector<Field> fields = {
      {"embedding", &out.embedding, {SHARES}},
      {"logits", &out.logits, {SHARES}},
      {"accuracy", &out.accuracy, {}},
      {"permutation_survival", &out.permutation_survival, {}},
      {"suffix_survival", &out.suffix_survival, {}},
      {"attention", &out.attention, {N}},
      {"value_spread", &out.value_spread, {N}},
      {"value_size", &out.value_size, {}},
      {"redraw", &out.redraw, {N}},
      {"swap", &out.swap, {k, k}},
      {"without_attention", &out.without_attention, {N}},
      {"without_value", &out.without_value, {N}},
      {"without_unit", &out.without_unit, {static_cast<size_t>(s.hidden)}},
      {"clusters", &out.clusters, {4}}};
  // Some are found together and must be asked for together, see below.
  auto asked = [&](const char* name) {
    for (const std::string& each : wanted)
      if (each == name) return true;
    return wanted.empty();
  };
  nb::dict result;
  std::vector<std::pair<double**, size_t>> rows;
  for (const Field& f : fields) {
    if (!asked(f.name)) continue;
    std::vector<size_t> shape = {packed.shape(0)};
    shape.insert(shape.end(), f.shape.begin(), f.shape.end());
    auto array = make_array<double>(shape);
    *f.out = array.data();
    size_t size = 1;
    for (size_t n : f.shape) size *= n;
    rows.emplace_back(f.out, size);
    result[f.name] = array;
  }
  require(!out.value_spread == !out.value_size &&
              !out.permutation_survival == !out.suffix_survival &&
              !out.without_attention == !out.without_value &&
              (out.accuracy || !(out.logits || out.without_unit || out.permutation_survival)),
          "measures that are found together must be asked for together");
  const MeasuresOf<T>& measures = measures_of<T>();
  nb::gil_scoped_release release;
  const Memory memory = allocate(measures.circuit_bytes(s, data, out));
  for (size_t row = 0; row < packed.shape(0); ++row) {
    measures.circuit(out, packed.data() + row * packed.shape(1), s, data, memory.get());
    for (auto& [place, size] : rows) *place += size;
  }
  return result;
}

/// The Hessian times each row of `directions`; also the gradient and the loss.
nb::tuple hessian_products(const Array<double>& packed, const Shape& s,
                           const Array<int32_t>& tokens, const Array<int32_t>& targets,
                           const Array<double>& directions) {
  const auto size = static_cast<size_t>(packed_size(s));
  require(packed.size() == size, "weights must be [size]");
  require(directions.ndim() == 2 && directions.shape(1) == size, "directions must be [rows, size]");
  auto products = make_array<double>({directions.shape(0), size}),
       grad = make_array<double>({size});
  const Examples data = examples(tokens, targets, s);
  double loss = 0;
  {
    nb::gil_scoped_release release;
    const Curvature& curvature = *build().curvature;
    const Memory memory = allocate(curvature.bytes(s, data.count));
    loss = curvature.products(products.data(), grad.data(), packed.data(), directions.data(),
                              static_cast<int64_t>(directions.shape(0)), s, data, memory.get());
  }
  return nb::make_tuple(products, grad, loss);
}

/// The plane on which points [n, d] are shown: axes [2, d], mean [d], shares [2].
nb::tuple plane_of(const Array<double>& points) {
  require(points.ndim() == 2 && points.size() > 0, "points must be [count, dim]");
  const size_t n = points.shape(0), d = points.shape(1);
  auto axes = make_array<double>({2, d}), mean = make_array<double>({d}),
       shares = make_array<double>({2});
  bool found = false;
  {
    nb::gil_scoped_release release;
    const auto work = static_cast<size_t>(plane_work(static_cast<int64_t>(d)));
    const Memory memory = allocate(work * sizeof(double));
    found = plane(axes.data(), mean.data(), shares.data(), points.data(), static_cast<int64_t>(n),
                  static_cast<int64_t>(d), static_cast<double*>(memory.get()));
  }
  require(found, "points must be finite");
  return nb::make_tuple(axes, mean, shares);
}

template <class T> void bind_measures(nb::module_& m) {
  m.def("circuits", circuits<T>, "packed"_a, "shape"_a, "task"_a, "prefixes"_a, "groups"_a,
        "suffixes"_a, "sampled"_a, "wanted"_a);
}

// ---- data ---------------------------------------------------------------------------------------
Numpy<int32_t> draw(size_t count, size_t length, int64_t vocab, uint64_t seed, uint32_t stream) {
  auto tokens = make_array<int32_t>({count, length});
  build().task->draw(tokens.data(), 0, static_cast<int64_t>(count), static_cast<int64_t>(length),
                     vocab, seed, stream);
  return tokens;
}

Numpy<int32_t> enumerate(size_t count, size_t length, int64_t vocab) {
  auto tokens = make_array<int32_t>({count, length});
  build().task->enumerate(tokens.data(), 0, static_cast<int64_t>(count),
                          static_cast<int64_t>(length), vocab);
  return tokens;
}

Numpy<int32_t> targets(const PyTask& task, const Array<int32_t>& tokens) {
  const TaskSpec t = task.spec();
  check_rows(tokens, t.length, t.vocab);
  auto found = make_array<int32_t>({tokens.shape(0)});
  build().task->targets(found.data(), tokens.data(), static_cast<int64_t>(tokens.shape(0)), t);
  return found;
}

/// What stands for the group of each prefix.
Numpy<int32_t> canonical(const PyTask& task, const Array<int32_t>& prefixes) {
  const TaskSpec t = task.spec();
  check_rows(prefixes, t.relevant, t.vocab);
  auto found = make_array<int32_t>({prefixes.shape(0), prefixes.shape(1)});
  std::copy(prefixes.data(), prefixes.data() + prefixes.size(), found.data());
  for (size_t i = 0; i < prefixes.shape(0); ++i)
    build().task->make_canonical(t.kind, found.data() + i * prefixes.shape(1), t.relevant);
  return found;
}

std::vector<std::string> group_names(const PyTask& task, const Array<int32_t>& prefixes) {
  const auto found = canonical(task, prefixes);
  std::vector<std::string> names;
  for (size_t i = 0; i < prefixes.shape(0); ++i)
    names.emplace_back(GroupName(task.spec(), found.data() + i * prefixes.shape(1)).text);
  return names;
}

/// [relevant, relevant]: whether exchanging two relevant tokens is a symmetry.
Numpy<bool> exchangeable(const PyTask& task) {
  const TaskSpec t = task.spec();
  const auto k = static_cast<size_t>(t.relevant);
  auto found = make_array<bool>({k, k});
  for (size_t i = 0; i < k * k; ++i)
    found.data()[i] = build().task->exchangeable(t.kind, static_cast<int64_t>(i / k),
                                                 static_cast<int64_t>(i % k));
  return found;
}

Numpy<double> class_shares(const PyTask& task) {
  const TaskSpec t = task.spec();
  auto shares = make_array<double>({static_cast<size_t>(t.vocab)});
  nb::gil_scoped_release release;
  const Memory memory = allocate(build().task->class_shares_bytes(t));
  build().task->class_shares(shares.data(), t, memory.get());
  return shares;
}

/// prefixes, groups, suffixes, and whether they are a sample.
nb::tuple design(const PyTask& task) {
  const TaskSpec t = task.spec();
  const DesignSizes sizes = build().task->design_sizes(t);
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  auto prefixes = make_array<int32_t>({size(sizes.prefix_count), size(t.relevant)});
  auto groups = make_array<int32_t>({size(sizes.group_count) + 1});
  auto suffixes = make_array<int32_t>({size(sizes.suffix_count), size(t.length - t.relevant)});
  {
    nb::gil_scoped_release release;
    const Memory memory = allocate(build().task->design_bytes(t));
    build().task->design(prefixes.data(), groups.data(), suffixes.data(), t, memory.get());
  }
  return nb::make_tuple(prefixes, groups, suffixes, sizes.sampled);
}

void bind_tasks(nb::module_& m) {
  nb::dict groupings;
  for (int kind = 0; kind < TASKS; ++kind)
    groupings[TASK_NAMES[kind]] = GROUPING_NAMES[TASK_GROUPINGS[kind]];
  m.attr("TASK_GROUPINGS") = groupings;
  m.attr("MAX_MEASURED") = MAX_MEASURED;
  nb::class_<PyTask>(m, "Task")
      .def(nb::init<const std::string&, int64_t, int64_t, const std::vector<int32_t>&>(),
           nb::kw_only(), "name"_a, "length"_a, "vocab"_a, "positions"_a)
      .def_prop_ro("groups",
                   [](const PyTask& task) { return build().task->count_groups(task.spec()); })
      .def("targets", targets, "tokens"_a)
      .def("canonical", canonical, "prefixes"_a)
      .def("group_names", group_names, "prefixes"_a)
      .def("exchangeable", exchangeable)
      .def("class_shares", class_shares)
      .def("design", design);
}

Numpy<uint32_t> shuffled(size_t count, uint64_t seed, uint32_t epoch) {
  auto order = make_array<uint32_t>({count});
  build().task->shuffle(order.data(), static_cast<uint32_t>(count), seed, epoch);
  return order;
}

/// Curve names in column order, one per parameter where a curve has one.
template <size_t N> nb::tuple curve_names(const char* const (&names)[N], size_t plain) {
  nb::list all;
  for (size_t i = 0; i < N; ++i) {
    if (i < plain) all.append(names[i]);
    else
      for (const char* parameter : PARAMETER_NAMES)
        all.append(std::string(names[i]) + "/" + parameter);
  }
  return nb::tuple(all);
}

}  // namespace
}  // namespace dynascope

NB_MODULE(_kernel, m) {
  using namespace dynascope;
  try {
    build();  // an impossible DYNASCOPE_ISA is said at import, not in the middle of a run
  } catch (const std::invalid_argument& error) {
    throw nb::import_error(error.what());
  }

  nb::list names;
  for (const char* name : PARAMETER_NAMES) names.append(name);
  m.attr("PARAMETER_NAMES") = nb::tuple(names);
  m.attr("CURVE_NAMES") = curve_names(CURVE_NAMES, GRAD_NORM);
  m.attr("STEP_CURVE_NAMES") = curve_names(STEP_CURVE_NAMES, STEP_GRAD_NORM);
  m.def("isa", [] { return std::string(build().name); });
  m.def("usable_isas", [] {
    std::vector<std::string> all;
    for (const Build& b : usable_builds()) all.emplace_back(b.name);
    return all;
  });

  nb::class_<Shape>(m, "Shape")
      .def(
          "__init__",
          [](Shape* s, int64_t vocab, int64_t embeddings, int64_t length, int64_t dim,
             int64_t hidden, bool bias, const std::string& activation, const std::string& norm,
             double norm_eps, double norm_tau) {
            new (s) Shape{vocab,
                          embeddings,
                          length,
                          dim,
                          hidden,
                          bias,
                          index_of(activation, ACTIVATION_NAMES),
                          index_of(norm, NORM_NAMES),
                          norm_eps,
                          norm_tau};
          },
          nb::kw_only(), "vocab"_a, "embeddings"_a, "length"_a, "dim"_a, "hidden"_a, "bias"_a,
          "activation"_a, "norm"_a, "norm_eps"_a, "norm_tau"_a);
  nb::class_<Training>(m, "Training")
      .def(
          "__init__",
          [](Training* t, const std::string& optimizer, const std::string& schedule, double lr,
             double momentum, double beta1, double beta2, double eps, double weight_decay,
             double clip, double mlp_lr_discount, double lr_final, int64_t warmup, int64_t batch,
             int64_t epochs, double query_limit, bool unit_tokens, bool unit_positions) {
            new (t) Training{index_of(optimizer, RULE_NAMES),
                             index_of(schedule, SCHEDULE_NAMES),
                             lr,
                             momentum,
                             beta1,
                             beta2,
                             eps,
                             weight_decay,
                             clip,
                             mlp_lr_discount,
                             lr_final,
                             warmup,
                             batch,
                             epochs,
                             query_limit,
                             {unit_tokens, unit_positions}};
          },
          nb::kw_only(), "optimizer"_a, "schedule"_a, "lr"_a, "momentum"_a, "beta1"_a, "beta2"_a,
          "eps"_a, "weight_decay"_a, "clip"_a, "mlp_lr_discount"_a, "lr_final"_a, "warmup"_a,
          "batch"_a, "epochs"_a, "query_limit"_a, "unit_tokens"_a, "unit_positions"_a);

  m.def(
      "parameter_shapes",
      [](int64_t vocab, int64_t length, int64_t dim, int64_t hidden, int64_t embeddings,
         bool bias) {
        nb::dict shapes;
        const Shape s{vocab, embeddings, length, dim, hidden, bias, GELU, RMS, 0, 1};
        for (const auto& [name, shape] : parameter_shapes(s)) {
          nb::list sizes;
          for (int64_t n : shape) sizes.append(n);
          shapes[name.c_str()] = nb::tuple(sizes);
        }
        return shapes;
      },
      nb::kw_only(), "vocab"_a, "length"_a, "dim"_a, "hidden"_a, "embeddings"_a, "bias"_a);

  bind_trainer<float>(m, "Trainer32");
  bind_trainer<double>(m, "Trainer64");
  bind_evaluations<float>(m);
  bind_evaluations<double>(m);
  bind_tasks(m);
  bind_measures<float>(m);
  bind_measures<double>(m);
  m.def("hessian_products", hessian_products, "packed"_a, "shape"_a, "tokens"_a, "targets"_a,
        "directions"_a);
  m.def("plane", plane_of, "points"_a);
  m.def("initialize32", initialize<float>, "shape"_a, "seed"_a);
  m.def("initialize64", initialize<double>, "shape"_a, "seed"_a);
  m.def("draw", draw, "count"_a, "length"_a, "vocab"_a, "seed"_a, "stream"_a);
  m.def("enumerate", enumerate, "count"_a, "length"_a, "vocab"_a);
  m.def("shuffled", shuffled, "count"_a, "seed"_a, "epoch"_a);
}
