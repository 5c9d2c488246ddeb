// Prints a hash of every number of a few short trainings: the same for every compiler and target.
// Used by test_compilers.py.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "engine.hpp"

using namespace dynascope;

extern "C" const Engine<float>* dynascope_engine_tested_float();
extern "C" const Engine<double>* dynascope_engine_tested_double();
extern "C" const Task* dynascope_task_tested_float();

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
    task.draw(tokens[set].data(), COUNT, shape.length, shape.vocab, in.seed, set);
    task.add_modulo(targets[set].data(), tokens[set].data(), COUNT, shape.length, shape.vocab,
                    positions, 5);
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

}  // namespace

int main() {
  const Shape shapes[] = {{2, 2, 12, 2, 32, true, GELU, RMS, 1e-5, 1.0},
                          {3, 4, 12, 5, 19, true, SILU, SMOOTH, 1e-5, 1.0},
                          {20, 20, 12, 17, 9, false, RELU, UNIT, 1e-5, 1.0}};
  for (const Shape& shape : shapes) {
    const uint64_t single = train(*dynascope_engine_tested_float(), shape, 33);
    const uint64_t twice = train(*dynascope_engine_tested_double(), shape, 32);
    std::printf("%016llx %016llx\n", static_cast<unsigned long long>(single),
                static_cast<unsigned long long>(twice));
  }
}
