// Arrays, memory and errors between Python and the kernel: what all of the extension's files share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "checks.hpp"
#include "dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynascope {

template <class T> using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
template <class T> using Numpy = nb::ndarray<nb::numpy, T>;
using Bytes = std::optional<Array<uint8_t>>;

inline const Build& build() {
  static const Build& chosen = []() -> const Build& {
    const char* name = std::getenv("DYNASCOPE_ISA");
    return choose_build(name ? name : "");
  }();
  return chosen;
}
template <class T> const Engine<T>& engine() {
  if constexpr (sizeof(T) == 4) return *build().single;
  else return *build().twice;
}

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
};
using Memory = std::unique_ptr<void, AlignedDelete>;
inline Memory allocate(size_t bytes) { return Memory(::operator new(bytes, std::align_val_t(64))); }

template <class T> Numpy<T> make_array(std::vector<size_t> shape) {
  size_t size = 1;
  for (size_t n : shape) size *= n;
  T* data = new T[size ? size : 1]();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Numpy<T>(data, shape.size(), shape.data(), owner);
}

inline void refuse(const char* sentence) { throw std::invalid_argument(sentence); }
/// For checks of checks.hpp, which leave their sentence there.
inline void must(bool holds) {
  if (!holds) refuse(Sentence::text);
}
/// For what only Python can get wrong: shapes of arrays.
inline void expect(bool holds, const char* sentence) {
  if (!holds) refuse(sentence);
}

inline Examples examples(const Array<int32_t>& tokens, const Array<int32_t>& targets,
                         const Shape& s) {
  expect(tokens.ndim() == 2 && targets.ndim() == 1 && tokens.shape(0) == targets.shape(0) &&
             static_cast<int64_t>(tokens.shape(1)) == s.length,
         "tokens must be [count, length] and targets [count]");
  const Examples data{tokens.data(), targets.data(), static_cast<int64_t>(tokens.shape(0))};
  must(check_examples("examples", data, s, 0));
  return data;
}

inline const uint8_t* mask(const Bytes& bytes, int64_t size, const char* what) {
  if (!bytes) return nullptr;
  expect(static_cast<int64_t>(bytes->size()) == size, what);
  return bytes->data();
}

using Attention = std::optional<Array<double>>;

inline const double* attention(const Attention& held, const Shape& s) {
  if (!held) return nullptr;
  expect(static_cast<int64_t>(held->size()) == s.length, "attention has one entry per position");
  must(check_attention(held->data(), s));
  return held->data();
}

inline Ablation ablation(const Bytes& positions, const Bytes& units, const Attention& held,
                         const Shape& s) {
  const Ablation off{mask(positions, s.length, "cut_positions must have one entry per position"),
                     mask(units, s.hidden, "cut_units must have one entry per hidden unit"),
                     attention(held, s)};
  must(check_cut(off.positions, s));
  return off;
}

/// The sizes of a row of the table; numbers without an axis have none.
inline std::vector<size_t> sizes(Axis rows, Axis columns, const Shape& s, int64_t relevant = 0) {
  std::vector<size_t> all;
  for (Axis axis : {rows, columns})
    if (axis != Axis::NONE) all.push_back(static_cast<size_t>(size_of(axis, s, relevant)));
  return all;
}

template <class T> const T* weights(const Array<T>& packed, const Shape& s) {
  expect(static_cast<int64_t>(packed.size()) == packed_size(s), "weights have the wrong size");
  return packed.data();
}
template <class T> size_t weight_rows(const Array<T>& packed, const Shape& s) {
  expect(packed.ndim() == 2 && static_cast<int64_t>(packed.shape(1)) == packed_size(s),
         "weights must be [rows, size]");
  return packed.shape(0);
}

}  // namespace dynascope
