#include "dispatch.hpp"

#include <stdexcept>

#include "processor.hpp"

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
const std::vector<Build>& usable_builds() {
  static const std::vector<Build> usable = [] {
    std::vector<Build> found;
#define X(name)                                                                                    \
  if (processor_runs(#name))                                                                       \
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

std::string compiled_builds() {
  std::string names;
#define X(name) names += (names.empty() ? "" : ",") + std::string(#name);
  DYNASCOPE_BUILDS
#undef X
  return names;
}

}  // namespace dynascope
