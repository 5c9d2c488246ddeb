// Second derivatives, one build per instruction set, with DYNASCOPE_ISA set; the only symbol that
// leaves this file is `dynascope_curvature_<isa>`.
#include "curvature.hpp"

#include "engine.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {
namespace {

uint64_t bytes(const Shape& s, int64_t count) {
  Arena arena;
  HessianProducts<DIRECTIONS> measured(s, count, arena);  // one alone takes less
  return arena.used();
}

double products(double* products, double* grad, const double* packed, const double* directions,
                int64_t rows, const Shape& s, const Examples& examples, void* memory) {
  Arena arena(memory);
  if (rows == 1)  // as Lanczos asks: directions left empty would cost as much as full ones
    return HessianProducts<1>(s, examples.count, arena)
        .run(products, grad, packed, directions, rows, examples);
  return HessianProducts<DIRECTIONS>(s, examples.count, arena)
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
