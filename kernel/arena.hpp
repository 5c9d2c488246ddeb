// Memory for the kernel: the host gives one block, the kernel lays its arrays out in it.
//
// The same constructor runs twice: with a null base it only measures. So nothing inside the kernel
// allocates, which suits loops, threads and WebAssembly alike. Sizes are counted in 64 bits also
// where addresses have 32: a host must see that a block does not fit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

class Arena {
 public:
  explicit Arena(void* base = nullptr) : base_(static_cast<char*>(base)) {}

  /// `count` elements of T, aligned to 64 bytes; null while measuring.
  template <class T> T* take(int64_t count) {
    used_ = (used_ + 63) / 64 * 64;
    T* p = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += static_cast<uint64_t>(count) * sizeof(T);
    return p;
  }
  bool measuring() const { return base_ == nullptr; }
  uint64_t used() const { return used_; }

 private:
  char* base_;
  uint64_t used_ = 0;
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
