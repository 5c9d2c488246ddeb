// The floating-point environment that the kernel's bits rest on, and how a host provides it.
//
// What + - * / and square root give depends on a control register of the thread: how to round,
// whether subnormal numbers count as zero, whether an inexact result is a signal that ends the
// process. Other libraries change it (torch.set_flush_denormal, fesetround, anything linked with
// -ffast-math), new threads inherit it, and the same seed would then give another run under the
// same id. So a host computes with a FloatEnvironment alive. It is meant for a whole call: it
// costs a few cycles.
//
// The register is written directly, since what <cfenv> does to flush-to-zero differs from library
// to library. The "memory" clobbers keep loads and stores, and so what the kernel computes from and
// to memory, on their side of the change.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(__wasm__)
#include <cfenv>
#endif

namespace dynascope {

/// As long as it lives, its thread rounds to nearest, keeps subnormals and gets no signals. Then
/// the thread has again exactly what it had.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  using Register = uint32_t;  // MXCSR; the x87 unit has its own, which the kernel never uses
  static Register read() {
    Register value;
    __asm__ volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
  }
  static void write(Register value) { __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
  static void write_plain() { write(0x1f80); }  // as a process begins with
#elif defined(__aarch64__)
  using Register = uint64_t;  // FPCR
  static Register read() {
    Register value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
  }
  static void write(Register value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
  static void write_plain() { write(0); }
#elif defined(__wasm__)
  using Register = int;  // there are no modes
  static Register read() { return 0; }
  static void write(Register) {}
  static void write_plain() {}
#else
  using Register = std::fenv_t;
  static Register read() {
    Register value;
    std::fegetenv(&value);
    return value;
  }
  static void write(const Register& value) { std::fesetenv(&value); }
  static void write_plain() { std::fesetenv(FE_DFL_ENV); }
#endif

  FloatEnvironment() : callers_(read()) { write_plain(); }
  ~FloatEnvironment() { write(callers_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  const Register callers_;
};

}  // namespace dynascope
