// How the extension's functions are bound: each of them runs in the kernel's own floating-point
// environment, whichever thread calls it and however it ends.
//
// These two take the place of nanobind's own, so that no function can be bound without it.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "float_environment.hpp"

namespace dynascope {

using InEnvironment = nanobind::call_guard<FloatEnvironment>;

class Module {
 public:
  explicit Module(nanobind::module_& module) : module_(module) {}

  template <class... Args> void def(Args&&... args) {
    module_.def(std::forward<Args>(args)..., InEnvironment());
  }
  void set(const char* name, const nanobind::object& value) { module_.attr(name) = value; }

 private:
  template <class T> friend class Class;
  nanobind::module_& module_;
};

template <class T> class Class {
 public:
  Class(Module& m, const char* name) : class_(m.module_, name) {}

  template <class... Args> Class& def(Args&&... args) {
    class_.def(std::forward<Args>(args)..., InEnvironment());
    return *this;
  }
  template <class... Args> Class& def_prop_ro(Args&&... args) {
    class_.def_prop_ro(std::forward<Args>(args)..., InEnvironment());
    return *this;
  }

 private:
  nanobind::class_<T> class_;
};

}  // namespace dynascope
