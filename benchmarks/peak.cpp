// The greatest rate of float32 multiplies and adds, in operations per second of all threads
// together.
//
//   peak THREADS SECONDS
//
// Vectors as wide as the machine has, twelve independent chains of x = x * a + b per thread: enough
// to keep two arithmetic units busy at a latency of four cycles, few enough for sixteen registers.
// Compiled with -ffp-contract=off: like the kernel, without fused multiply-add.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int BYTES = 64;
#elif defined(__AVX__)
constexpr int BYTES = 32;
#else
constexpr int BYTES = 16;
#endif

typedef float Vector __attribute__((vector_size(BYTES)));

constexpr int CHAINS = 12;
constexpr int ROUNDS = 1 << 16;
constexpr double OPERATIONS = 2.0 * CHAINS * ROUNDS * (BYTES / sizeof(float));

static volatile float sink;

/// x converges to b / (1 - a): neither overflow nor denormals, which would be slow.
static void round_of_work(Vector (&x)[CHAINS]) {
  const Vector a = Vector{} + 0.5f, b = Vector{} + 1.0f;
  for (int i = 0; i < ROUNDS; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; ++k) x[k] = x[k] * a + b;
  }
}

static double rate(double seconds, std::atomic<int>& waiting) {
  using Clock = std::chrono::steady_clock;
  Vector x[CHAINS];
  for (int k = 0; k < CHAINS; ++k) x[k] = Vector{} + static_cast<float>(k);
  for (--waiting; waiting > 0;) {  // all threads start together
  }
  const auto begin = Clock::now();
  double operations = 0, elapsed = 0;
  while (elapsed < seconds) {
    round_of_work(x);
    operations += OPERATIONS;
    elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  for (const Vector& v : x) sink = v[0];
  return operations / elapsed;
}

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s THREADS SECONDS\n", arguments[0]);
    return 2;
  }
  const int threads = std::atoi(arguments[1]);
  const double seconds = std::atof(arguments[2]);
  std::vector<double> rates(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  std::atomic<int> waiting(threads);
  for (double& r : rates) running.emplace_back([&] { r = rate(seconds, waiting); });
  for (std::thread& t : running) t.join();
  double total = 0;
  for (double r : rates) total += r;
  std::printf("%.6e\n", total);
}
