// Models as wasm.cpp hands them out, and the shapes that its users read instead of keeping their
// own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec.hpp"
#include "task_spec.hpp"

namespace dynascope {

/// Lists of the table whose rows have shapes.
enum Shaped { PARAMETER_LIST, STAGE_LIST, MEASURE_LIST };

struct Model {
  Shape shape;
  bool twice;  // double precision

  /// `f` called with a number of the model's precision, whose type is all that counts.
  template <class F> auto visit(F f) const { return twice ? f(double{}) : f(float{}); }

  /// As ds.forward and ds.loss_and_gradient see it: every embedding row is a token.
  Shape whole() const {
    Shape s = shape;
    s.vocab = s.embeddings;
    return s;
  }

  /// The axes of a row; false: there is no such row in this model.
  bool axes_of(int list, int index, Axis out[2]) const {
    const int count = list == PARAMETER_LIST ? PARAMETERS : list == STAGE_LIST ? STAGES : MEASURES;
    if (list < PARAMETER_LIST || list > MEASURE_LIST || index < 0 || index >= count) return false;
    if (list == PARAMETER_LIST) {
      out[0] = PARAMETER_ROWS[index].rows;
      out[1] = PARAMETER_ROWS[index].columns;
      return present(PARAMETER_ROWS[index], shape);
    }
    const ShapeRow& row = (list == STAGE_LIST ? STAGE_ROWS : MEASURE_ROWS)[index];
    out[0] = row.rows;
    out[1] = row.columns;
    return true;
  }

  int64_t size() const { return dynascope::packed_size(shape); }
};

}  // namespace dynascope
