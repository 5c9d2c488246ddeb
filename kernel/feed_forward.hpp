// The feed-forward layer, psi = xi + U act(W x + b1) + b2, forward and backward, on one tile.
//
// Two versions. For d up to 4 (where nearly all the time goes into the activation) one loop over
// hidden units holds everything else in registers. For larger d the same steps are matrix products.
#pragma once

#include "layout.hpp"
#include "product.hpp"
#include "tile.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// The layer's weights in the padded layout, and the hidden units to leave out (null: none).
template <class T> struct Feed {
  const T *receptors, *receptor_bias, *assemblers, *assembler_bias;
  int64_t dim, hidden, step;  // receptors [dim][step] and assemblers [dim][step]
  const uint8_t* cut;

  Feed(const T* theta, const Layout& l, const Shape& s, const uint8_t* cut_units)
      : receptors(theta + l[RECEPTORS].padded),
        receptor_bias(theta + l[RECEPTOR_BIAS].padded),
        assemblers(theta + l[ASSEMBLERS].padded),
        assembler_bias(theta + l[ASSEMBLER_BIAS].padded),
        dim(s.dim),
        hidden(s.hidden),
        step(round_up(s.hidden)),
        cut(cut_units) {}
};

template <class T> struct FeedGradient {
  T *receptors, *receptor_bias, *assemblers, *assembler_bias;

  FeedGradient(T* grad, const Layout& l)
      : receptors(grad + l[RECEPTORS].padded),
        receptor_bias(grad + l[RECEPTOR_BIAS].padded),
        assemblers(grad + l[ASSEMBLERS].padded),
        assembler_bias(grad + l[ASSEMBLER_BIAS].padded) {}
};

template <class T> inline void add_to(T* grad, const Lanes<T>& v) { store(grad, load(grad) + v); }

// ---- d <= 4 -------------------------------------------------------------------------------------
// One vector of the tile after the other: each has enough to do in parallel by itself.
template <class T, class Act, int D, bool Keep>
void feed_forward_small(Tile<T>& tile, const Feed<T>& f) {
  using V = Lanes<T>;
  for (int m = 0; m < tile.vectors; ++m) {
    V x[D], out[D];
    for (int c = 0; c < D; ++c) {
      x[c] = tile.x[c * TILE + m];
      out[c] = broadcast(f.assembler_bias[c]);
    }
    for (int64_t j = 0; j < f.hidden; ++j) {
      const bool cut = f.cut && f.cut[j];
      V pre = broadcast(f.receptor_bias[j]);
      for (int c = 0; c < D; ++c) pre = pre + broadcast(f.receptors[c * f.step + j]) * x[c];
      V hidden;
      if constexpr (Keep) {
        const ValueAndSlope<T> y = Elementary<T>::template activation<Act>(pre);
        hidden = cut ? zero<T>() : y.value;
        tile.hidden[j * TILE + m] = hidden;
        tile.slope[j * TILE + m] = cut ? zero<T>() : y.slope;
      } else {
        hidden = cut ? zero<T>() : Act::template value<T>(pre);
      }
      for (int c = 0; c < D; ++c)
        out[c] = out[c] + broadcast(f.assemblers[c * f.step + j]) * hidden;
    }
    for (int c = 0; c < D; ++c) tile.psi[c * TILE + m] = tile.xi[c * TILE + m] + out[c];
  }
}

/// From d_psi: adds the weights' gradients, sets d_x. The residual path is the caller's.
template <class T, int D, int M>
void feed_backward_small(FeedGradient<T> grad, Tile<T>& tile, const Feed<T>& f) {
  using V = Lanes<T>;
  V x[D][M], d_psi[D][M], d_x[D][M];
  for (int c = 0; c < D; ++c)
    for (int m = 0; m < M; ++m) {
      x[c][m] = tile.x[c * TILE + m];
      d_psi[c][m] = tile.d_psi[c * TILE + m];
      d_x[c][m] = zero<T>();
    }
  V d_receptors[D][LANES], d_bias[LANES], d_assemblers[D][LANES];
  for (int64_t block = 0; block < f.hidden; block += LANES) {
    const int count = static_cast<int>(f.hidden - block < LANES ? f.hidden - block : LANES);
    for (int k = 0; k < count; ++k) {
      const int64_t j = block + k;
      V dw[D], du[D], db;
      for (int m = 0; m < M; ++m) {
        V d_hidden = broadcast(f.assemblers[j]) * d_psi[0][m];
        for (int c = 1; c < D; ++c)
          d_hidden = d_hidden + broadcast(f.assemblers[c * f.step + j]) * d_psi[c][m];
        const V d_pre = d_hidden * tile.slope[j * TILE + m], hidden = tile.hidden[j * TILE + m];
        db = m ? db + d_pre : d_pre;
        for (int c = 0; c < D; ++c) {
          const V w = d_pre * x[c][m], u = hidden * d_psi[c][m];
          dw[c] = m ? dw[c] + w : w;
          du[c] = m ? du[c] + u : u;
          d_x[c][m] = d_x[c][m] + broadcast(f.receptors[c * f.step + j]) * d_pre;
        }
      }
      d_bias[k] = db;
      for (int c = 0; c < D; ++c) {
        d_receptors[c][k] = dw[c];
        d_assemblers[c][k] = du[c];
      }
    }
    for (int k = count; k < LANES; ++k) {
      d_bias[k] = zero<T>();
      for (int c = 0; c < D; ++c) d_receptors[c][k] = d_assemblers[c][k] = zero<T>();
    }
    add_to(grad.receptor_bias + block, sums<T>(d_bias));
    for (int c = 0; c < D; ++c) {
      add_to(grad.receptors + c * f.step + block, sums<T>(d_receptors[c]));
      add_to(grad.assemblers + c * f.step + block, sums<T>(d_assemblers[c]));
    }
  }
  for (int c = 0; c < D; ++c)
    for (int m = 0; m < M; ++m) tile.d_x[c * TILE + m] = d_x[c][m];
}

