// The Python extension `dynascope._kernel`: arrays in, arrays out, the GIL released while
// computing.
//
// Thin on purpose. Arguments have been checked by the Python side, which can say better what is
// wrong; what is checked here as well is what would otherwise write out of bounds.
#include "catalog_json.hpp"
#include "model_naive.hpp"
#include "projection.hpp"
#include "python_bind.hpp"
#include "python_options.hpp"
#include "python_task.hpp"
#include "python_trainer.hpp"
#include "shares.hpp"

namespace dynascope {
namespace {

// ---- single evaluations -------------------------------------------------------------------------
template <class T>
nb::tuple loss_and_gradient(const Array<T>& packed, const Shape& s, const Array<int32_t>& tokens,
                            const Array<int32_t>& targets, const Bytes& cut_positions,
                            const Bytes& cut_units, bool naive_twin, const Attention& held) {
  auto grad = make_array<T>({packed.size()});
  const T* theta = weights(packed, s);
  const Examples data = examples(tokens, targets, s);
  const Ablation off = ablation(cut_positions, cut_units, held, s);
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
                 nb::dict patch, const Bytes& cut_positions, const Bytes& cut_units,
                 const Attention& held_attention) {
  auto targets = make_array<int32_t>({tokens.shape(0)});
  const Examples data = examples(tokens, nb::cast<Array<int32_t>>(nb::cast(targets)), s);
  // Both structs have one pointer per row of the table, in its order.
  Activations<T> out{}, patches{};
  static_assert(sizeof out == STAGES * sizeof(T*), "a pointer for each stage");
  T **to = reinterpret_cast<T**>(&out), **from = reinterpret_cast<T**>(&patches);
  nb::dict result;
  std::vector<Array<T>> held;
  for (const ShapeRow& row : STAGE_ROWS) {
    std::vector<size_t> shape = sizes(row.rows, row.columns, s);
    shape.insert(shape.begin(), static_cast<size_t>(data.count));
    auto array = make_array<T>(shape);
    *to++ = array.data();
    result[row.name] = array;
    T*& patched = *from++;
    if (!patch.contains(row.name)) continue;
    held.push_back(nb::cast<Array<T>>(patch[row.name]));
    expect(held.back().size() == array.size(), "a patch has the wrong size");
    patched = const_cast<T*>(held.back().data());
  }
  const T* theta = weights(packed, s);
  const Ablation off = ablation(cut_positions, cut_units, held_attention, s);
  nb::gil_scoped_release release;
  const Memory memory = allocate(engine<T>().work_bytes(s, data.count));
  engine<T>().inspect(out, patches, theta, s, data, off, memory.get());
  return result;
}

template <class T>
nb::tuple evaluate(const Array<T>& packed, const Shape& s, const Array<int32_t>& tokens,
                   const Array<int32_t>& targets) {
  const size_t rows = weight_rows(packed, s);
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

int math_function(const std::string& name) {
  for (int f = 0; f < ACTIVATION_VALUES; ++f)
    if (name == MATH_NAMES[f]) return f;
  for (int a = 0; a < ACTIVATIONS; ++a)
    for (int k = 0; k < 3; ++k)
      if (name == std::string(ACTIVATION_NAMES[a]) + MATH_OF_ACTIVATION[k])
        return ACTIVATION_VALUES + 3 * a + k;
  throw std::invalid_argument("unknown function");
}

template <class T> void bind_evaluations(Module& m) {
  m.def("loss_and_gradient", loss_and_gradient<T>, "packed"_a, "shape"_a, "tokens"_a, "targets"_a,
        "cut_positions"_a.none() = nb::none(), "cut_units"_a.none() = nb::none(), "naive"_a = false,
        "attention"_a.none() = nb::none());
  m.def("inspect", inspect<T>, "packed"_a, "shape"_a, "tokens"_a, "patch"_a,
        "cut_positions"_a.none() = nb::none(), "cut_units"_a.none() = nb::none(),
        "attention"_a.none() = nb::none());
  m.def("evaluate", evaluate<T>, "packed"_a, "shape"_a, "tokens"_a, "targets"_a);
  m.def("math", [](const std::string& name, const Array<T>& x) {
    auto y = make_array<T>({x.size()});
    engine<T>().evaluate_math(math_function(name), y.data(), x.data(),
                              static_cast<int64_t>(x.size()));
    return y;
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
/// `meter` is [2]: how many sequences are done, and of how many, for a thread that looks meanwhile.
template <class T>
nb::dict circuits(const Array<T>& packed, const Shape& s, const PyTask& task,
                  const Array<int32_t>& prefixes, const Array<int32_t>& groups,
                  const Array<int32_t>& suffixes, bool sampled,
                  const std::vector<std::string>& wanted,
                  std::optional<nb::ndarray<int64_t, nb::c_contig, nb::device::cpu>> meter) {
  const TaskSpec t = task.spec();
  expect(t.length == s.length && t.vocab == s.vocab, "the task must be of the model's shape");
  expect(prefixes.ndim() == 2 && suffixes.ndim() == 2 && groups.size() > 1,
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
  expect(static_cast<int64_t>(prefixes.shape(1)) == data.relevant &&
             static_cast<int64_t>(suffixes.shape(1)) == s.length - data.relevant,
         "prefixes must be [count, relevant] and suffixes [count, length - relevant]");
  must(check_crossed(data, s));
  const size_t models = weight_rows(packed, s);
  CircuitMeasures out{};
  static_assert(sizeof out == MEASURES * sizeof(double*), "a pointer for each measure");
  // Some are found together and must be asked for together, see below.
  auto asked = [&](const char* name) {
    for (const std::string& each : wanted)
      if (each == name) return true;
    return wanted.empty();
  };
  nb::dict result;
  std::vector<std::pair<double**, size_t>> rows;
  double** place = reinterpret_cast<double**>(&out);
  for (const ShapeRow& row : MEASURE_ROWS) {
    double** here = place++;
    if (!asked(row.name)) continue;
    std::vector<size_t> shape = sizes(row.rows, row.columns, s, data.relevant);
    size_t size = 1;
    for (size_t n : shape) size *= n;
    shape.insert(shape.begin(), models);
    auto array = make_array<double>(shape);
    *here = array.data();
    rows.emplace_back(here, size);
    result[row.name] = array;
  }
  must(check_wanted(out));
  expect(!meter || meter->size() == 2, "meter must have two numbers");
  Meter* const seen = meter ? reinterpret_cast<Meter*>(meter->data()) : nullptr;
  const MeasuresOf<T>& measures = measures_of<T>();
  nb::gil_scoped_release release;
  const Memory memory = allocate(measures.circuit_bytes(s, data, out));
  for (size_t row = 0; row < models; ++row) {
    measures.circuit(out, packed.data() + row * packed.shape(1), s, data, memory.get(), seen);
    for (auto& [at, size] : rows) *at += size;
  }
  return result;
}

// ---- the sum that a circuit keeps ---------------------------------------------------------------
TaskSpec summed(const PyTask& task, const Shape& s) {
  const TaskSpec t = task.spec();
  must(check_summed(t, s));
  return t;
}

/// For each row of `packed`: None where nothing varies, else kind, terms [sums, length, vocab,
/// vocab], positions apart, share, corrected share, share told apart, values, the corrected share
/// of each kind that was tried, and how many candidates were.
nb::list kept_sums(const Array<double>& packed, const Shape& s, const PyTask& task,
                   double threshold, double rounding, bool exhaustive) {
  const TaskSpec t = summed(task, s);
  const size_t models = weight_rows(packed, s), N = static_cast<size_t>(s.length),
               p = static_cast<size_t>(s.vocab);
  const Measures& measures = *build().measures;
  const SumRule rule{threshold, rounding, exhaustive};
  nb::list found;
  const Memory memory = allocate(measures.kept_sum_bytes(s, t));
  for (size_t row = 0; row < models; ++row) {
    auto terms = make_array<int32_t>({MOST_SUMS, N, p, p});
    KeptSum sum{};
    sum.terms = terms.data();
    bool varies = false;
    {
      nb::gil_scoped_release release;
      varies =
          measures.kept_sum(sum, packed.data() + row * packed.shape(1), s, t, rule, memory.get());
    }
    if (!varies) {
      found.append(nb::none());
      continue;
    }
    nb::dict best;
    for (int kind = 0; kind < SUM_UNEXPLAINED; ++kind) best[SUM_KIND_NAMES[kind]] = sum.best[kind];
    nb::list apart;
    for (int32_t position : sum.apart)
      if (position >= 0) apart.append(position);
    found.append(nb::make_tuple(SUM_KIND_NAMES[sum.kind], terms, sum.sums, nb::tuple(apart),
                                sum.share, sum.corrected, sum.told_apart, sum.values, best,
                                sum.tried));
  }
  return found;
}

/// share [rows] of a given sum, NaN where nothing varies, and values [rows].
nb::tuple sum_shares(const Array<double>& packed, const Shape& s, const PyTask& task,
                     const Array<int32_t>& terms, int sums, const std::vector<int32_t>& apart,
                     double rounding) {
  const TaskSpec t = summed(task, s);
  const size_t models = weight_rows(packed, s);
  const auto size = static_cast<size_t>(MOST_SUMS * s.length * s.vocab * s.vocab);
  expect(terms.size() == size && sums >= 1 && sums <= MOST_SUMS && apart.size() <= MOST_APART,
         "terms must be [2, length, vocab, vocab], with at most two positions apart");
  SumTable sum{terms.data(), sums, {-1, -1}};
  for (size_t i = 0; i < apart.size(); ++i) sum.apart[i] = apart[i];
  auto share = make_array<double>({models});
  auto values = make_array<int64_t>({models});
  {
    nb::gil_scoped_release release;
    const Measures& measures = *build().measures;
    const Memory memory = allocate(measures.sum_share_bytes(s, t));
    for (size_t row = 0; row < models; ++row)
      if (!measures.sum_share(share.data()[row], values.data()[row],
                              packed.data() + row * packed.shape(1), s, t, sum, rounding,
                              memory.get()))
        share.data()[row] = __builtin_nan("");
  }
  return nb::make_tuple(share, values);
}

/// The Hessian times each row of `directions`; also the gradient and the loss.
nb::tuple hessian_products(const Array<double>& packed, const Shape& s,
                           const Array<int32_t>& tokens, const Array<int32_t>& targets,
                           const Array<double>& directions) {
  const auto size = static_cast<size_t>(packed_size(s));
  expect(packed.size() == size, "weights must be [size]");
  expect(directions.ndim() == 2 && directions.shape(1) == size, "directions must be [rows, size]");
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

/// A matrix becomes its mean with its transpose. Here, and not in Python, so that its bits do not
/// depend on the caller's floating-point mode.
void symmetrize(const Out<double>& matrix) {
  expect(matrix.ndim() == 2 && matrix.shape(0) == matrix.shape(1), "a matrix must be square");
  const size_t n = matrix.shape(0);
  double* entry = matrix.data();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      entry[i * n + j] = entry[j * n + i] = (entry[i * n + j] + entry[j * n + i]) / 2;
}

/// The plane on which points [n, d] are shown: axes [2, d], mean [d], shares [2].
nb::tuple plane_of(const Array<double>& points) {
  expect(points.ndim() == 2 && points.size() > 0, "points must be [count, dim]");
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
  expect(found, "points must be finite");
  return nb::make_tuple(axes, mean, shares);
}

/// The shares between, permutation and suffix of a variance and the variance itself, from its parts
/// as `circuits` gives them; None: nothing varies.
nb::object shares_of(const Array<double>& parts, double rounding) {
  expect(parts.ndim() == 1 && parts.size() == SHARES, "parts must be those of a variance");
  double out[SHARES];
  if (!variance_shares(out, parts.data(), rounding)) return nb::none();
  return nb::make_tuple(out[BETWEEN], out[PERMUTATION], out[SUFFIX], out[MEAN_SQUARE]);
}

template <class T> void bind_measures(Module& m) {
  m.def("circuits", circuits<T>, "packed"_a, "shape"_a, "task"_a, "prefixes"_a, "groups"_a,
        "suffixes"_a, "sampled"_a, "wanted"_a, "meter"_a = nb::none());
}

// ---- data ---------------------------------------------------------------------------------------
void check_drawn(size_t count, size_t length, int64_t vocab) {
  must(check_sizes(static_cast<double>(count), static_cast<double>(length), 1) &&
       whole("vocab", static_cast<double>(vocab), 1, INT32_MAX));
}

Numpy<int32_t> draw(size_t count, size_t length, int64_t vocab, uint64_t seed, uint32_t stream) {
  check_drawn(count, length, vocab);
  auto tokens = make_array<int32_t>({count, length});
  build().task->draw(tokens.data(), 0, static_cast<int64_t>(count), static_cast<int64_t>(length),
                     vocab, seed, stream);
  return tokens;
}

Numpy<int32_t> enumerate(size_t count, size_t length, int64_t vocab) {
  check_drawn(count, length, vocab);
  auto tokens = make_array<int32_t>({count, length});
  build().task->enumerate(tokens.data(), 0, static_cast<int64_t>(count),
                          static_cast<int64_t>(length), vocab);
  return tokens;
}

Numpy<uint32_t> shuffled(size_t count, uint64_t seed, uint32_t epoch) {
  must(whole("count", static_cast<double>(count), 0, MAX_SEQUENCES));
  auto order = make_array<uint32_t>({count});
  build().task->shuffle(order.data(), static_cast<uint32_t>(count), seed, epoch);
  return order;
}

/// Curve names in column order, one per parameter where a curve has one.
template <size_t N> nb::tuple curve_names(const CurveRow (&rows)[N]) {
  nb::list all;
  for (const CurveRow& curve : rows) {
    if (!curve.each) all.append(curve.name);
    else
      for (const ParameterRow& parameter : PARAMETER_ROWS)
        all.append(std::string(curve.name) + "/" + parameter.name);
  }
  return nb::tuple(all);
}

std::string catalog() {
  std::string text;
  write_catalog([&](const char* more) { text += more; });
  return text;
}

}  // namespace
}  // namespace dynascope

NB_MODULE(_kernel, module) {
  using namespace dynascope;
  try {
    build();  // an impossible DYNASCOPE_ISA is said at import, not in the middle of a run
  } catch (const std::invalid_argument& possible) {
    // kernel_loading.py makes a sentence of it, with the value, which may be no text at all.
    const std::string names = std::string(possible.what()) + ";" + compiled_builds();
    throw nb::import_error(("DYNASCOPE_ISA:" + names).c_str());
  }

  Module m(module);
  nb::list names;
  for (const ParameterRow& row : PARAMETER_ROWS) names.append(row.name);
  m.set("PARAMETER_NAMES", nb::tuple(names));
  m.set("CURVE_NAMES", curve_names(CURVE_ROWS));
  m.set("STEP_CURVE_NAMES", curve_names(STEP_CURVE_ROWS));
  m.def("catalog", catalog);
  m.def("catalog_hash", catalog_hash);
  m.def("isa", [] { return std::string(build().name); });
  m.def("usable_isas", [] {
    std::vector<std::string> all;
    for (const Build& b : usable_builds()) all.emplace_back(b.name);
    return all;
  });

  bind_options(m);
  bind_trainer<float>(m, "Trainer32");
  bind_trainer<double>(m, "Trainer64");
  bind_evaluations<float>(m);
  bind_evaluations<double>(m);
  bind_tasks(m);
  bind_measures<float>(m);
  bind_measures<double>(m);
  m.def("hessian_products", hessian_products, "packed"_a, "shape"_a, "tokens"_a, "targets"_a,
        "directions"_a);
  m.def("kept_sums", kept_sums, "packed"_a, "shape"_a, "task"_a, "threshold"_a, "rounding"_a,
        "exhaustive"_a);
  m.def("sum_shares", sum_shares, "packed"_a, "shape"_a, "task"_a, "terms"_a, "sums"_a, "apart"_a,
        "rounding"_a);
  m.def("symmetrize", symmetrize, "matrix"_a.noconvert());
  m.def("plane", plane_of, "points"_a);
  m.def("is_variance", is_variance, "variance"_a, "mean_square"_a, "rounding"_a);
  m.def("variance_shares", shares_of, "parts"_a, "rounding"_a);
  m.def("initialize32", initialize<float>, "shape"_a, "seed"_a);
  m.def("initialize64", initialize<double>, "shape"_a, "seed"_a);
  m.def("draw", draw, "count"_a, "length"_a, "vocab"_a, "seed"_a, "stream"_a);
  m.def("enumerate", enumerate, "count"_a, "length"_a, "vocab"_a);
  m.def("shuffled", shuffled, "count"_a, "seed"_a, "epoch"_a);
}
