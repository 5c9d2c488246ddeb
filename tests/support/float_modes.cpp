// The calling thread's floating-point control register, for tests that set hostile modes.
#include "float_environment.hpp"

using dynascope::FloatEnvironment;

extern "C" uint64_t read_mode() { return FloatEnvironment::read(); }
extern "C" void write_mode(uint64_t mode) {
  FloatEnvironment::write(static_cast<FloatEnvironment::Register>(mode));
}
