// The direction of Muon (Jordan et al., "Muon: an optimizer for hidden layers in neural networks",
// 2024; torch.optim.Muon): a whole matrix with its singular values brought near 1.
//
// Five steps of X <- a X + (b A + c A A) X with A = X X^T, from X = G / |G|, take every singular
// value s of X to a s + b s^3 + c s^5 and leave the singular vectors as they are. The coefficients
// are steep at 0: values above 0.003 end between 0.68 and 1.21, soon rather than at 1. All in the
// precision of the run, where torch.optim.Muon rounds to bfloat16.
#pragma once

#include "arena.hpp"
#include "layout.hpp"
#include "product.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Whether Muon moves a parameter as a matrix: hidden matrices are, as its authors advise. What
/// the embeddings hold are rows that are looked up, and what has a side of 1 is a vector.
inline bool is_hidden_matrix(int parameter, const Slice& s) {
  const ParameterRow& row = PARAMETER_ROWS[parameter];
  return row.rows != Axis::NONE && row.part != Part::EMBEDDING && s.rows > 1 && s.cols > 1;
}

template <class T> class NewtonSchulz {
 public:
  using V = Lanes<T>;

  /// With room for every hidden matrix, one at a time; without any where it is not `wanted`.
  NewtonSchulz(const Layout& layout, bool wanted, Arena& arena) {
    int64_t matrix = 0, square = 0;
    for (int p = 0; wanted && p < PARAMETERS; ++p) {
      if (!is_hidden_matrix(p, layout[p])) continue;
      const Sides sides(layout[p]);
      matrix = larger(matrix, sides.rows * sides.vectors);
      square = larger(square, sides.rows * sides.square_vectors);
    }
    x_ = arena.take<V>(matrix);
    next_ = arena.take<V>(matrix);
    gram_ = arena.take<V>(square);
    polynomial_ = arena.take<V>(square);
  }

  /// The matrix at `s` in a padded vector, orthogonalised in place.
  void orthogonalize(T* padded, const Slice& s) {
    const Sides sides(s);
    take(padded, s, sides);
    normalize(sides.rows * sides.vectors);
    for (int step = 0; step < STEPS; ++step) iterate(sides);
    give(padded, s, sides);
  }

 private:
  static constexpr int STEPS = 5;
  static constexpr double A = 3.4445, B = -4.7750, C = 2.0315;
  static constexpr double SHORTEST = 1e-7;  // a shorter matrix is divided by this

  /// A matrix with its shorter side as rows, so that X X^T is small, and its longer one in lanes.
  struct Sides {
    bool turned;
    int64_t rows, cols, vectors, square_vectors;

    explicit Sides(const Slice& s)
        : turned(s.rows > s.cols),
          rows(turned ? s.cols : s.rows),
          cols(turned ? s.rows : s.cols),
          vectors(round_up(cols) / LANES),
          square_vectors(round_up(rows) / LANES) {}
    int64_t at(const Slice& s, int64_t row, int64_t col) const {
      return turned ? s.at(col, row) : s.at(row, col);
    }
  };

  V *x_, *next_;           // [rows, vectors]
  V *gram_, *polynomial_;  // [rows, square_vectors]: X X^T, and b A + c A A

  static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
  static V broad(double x) { return broadcast(static_cast<T>(x)); }

  void take(const T* padded, const Slice& s, const Sides& sides) {
    T* x = reinterpret_cast<T*>(x_);
    for (int64_t r = 0; r < sides.rows; ++r)
      for (int64_t c = 0; c < sides.vectors * LANES; ++c)
        *x++ = c < sides.cols ? padded[sides.at(s, r, c)] : T(0);
  }

  void give(T* padded, const Slice& s, const Sides& sides) const {
    const T* x = reinterpret_cast<const T*>(x_);
    for (int64_t r = 0; r < sides.rows; ++r)
      for (int64_t c = 0; c < sides.cols; ++c)
        padded[sides.at(s, r, c)] = x[r * sides.vectors * LANES + c];
  }

  void normalize(int64_t count) {
    V square = zero<T>();
    for (int64_t i = 0; i < count; ++i) square = square + x_[i] * x_[i];
    const V length = square_root(broadcast(sum<T>(square))), shortest = broad(SHORTEST);
    const V divisor = select(length < shortest, shortest, length);
    for (int64_t i = 0; i < count; ++i) x_[i] = x_[i] / divisor;
  }

  void iterate(const Sides& sides) {
    const int64_t n = sides.rows, m = sides.vectors, k = sides.square_vectors;
    T* gram = reinterpret_cast<T*>(gram_);
    for (int64_t i = 0; i < n * k; ++i) gram_[i] = zero<T>();
    add_outer(gram, k * LANES, n, x_, m, x_, m, n, m);
    multiply(polynomial_, k, gram, k * LANES, 1, n, gram_, k, n, k);
    for (int64_t i = 0; i < n * k; ++i)
      polynomial_[i] = broad(B) * gram_[i] + broad(C) * polynomial_[i];
    multiply(next_, m, reinterpret_cast<const T*>(polynomial_), k * LANES, 1, n, x_, m, n, m);
    for (int64_t i = 0; i < n * m; ++i) x_[i] = broad(A) * x_[i] + next_[i];
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
