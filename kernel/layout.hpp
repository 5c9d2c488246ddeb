// The one table of parameters: names, shapes, and where each lives in memory.
//
// Two layouts. *Packed*: parameters one after the other, row-major, as users see and files hold
// them. *Padded*: what the kernel computes with; every slice starts on a whole vector and
// the receptors are transposed, so that both feed-forward matrices have the hidden units in lanes.
// Padding is zero and stays zero: its gradient is zero and no update rule moves a zero without one.
#pragma once

#include <cstdint>

#include "lanes.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

struct Slice {
  bool present;            // biases may be off
  int64_t rows, cols;      // the shape users see; vectors have one row
  int64_t packed, size;    // offset and number of entries in the packed layout
  int64_t padded, extent;  // offset and number of entries, with padding, in the padded layout
  int64_t row_step, col_step;

  int64_t at(int64_t row, int64_t col) const { return padded + row * row_step + col * col_step; }
};

struct Layout {
  Slice slice[PARAMETERS];
  int64_t packed_size, padded_size;

  explicit Layout(const Shape& s) : packed_size(0), padded_size(0) {
    const int64_t unit_step = round_up(s.hidden);  // hidden units, padded
    add(TOKEN_EMBEDDING, true, s.embeddings, s.dim, s.dim, 1);
    add(POSITION_EMBEDDING, true, s.length, s.dim, s.dim, 1);
    add(QUERY, true, 1, s.dim, s.dim, 1);
    add(VALUE, true, s.dim, s.dim, s.dim, 1);
    add(RECEPTORS, true, s.hidden, s.dim, 1, unit_step);
    add(RECEPTOR_BIAS, s.bias, 1, s.hidden, unit_step, 1);
    add(ASSEMBLERS, true, s.dim, s.hidden, unit_step, 1);
    add(ASSEMBLER_BIAS, s.bias, 1, s.dim, s.dim, 1);
  }

  const Slice& operator[](int parameter) const { return slice[parameter]; }

 private:
  void add(int parameter, bool present, int64_t rows, int64_t cols, int64_t row_step,
           int64_t col_step) {
    // An absent bias keeps its padded place, full of zeros: the model reads it all the same.
    const int64_t extent = round_up((rows - 1) * row_step + (cols - 1) * col_step + 1);
    slice[parameter] = {present,     rows,   cols,     packed_size, present ? rows * cols : 0,
                        padded_size, extent, row_step, col_step};
    packed_size += slice[parameter].size;
    padded_size += extent;
  }
};

template <class T> inline void pack(T* packed, const T* padded, const Layout& layout) {
  for (const Slice& s : layout.slice) {
    if (!s.present) continue;
    T* out = packed + s.packed;
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.cols; ++j) *out++ = padded[s.at(i, j)];
  }
}

template <class T> inline void unpack(T* padded, const T* packed, const Layout& layout) {
  for (int64_t i = 0; i < layout.padded_size; ++i) padded[i] = T(0);
  for (const Slice& s : layout.slice) {
    if (!s.present) continue;
    const T* in = packed + s.packed;
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.cols; ++j) padded[s.at(i, j)] = *in++;
  }
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
