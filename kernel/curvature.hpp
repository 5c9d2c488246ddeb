// Exact second derivatives: the model's own gradient, computed on dual numbers.
#pragma once

#include "dual.hpp"
#include "model.hpp"
#include "no_value.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

constexpr int DIRECTIONS = 4;  // at once; more share the values' work but spill more registers

/// K directions at a time.
template <int K> class HessianProducts {
 public:
  HessianProducts(const Shape& s, int64_t count, Arena& arena)
      : model_(s, arena), data_(s, count, arena) {
    theta_ = arena.take<D>(model_.layout.padded_size);
    grad_ = arena.take<D>(model_.layout.padded_size);
    packed_ = arena.take<D>(model_.layout.packed_size);
  }

  /// out[i] = H directions[i] for i < rows; also the gradient, and the loss as result.
  double run(double* out, double* grad, const double* packed, const double* directions,
             int64_t rows, const Examples& examples) {
    const int64_t size = model_.layout.packed_size;
    for (int64_t i = 0; i < examples.count; ++i)
      data_.append(examples.tokens + i * model_.shape.length, examples.targets[i]);
    double loss = 0;
    for (int64_t row = 0; row < rows || row == 0; row += K) {
      const int64_t here = rows - row < K ? rows - row : K;
      for (int64_t i = 0; i < size; ++i) {
        packed_[i] = D(packed[i]);
        for (int64_t k = 0; k < here; ++k)
          packed_[i].part[1 + k] = directions[(row + k) * size + i];
      }
      loss = gradient();
      for (int64_t i = 0; i < size; ++i) {
        grad[i] = packed_[i].part[0];
        for (int64_t k = 0; k < here; ++k) out[(row + k) * size + i] = packed_[i].part[1 + k];
      }
    }
    fix_nans(out, rows * size);
    fix_nans(grad, size);
    return fixed_nan(loss);
  }

 private:
  using D = Dual<double, K>;
  Model<D> model_;
  Sequences data_;
  D *theta_, *grad_, *packed_;

  /// From the weights in packed_ to their gradient, in the same place; returns the loss.
  double gradient() {
    unpack(theta_, packed_, model_.layout);
    model_.prepare(theta_);
    model_.clear(grad_);
    double loss = 0;
    for (int64_t i = 0; i < data_.count; i += TILE_SEQUENCES) {
      const int64_t left = data_.count - i < TILE_SEQUENCES ? data_.count - i : TILE_SEQUENCES;
      model_.template forward<true>(data_, i, left, data_.count);
      for (int m = 0; m < model_.tile.vectors; ++m)
        loss += sum<double>(model_.tile.loss[m].value * model_.tile.share[m].value);
      model_.backward(grad_);
    }
    model_.finish(grad_);
    pack(packed_, grad_, model_.layout);
    return loss;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
