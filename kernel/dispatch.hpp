// Which builds of the kernel this binary holds, and which of them this machine can run.
#pragma once

#include <string>
#include <vector>

#include "engine.hpp"

namespace dynascope {

/// The builds that run here, best first.
const std::vector<Build>& usable_builds();

/// The build of that name; an empty name means the best. Throws std::invalid_argument when it is
/// unknown or cannot run here, whose text is the names that can, separated by commas.
const Build& choose_build(const std::string& name);

/// The names of all builds in this binary, also of those that cannot run here, separated by commas.
std::string compiled_builds();

}  // namespace dynascope
