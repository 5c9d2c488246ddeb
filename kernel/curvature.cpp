// Second derivatives, one build per instruction set, with DYNASCOPE_ISA set; the only symbol that
// leaves this file is `dynascope_curvature_<isa>`.
#include "curvature.hpp"

#include "engine.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {
namespace {

size_t bytes(const Shape& s, int64_t count) {
  Arena arena;
  HessianProducts measured(s, count, arena);
  return arena.used();
}

double products(double* products, double* grad, const double* packed, const double* directions,
                int64_t rows, const Shape& s, const Examples& examples, void* memory) {
  Arena arena(memory);
  return HessianProducts(s, examples.count, arena)
      .run(products, grad, packed, directions, rows, examples);
}

constexpr Curvature this_curvature = {bytes, products};

}  // namespace
}  // namespace DYNASCOPE_ISA
}  // namespace dynascope

#define DYNASCOPE_JOIN_(a, b) a##b
#define DYNASCOPE_JOIN(a, b) DYNASCOPE_JOIN_(a, b)

extern "C" const dynascope::Curvature* DYNASCOPE_JOIN(dynascope_curvature_, DYNASCOPE_ISA)() {
  return &dynascope::DYNASCOPE_ISA::this_curvature;
}
