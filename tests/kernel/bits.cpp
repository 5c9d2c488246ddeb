// Prints a hash of every number of a few short trainings, of circuits and of Hessians: the same for
// every compiler and target. Used by test_compilers.py.
//
// An argument is a hostile floating-point mode, as the control register has it in hexadecimal. Such
// a program must print the same, and its exit code tells whether it has the mode again at the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "engine.hpp"
#include "float_environment.hpp"

using namespace dynascope;

extern "C" const Engine<float>* dynascope_engine_tested_float();
extern "C" const Engine<double>* dynascope_engine_tested_double();
extern "C" const Task* dynascope_task_tested_float();
extern "C" const Measures* dynascope_measures_tested();
extern "C" const Curvature* dynascope_curvature_tested();

namespace {

constexpr int64_t COUNT = 512, EPOCHS = 20;

template <class T> uint64_t hash(const std::vector<T>& numbers, uint64_t h) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(numbers.data());
  for (size_t i = 0; i < numbers.size() * sizeof(T); ++i) h = (h ^ bytes[i]) * 1099511628211ull;
  return h;
}

template <class T> uint64_t train(const Engine<T>& engine, const Shape& shape, int64_t batch) {
  const Task& task = *dynascope_task_tested_float();
  TrainerInput<T> in{};
  in.shape = shape;
  in.training = {ADAM, COSINE, 3e-3, 0, 0.9, 0.999, 1e-8, 0, 0, 1, 0, 10, batch, EPOCHS, 0, {}};
  in.seed = 5;
  in.gradients = true;
  const int32_t positions[] = {0, 1, 2, 3, 4};
  std::vector<int32_t> tokens[2], targets[2];
  for (uint32_t set = 0; set < 2; ++set) {
    tokens[set].resize(static_cast<size_t>(COUNT * shape.length));
    targets[set].resize(COUNT);
    task.draw(tokens[set].data(), 0, COUNT, shape.length, shape.vocab, in.seed, set);
    task.targets(targets[set].data(), tokens[set].data(), COUNT,
                 {MODULAR_ADDITION, shape.length, shape.vocab, positions, 5});
    in.sets[set] = {tokens[set].data(), targets[set].data(), COUNT};
  }
  std::vector<T> weights(1 << 16), curves(EPOCHS * CURVES);
  engine.initialize(weights.data(), shape, in.seed);
  in.start = weights.data();
  char* memory = static_cast<char*>(std::malloc(engine.trainer_bytes(in) + 64));
  const auto aligned = (reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64;
  void* trainer = engine.make_trainer(in, reinterpret_cast<void*>(aligned));
  Recorder<T> recorder;
  recorder.curves = curves.data();
  engine.advance(trainer, EPOCHS, INT64_MAX, recorder);
  engine.read_parameters(trainer, weights.data());
  std::free(memory);
  return hash(weights, hash(curves, 1469598103934665603ull));
}

/// The circuit of initial weights, on three relevant tokens times every irrelevant one.
template <class T>
uint64_t measure(const Engine<T>& engine, const MeasuresOf<T>& measures, const Shape& shape) {
  const int32_t positions[] = {0, 1, 2}, groups[] = {0, 2, 4};
  const int32_t prefixes[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0};
  std::vector<int32_t> suffixes(static_cast<size_t>(64 * (shape.length - 3)));
  dynascope_task_tested_float()->draw(suffixes.data(), 0, 64, shape.length - 3, shape.vocab, 1, 3);
  uint64_t h = 1469598103934665603ull;
  for (const bool sampled : {false, true}) {
    const Crossed data{MODULAR_ADDITION, positions, 3, prefixes, groups,
                       suffixes.data(),  4,         2, 64,       sampled};
    std::vector<T> weights(1 << 16);
    engine.initialize(weights.data(), shape, 5);
    const auto N = static_cast<size_t>(shape.length), H = static_cast<size_t>(shape.hidden);
    const size_t sizes[] = {SHARES, SHARES, 1, 1, 1, N, N, 1, N, 9, N, N, H, 4};
    size_t total = 0;
    for (size_t size : sizes) total += size;
    std::vector<double> numbers(total);
    CircuitMeasures out{};
    double* places[std::size(sizes)];
    for (size_t i = 0, at = 0; i < std::size(sizes); at += sizes[i++])
      places[i] = numbers.data() + at;
    static_assert(sizeof out == sizeof places, "one place for each measure");
    std::memcpy(&out, places, sizeof out);
    char* memory = static_cast<char*>(std::malloc(measures.circuit_bytes(shape, data, out) + 64));
    const auto aligned = (reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64;
    measures.circuit(out, weights.data(), shape, data, reinterpret_cast<void*>(aligned));
    std::free(memory);
    h = hash(numbers, h);
  }
  return h;
}

/// The Hessian of initial weights, times six directions.
uint64_t bend(const Shape& shape, int64_t size) {
  const Curvature& curvature = *dynascope_curvature_tested();
  const auto n = static_cast<size_t>(size), N = static_cast<size_t>(shape.length);
  std::vector<double> weights(n), directions(6 * n), products(6 * n), grad(n);
  dynascope_engine_tested_double()->initialize(weights.data(), shape, 5);
  for (size_t i = 0; i < directions.size(); ++i) directions[i] = static_cast<double>(i % 7) - 3;
  std::vector<int32_t> tokens(100 * N), targets(100);
  dynascope_task_tested_float()->draw(tokens.data(), 0, 100, shape.length, shape.vocab, 1, 0);
  const Examples data{tokens.data(), targets.data(), 100};
  char* memory = static_cast<char*>(std::malloc(curvature.bytes(shape, data.count) + 64));
  const auto aligned = (reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64;
  curvature.products(products.data(), grad.data(), weights.data(), directions.data(), 6, shape,
                     data, reinterpret_cast<void*>(aligned));
  std::free(memory);
  return hash(grad, hash(products, 1469598103934665603ull));
}

void print_all() {
  const FloatEnvironment as_the_kernel_needs_it;
  const Shape shapes[] = {{2, 2, 12, 2, 32, true, GELU, RMS, 1e-5, 1.0},
                          {3, 4, 12, 5, 19, true, SILU, SMOOTH, 1e-5, 1.0},
                          {20, 20, 12, 17, 9, false, RELU, UNIT, 1e-5, 1.0}};
  for (const Shape& shape : shapes) {
    const uint64_t single = train(*dynascope_engine_tested_float(), shape, 33);
    const uint64_t twice = train(*dynascope_engine_tested_double(), shape, 32);
    const Measures& of = *dynascope_measures_tested();
    const uint64_t found = measure(*dynascope_engine_tested_float(), of.single, shape) ^
                           3 * measure(*dynascope_engine_tested_double(), of.twice, shape);
    const int64_t d = shape.dim, h = shape.hidden;
    const int64_t size =
        (shape.embeddings + shape.length + 1 + d + 2 * h) * d + (shape.bias ? h + d : 0);
    const uint64_t bent = bend(shape, size);
    for (const uint64_t each : {single, twice, found, bent})
      std::printf("%016llx ", static_cast<unsigned long long>(each));
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  using Mode = FloatEnvironment::Register;
  if (count > 1)
    FloatEnvironment::write(static_cast<Mode>(std::strtoull(arguments[1], nullptr, 16)));
  const Mode before = FloatEnvironment::read();
  print_all();
  return FloatEnvironment::read() == before ? 0 : 1;
}
