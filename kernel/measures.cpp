// Measures of models, one build per instruction set, with DYNASCOPE_ISA set; the only symbol that
// leaves this file is `dynascope_measures_<isa>`.
#include "circuit.hpp"
#include "engine.hpp"
#include "kept_sum.hpp"
#include "no_value.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

// Compiled with the engines, of which they are the largest part.
extern template FeedForward<float> feed_forward<float, false>(const Shape&);
extern template FeedForward<double> feed_forward<double, false>(const Shape&);
extern template FeedForward<double> feed_forward<double, true>(const Shape&);

namespace {

template <class T>
uint64_t circuit_bytes(const Shape& s, const Crossed& data, const CircuitMeasures& wanted) {
  Arena arena;
  Circuit<T> measured(s, data, wanted, arena);
  return arena.used();
}

template <class T>
void circuit(const CircuitMeasures& out, const T* packed, const Shape& s, const Crossed& data,
             void* memory, Meter* meter) {
  Arena arena(memory);
  Meter unseen{};
  Circuit<T>(s, data, out, arena).measure(packed, meter ? *meter : unseen);
  double* const* numbers = reinterpret_cast<double* const*>(&out);  // one pointer for each row
  for (const ShapeRow& row : MEASURE_ROWS) {
    const int64_t size =
        size_of(row.rows, s, data.relevant) * size_of(row.columns, s, data.relevant);
    if (*numbers) fix_nans(*numbers, size);
    ++numbers;
  }
}

template <class M> uint64_t sum_bytes(const Shape& s, const TaskSpec& t) {
  Arena arena;
  M made(s, t, arena);
  return arena.used();
}

bool kept_sum(KeptSum& out, const double* packed, const Shape& s, const TaskSpec& t,
              const SumRule& rule, void* memory) {
  Arena arena(memory);
  return KeptSumFinder(s, t, arena).find(out, packed, rule);
}

bool sum_share(double& share, int64_t& values, const double* packed, const Shape& s,
               const TaskSpec& t, const SumTable& sum, double rounding, void* memory) {
  Arena arena(memory);
  SumFit fit;
  if (!SumShare(s, t, arena).find(fit, packed, sum, rounding)) return false;
  share = fit.share;
  values = fit.values;
  return true;
}

constexpr Measures these_measures = {{circuit_bytes<float>, circuit<float>},
                                     {circuit_bytes<double>, circuit<double>},
                                     sum_bytes<KeptSumFinder>,
                                     kept_sum,
                                     sum_bytes<SumShare>,
                                     sum_share};

}  // namespace
}  // namespace DYNASCOPE_ISA
}  // namespace dynascope

#define DYNASCOPE_JOIN_(a, b) a##b
#define DYNASCOPE_JOIN(a, b) DYNASCOPE_JOIN_(a, b)

extern "C" const dynascope::Measures* DYNASCOPE_JOIN(dynascope_measures_, DYNASCOPE_ISA)() {
  return &dynascope::DYNASCOPE_ISA::these_measures;
}
