// Where each parameter of the table (catalog.hpp) lives in memory.
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
    for (int p = 0; p < PARAMETERS; ++p) add(p, PARAMETER_ROWS[p], s);
  }

  const Slice& operator[](int parameter) const { return slice[parameter]; }

 private:
  void add(int parameter, const ParameterRow& row, const Shape& s) {
    const int64_t rows = size_of(row.rows, s), cols = size_of(row.columns, s);
    // Hidden units lie side by side, whichever axis they are; else rows do, as users see them.
    const bool transposed = row.rows == Axis::HIDDEN;
    const bool units = transposed || row.columns == Axis::HIDDEN;
    const int64_t width = units ? round_up(s.hidden) : cols;
    const int64_t row_step = transposed ? 1 : width, col_step = transposed ? width : 1;
    // An absent bias keeps its padded place, full of zeros: the model reads it all the same.
    const int64_t extent = round_up((rows - 1) * row_step + (cols - 1) * col_step + 1);
    const bool here = present(row, s);
    slice[parameter] = {here,        rows,   cols,     packed_size, here ? rows * cols : 0,
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