// ---- any d --------------------------------------------------------------------------------------
template <class T, class Act, bool Keep> void feed_forward_large(Tile<T>& tile, const Feed<T>& f) {
  const int64_t n = tile.vectors;
  multiply(tile.hidden, TILE, f.receptors, 1, f.step, f.hidden, tile.x, TILE, f.dim, n,
           f.receptor_bias);
  for (int64_t j = 0; j < f.hidden; ++j) {
    const bool cut = f.cut && f.cut[j];
    for (int64_t i = j * TILE; i < j * TILE + n; ++i) {
      if constexpr (Keep) {
        const ValueAndSlope<T> y = Elementary<T>::template activation<Act>(tile.hidden[i]);
        tile.hidden[i] = cut ? zero<T>() : y.value;
        tile.slope[i] = cut ? zero<T>() : y.slope;
      } else {
        tile.hidden[i] = cut ? zero<T>() : Act::template value<T>(tile.hidden[i]);
      }
    }
  }
  multiply(tile.psi, TILE, f.assemblers, f.step, 1, f.dim, tile.hidden, TILE, f.hidden, n,
           f.assembler_bias);
  for (int64_t c = 0; c < f.dim; ++c)
    for (int64_t i = c * TILE; i < c * TILE + n; ++i) tile.psi[i] = tile.xi[i] + tile.psi[i];
}

template <class T> void feed_backward_large(FeedGradient<T> grad, Tile<T>& tile, const Feed<T>& f) {
  const int64_t n = tile.vectors;
  add_outer(grad.assemblers, f.step, f.dim, tile.d_psi, TILE, tile.hidden, TILE, f.hidden, n);
  // The activations are no longer needed: their place takes d_hidden, then d_pre.
  Lanes<T>* d_pre = tile.hidden;
  multiply(d_pre, TILE, f.assemblers, 1, f.step, f.hidden, tile.d_psi, TILE, f.dim, n);
  for (int64_t j = 0; j < f.hidden; ++j)
    for (int64_t i = j * TILE; i < j * TILE + n; ++i) d_pre[i] = d_pre[i] * tile.slope[i];
  add_outer(grad.receptors, f.step, f.dim, tile.x, TILE, d_pre, TILE, f.hidden, n);
  add_sums(grad.receptor_bias, d_pre, TILE, f.hidden, n);
  multiply(tile.d_x, TILE, f.receptors, f.step, 1, f.dim, d_pre, TILE, f.hidden, n);
}

// ---- choosing -----------------------------------------------------------------------------------
template <class T> using FeedForward = void (*)(Tile<T>&, const Feed<T>&);
template <class T> struct FeedBackward {  // by number of vectors - 1
  void (*of[TILE])(FeedGradient<T>, Tile<T>&, const Feed<T>&);
};

/// Dual numbers fill the registers by themselves: loops over them gain nothing from d in registers.
template <class T> constexpr bool ONLY_DERIVATIVES = !std::is_floating_point_v<T>;

template <class T, class Act, bool Keep> FeedForward<T> feed_forward(int64_t dim) {
  if constexpr (!ONLY_DERIVATIVES<T>) {
    if (dim == 2) return feed_forward_small<T, Act, 2, Keep>;
    if (dim == 3) return feed_forward_small<T, Act, 3, Keep>;
    if (dim == 4) return feed_forward_small<T, Act, 4, Keep>;
  }
  return feed_forward_large<T, Act, Keep>;
}

/// `Keep`: hidden units and slopes stay in the tile, for backward.
template <class T, bool Keep> FeedForward<T> feed_forward(const Shape& s) {
  return with_activation(s.activation,
                         [&](auto act) { return feed_forward<T, decltype(act), Keep>(s.dim); });
}

template <class T> FeedBackward<T> feed_backward(const Shape& s) {
  if constexpr (!ONLY_DERIVATIVES<T>) {
    if (s.dim == 2) return {{feed_backward_small<T, 2, 1>, feed_backward_small<T, 2, 2>}};
    if (s.dim == 3) return {{feed_backward_small<T, 3, 1>, feed_backward_small<T, 3, 2>}};
    if (s.dim == 4) return {{feed_backward_small<T, 4, 1>, feed_backward_small<T, 4, 2>}};
  }
  return {{feed_backward_large<T>, feed_backward_large<T>}};
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
