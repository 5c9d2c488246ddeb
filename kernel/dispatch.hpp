// Which builds of the kernel this binary holds, and which of them this machine can run.
#pragma once

#include <string>
#include <vector>

#include "engine.hpp"

namespace dynascope {

/// The builds that run here, best first.
const std::vector<Build>& usable_builds();

/// The build of that name; an empty name means the best. Throws std::invalid_argument with one
/// sentence when it is unknown or cannot run here.
const Build& choose_build(const std::string& name);

}  // namespace dynascope
