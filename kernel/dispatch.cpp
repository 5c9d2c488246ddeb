#include "dispatch.hpp"

#include <stdexcept>

// DYNASCOPE_BUILDS is set by CMakeLists.txt, best first: X(avx512) X(avx2) X(sse2), or X(portable).
#define X(name)                                                                   \
  extern "C" const dynascope::Engine<float>* dynascope_engine_##name##_float();   \
  extern "C" const dynascope::Engine<double>* dynascope_engine_##name##_double(); \
  extern "C" const dynascope::Task* dynascope_task_##name##_float();              \
  extern "C" const dynascope::Measures* dynascope_measures_##name();              \
  extern "C" const dynascope::Curvature* dynascope_curvature_##name();
DYNASCOPE_BUILDS
#undef X

namespace dynascope {
namespace {

bool runs_here(const std::string& name) {
#if defined(__x86_64__) || defined(_M_X64)
  if (name == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (name == "avx2") return __builtin_cpu_supports("avx2");
#endif
  return true;  // what every machine of this architecture has
}

}  // namespace

const std::vector<Build>& usable_builds() {
  static const std::vector<Build> usable = [] {
    std::vector<Build> found;
#define X(name)                                                                                    \
  if (runs_here(#name))                                                                            \
    found.push_back({#name, dynascope_engine_##name##_float(), dynascope_engine_##name##_double(), \
                     dynascope_task_##name##_float(), dynascope_measures_##name(),                 \
                     dynascope_curvature_##name()});
    DYNASCOPE_BUILDS
#undef X
    return found;
  }();
  return usable;
}

const Build& choose_build(const std::string& name) {
  std::string names;
  for (const Build& build : usable_builds()) {
    if (name.empty() || name == build.name) return build;
    names += (names.empty() ? "" : ",") + std::string(build.name);
  }
  throw std::invalid_argument(names);
}

}  // namespace dynascope
