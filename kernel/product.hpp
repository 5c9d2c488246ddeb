// Small matrix products with lanes on the sample side: the only two shapes the model needs.
#pragma once

#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

// Blocks that fill the registers of each width; the order of every sum is the same for all.
constexpr int FEW_SUMS = 4;  // up to here single reductions cost less than sixteen at once
constexpr int ROWS_AT_ONCE = 4;
constexpr int VECTORS_AT_ONCE = DYNASCOPE_VECTOR_BYTES == 64 ? 2 : 1;

template <int R, int M, class T>
DYNASCOPE_INLINE void multiply_block(Lanes<T>* out, int64_t out_step, const T* a, int64_t row_step,
                                     int64_t col_step, const Lanes<T>* in, int64_t in_step,
                                     int64_t inner, const T* start, bool accumulate) {
  Lanes<T> sum[R][M];
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m)
      sum[r][m] = accumulate ? out[r * out_step + m] : start ? broadcast(start[r]) : zero<T>();
  for (int64_t k = 0; k < inner; ++k)
    for (int m = 0; m < M; ++m) {
      const Lanes<T> x = in[k * in_step + m];
      for (int r = 0; r < R; ++r)
        sum[r][m] = sum[r][m] + broadcast(a[r * row_step + k * col_step]) * x;
    }
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m) out[r * out_step + m] = sum[r][m];
}

/// out[i][m] = start[i] + sum_k a[i][k] in[k][m] for i < rows, k < inner, m < vectors; a[i][k] is
/// at a[i * row_step + k * col_step]. `start` may be null (0), `accumulate` starts from out itself.
template <class T>
inline void multiply(Lanes<T>* out, int64_t out_step, const T* a, int64_t row_step,
                     int64_t col_step, int64_t rows, const Lanes<T>* in, int64_t in_step,
                     int64_t inner, int64_t vectors, const T* start = nullptr,
                     bool accumulate = false) {
  for (int64_t m = 0; m < vectors;) {
    const int64_t left = vectors - m;
    for (int64_t i = 0; i < rows;) {
      Lanes<T>* o = out + i * out_step + m;
      const T* w = a + i * row_step;
      const T* b = start ? start + i : nullptr;
      const bool whole = rows - i >= ROWS_AT_ONCE;
      if (left >= VECTORS_AT_ONCE && VECTORS_AT_ONCE > 1) {
        if (whole)
          multiply_block<ROWS_AT_ONCE, VECTORS_AT_ONCE>(o, out_step, w, row_step, col_step, in + m,
                                                        in_step, inner, b, accumulate);
        else
          multiply_block<1, VECTORS_AT_ONCE>(o, out_step, w, row_step, col_step, in + m, in_step,
                                             inner, b, accumulate);
      } else {
        if (whole)
          multiply_block<ROWS_AT_ONCE, 1>(o, out_step, w, row_step, col_step, in + m, in_step,
                                          inner, b, accumulate);
        else
          multiply_block<1, 1>(o, out_step, w, row_step, col_step, in + m, in_step, inner, b,
                               accumulate);
      }
      i += whole ? ROWS_AT_ONCE : 1;
    }
    m += left >= VECTORS_AT_ONCE ? VECTORS_AT_ONCE : 1;
  }
}

/// grad[i * row_step + j] += sum over lanes and vectors m of left[i][m] right[j][m]: gradients of a
/// matrix, `cols` contiguous. Sums over vectors come first, then over lanes.
template <class T>
inline void add_outer(T* grad, int64_t row_step, int64_t rows, const Lanes<T>* left,
                      int64_t left_step, const Lanes<T>* right, int64_t right_step, int64_t cols,
                      int64_t vectors) {
  // Sixteen sums cost no more than one: short rows that follow each other are taken together.
  const int64_t together = row_step == cols && cols < LANES ? LANES / cols : 1;
  Lanes<T> product[LANES];
  for (int64_t i = 0; i < rows; i += together) {
    const int64_t some = rows - i < together ? rows - i : together;
    for (int64_t j = 0; j < cols; j += LANES) {
      const int64_t wide = cols - j < LANES ? cols - j : LANES;
      int64_t count = 0;
      for (int64_t r = i; r < i + some; ++r)
        for (int64_t k = j; k < j + wide; ++k) {
          Lanes<T> s = left[r * left_step] * right[k * right_step];
          for (int64_t m = 1; m < vectors; ++m)
            s = s + left[r * left_step + m] * right[k * right_step + m];
          product[count++] = s;
        }
      T* place = grad + i * row_step + j;
      if (count <= FEW_SUMS) {
        for (int64_t k = 0; k < count; ++k) place[k] += sum<T>(product[k]);
        continue;
      }
      for (int64_t k = count; k < LANES; ++k) product[k] = zero<T>();
      alignas(64) T total[LANES];
      store(total, sums<T>(product));
      for (int64_t k = 0; k < count; ++k) place[k] += total[k];
    }
  }
}

/// grad[j] += sum over lanes and vectors m of in[j][m]: gradients of a bias.
template <class T>
inline void add_sums(T* grad, const Lanes<T>* in, int64_t in_step, int64_t count, int64_t vectors) {
  const Lanes<T> one[] = {broadcast(T(1)), broadcast(T(1))};  // a tile has two vectors at most
  add_outer(grad, 0, 1, one, 0, in, in_step, count, vectors);
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
