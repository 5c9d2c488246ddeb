// The model: forward and backward of sequences in tiles, on top of the table of (token, position).
//
//   table.forward            once per set of weights
//   load, attend, transform, decode              forward, tile by tile
//   untransform, unattend    backward, tile by tile, in reverse; then table.backward once
#pragma once

#include "feed_forward.hpp"
#include "sequences.hpp"
#include "table.hpp"
#include "tile.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Up to this many tokens a table entry is picked by comparing in lanes; beyond, lane by lane.
constexpr int64_t COMPARED_TOKENS = 16;

template <class T> class Model {
 public:
  using V = Lanes<T>;
  using M = Mask<T>;
  Shape shape;
  Layout layout;
  Table<T> table;
  Tile<T> tile;

  Model(const Shape& s, Arena& arena)
      : shape(s),
        layout(s),
        table(s, arena),
        tile(s, arena),
        norm_(s),
        keeping_(feed_forward<T, true>(s)),
        passing_(feed_forward<T, ONLY_DERIVATIVES<T>>(s)),
        backward_(feed_backward<T>(s)) {}

  /// Takes weights (padded; they must outlive the use of this model) and fills the table.
  void prepare(const T* theta, const Ablation& ablation = {}) {
    theta_ = theta;
    ablation_ = ablation;
    shortest_embedding = table.forward(theta, layout, ablation);
    shortest_ = broadcast(T(__builtin_huge_val()));
  }

  /// Lengths of the shortest vectors normalised since prepare().
  T shortest_embedding;
  T shortest_sequence() const { return least<T>(shortest_); }

  /// Forward on sequences first..first+count-1, at most TILE_SEQUENCES of them. Lanes left over
  /// hold whatever comes next in memory, with no share in the mean, which is taken over
  /// `mean_over`.
  template <bool Keep>
  void forward(const Sequences& data, int64_t first, int64_t count, int64_t mean_over) {
    forward(data, first, count, mean_over, Keep ? keeping_ : passing_);
  }

  void clear(T* grad) {
    for (int64_t i = 0; i < layout.padded_size; i += LANES) store(grad + i, zero<T>());
    table.clear_gradient();
  }

  /// Backward of the tile that forward<true> left behind.
  void backward(T* grad) {
    undecode(grad);
    const Feed<T> feed(theta_, layout, shape, ablation_.units);
    backward_.of[tile.vectors - 1](FeedGradient<T>(grad, layout), tile, feed);
    add_sums(grad + layout[ASSEMBLER_BIAS].padded, tile.d_psi, TILE, shape.dim, tile.vectors);
    unattend();
  }

  /// After the last tile: through the table, to V, q, E and P.
  void finish(T* grad) {
    table.backward(grad, theta_, layout);
    for (const Slice& s : layout.slice)
      for (int64_t i = 0; !s.present && i < s.extent; ++i) grad[s.padded + i] = T(0);
  }

  /// The table's row (entries of one quantity) at the tokens of position t. P: the vocabulary when
  /// it is known to be 2, or 0.
  template <int P = 0> DYNASCOPE_INLINE V look_up(const T* row, int64_t t, int m) const {
    const int64_t p = P ? P : shape.vocab;
    const M token = tile.tokens[t * TILE + m];
    const T* entry = row + t * p;
    if (P || p <= COMPARED_TOKENS) {
      V v = broadcast(entry[0]);
      for (int64_t a = 1; a < p; ++a)
        v = select(token == broadcast(static_cast<Integer<T>>(a)), broadcast(entry[a]), v);
      return v;
    }
    Integer<T> lane[LANES];
    T found[LANES];
    std::memcpy(lane, &token, sizeof token);
    for (int l = 0; l < LANES; ++l) found[l] = entry[lane[l]];
    return load_anywhere(found);
  }

  /// The lanes of vector m that hold one of `count` sequences.
  static DYNASCOPE_INLINE M used(int m, int64_t count) {
    return count_up<T>() < broadcast(static_cast<Integer<T>>(count - m * LANES));
  }

 private:
  Normalizer<T> norm_;
  FeedForward<T> keeping_, passing_;
  FeedBackward<T> backward_;
  V shortest_;
  const T* theta_ = nullptr;
  Ablation ablation_;

  DYNASCOPE_ONCE void forward(const Sequences& data, int64_t first, int64_t count,
                              int64_t mean_over, FeedForward<T> transform) {
    load_tile(data, first, count, mean_over);
    if (shape.vocab == 2) attend<2>(count);
    else attend<0>(count);
    transform(tile, Feed<T>(theta_, layout, shape, ablation_.units));
    decode();
  }

  void load_tile(const Sequences& data, int64_t first, int64_t count, int64_t mean_over) {
    tile.vectors = count > LANES ? 2 : 1;
    const V share = broadcast(T(1) / static_cast<T>(mean_over));
    const M token_bits = broadcast((Integer<T>(1) << data.bits) - 1);
    for (int m = 0; m < tile.vectors; ++m) {
      const int64_t at = first + m * LANES;
      tile.target[m] = widen<T>(data.target + at);
      tile.share[m] = select(used(m, count), share, zero<T>());
      for (int64_t w = 0, t = 0; w < data.words; ++w) {
        const M word = widen<T>(reinterpret_cast<const int32_t*>(data.word + w * data.stride + at));
        for (int i = 0; i < data.per_word && t < data.length; ++i, ++t)
          tile.tokens[t * TILE + m] = (word >> (i * data.bits)) & token_bits;
      }
    }
  }

  /// xi = sum_t weighted / sum_t w, and its normalised form.
  template <int P> void attend(int64_t count) {
    for (int m = 0; m < tile.vectors; ++m) {
      V total = zero<T>();
      for (int64_t t = 0; t < shape.length; ++t)
        total = total + look_up<P>(table.weighted + shape.dim * table.width(), t, m);
      tile.total[m] = total;
      const V inverse = broadcast(T(1)) / total;
      for (int64_t c = 0; c < shape.dim; ++c) {
        V v = zero<T>();
        for (int64_t t = 0; t < shape.length; ++t)
          v = v + look_up<P>(table.weighted + c * table.width(), t, m);
        tile.xi[c * TILE + m] = v * inverse;
      }
      if (any<T>(total < broadcast(T(AttentionLimits<T>::faint)))) attend_to_faint(m);
      tile.norming[m] = norm_.forward(tile.x + m, tile.xi + m, TILE);
      const V counted =
          select(used(m, count), tile.norming[m].length, broadcast(T(__builtin_huge_val())));
      shortest_ = smaller(counted, shortest_);
    }
  }

  // ---- sequences whose scores all lie far below the table's maximum -----------------------------
  /// Attention of one lane with the sequence's own maximum: entry and weight per position.
  template <class F> void each_attention(int m, int lane, F use) const {
    const int64_t p = shape.vocab;
    auto entry = [&](int64_t t) {
      Integer<T> tokens[LANES];
      std::memcpy(tokens, &tile.tokens[t * TILE + m], sizeof tokens);
      return t * p + static_cast<int64_t>(tokens[lane]);
    };
    auto cut = [&](int64_t t) { return ablation_.positions && ablation_.positions[t]; };
    auto weight = [&](int64_t t, T top) {
      return first_lane<T>(exponential<T>(broadcast(table.score[entry(t)] - top)));
    };
    T top = -T(__builtin_huge_val()), total = T(0);
    for (int64_t t = 0; t < shape.length; ++t)
      if (!cut(t) && table.score[entry(t)] > top) top = table.score[entry(t)];
    for (int64_t t = 0; t < shape.length; ++t)
      if (!cut(t)) total += weight(t, top);
    for (int64_t t = 0; t < shape.length; ++t)
      if (!cut(t)) use(entry(t), weight(t, top) / total);
  }

  static bool faint(const V& total, int l) { return lane<T>(total, l) < AttentionLimits<T>::faint; }

  void attend_to_faint(int m) {
    for (int l = 0; l < LANES; ++l) {
      if (!faint(tile.total[m], l)) continue;
      for (int64_t c = 0; c < shape.dim; ++c) {
        T xi = T(0);
        each_attention(m, l, [&](int64_t e, T a) { xi += a * table.value_at(c, e); });
        Spread<T>::put_lane(tile.xi[c * TILE + m], l, xi);
      }
    }
  }

  /// Gradients of such a sequence go to value and score directly:
  /// d value(t) = a_t dxi, d score(t) = a_t dxi . (value(t) - xi).
  void unattend_faint(int m) {
    if (!table.has_direct) table.clear_direct();
    for (int l = 0; l < LANES; ++l) {
      if (!faint(tile.total[m], l)) continue;
      each_attention(m, l, [&](int64_t e, T a) {
        T along = T(0);
        for (int64_t c = 0; c < shape.dim; ++c) {
          const T d = lane<T>(tile.d_xi[c * TILE + m], l), xi = lane<T>(tile.xi[c * TILE + m], l);
          table.d_value_direct[c * table.width() + e] += a * d;
          along += d * (table.value_at(c, e) - xi);
        }
        table.d_score_direct[e] += a * along;
      });
    }
  }

  // ---- logits, loss, and back -------------------------------------------------------------------
  /// logits = E psi; cross-entropy; error = (softmax - truth) * share, in place of the logits.
  void decode() {
    const int64_t classes = shape.embeddings;
    const T* E = theta_ + layout[TOKEN_EMBEDDING].padded;
    multiply(tile.error, TILE, E, shape.dim, 1, classes, tile.psi, TILE, shape.dim, tile.vectors);
    for (int m = 0; m < tile.vectors; ++m) {
      V* logit = tile.error + m;
      V top = logit[0], at_target = logit[0];
      V argmax = zero<T>();  // the first of equals, as in torch.argmax
      for (int64_t r = 1; r < classes; ++r) {
        const V l = logit[r * TILE];
        argmax = select(l > top, broadcast(static_cast<T>(r)), argmax);
        top = select(l > top, l, top);
        at_target = select(is_target(r, m), l, at_target);
      }
      V total = zero<T>();
      for (int64_t r = 0; r < classes; ++r) {
        logit[r * TILE] = exponential<T>(logit[r * TILE] - top);
        total = total + logit[r * TILE];
      }
      tile.loss[m] = logarithm<T>(total) + (top - at_target);
      V truth = zero<T>();
      const V inverse = broadcast(T(1)) / total;
      for (int64_t r = 0; r < classes; ++r) {
        const V one_hot = select(is_target(r, m), broadcast(T(1)), zero<T>());
        truth = select(is_target(r, m), broadcast(static_cast<T>(r)), truth);
        logit[r * TILE] = (logit[r * TILE] * inverse - one_hot) * tile.share[m];
      }
      tile.correct[m] = select(argmax == truth, broadcast(T(1)), zero<T>());
    }
  }

  M is_target(int64_t r, int m) const {
    return tile.target[m] == broadcast(static_cast<Integer<T>>(r));
  }

  /// In the forward pass this was: logits = E psi; so now d psi = E^T error, dE = error psi^T.
  void undecode(T* grad) {
    const Slice& E = layout[TOKEN_EMBEDDING];
    multiply(tile.d_psi, TILE, theta_ + E.padded, 1, shape.dim, shape.dim, tile.error, TILE,
             shape.embeddings, tile.vectors);
    add_outer(grad + E.padded, shape.dim, shape.embeddings, tile.error, TILE, tile.psi, TILE,
              shape.dim, tile.vectors);
  }

  /// In the forward pass this was: psi = xi + ff(norm(xi)), xi = A/S with A, S sums of table
  /// entries; so now dxi = dpsi + norm'(dx), dA = dxi/S, dS = -dxi . xi / S.
  void unattend() {
    for (int m = 0; m < tile.vectors; ++m) {
      norm_.backward(tile.d_xi + m, tile.d_x + m, tile.xi + m, tile.norming[m], TILE);
      V along = zero<T>();
      for (int64_t i = m; i < shape.dim * TILE; i += TILE) {
        tile.d_xi[i] = tile.d_psi[i] + tile.d_xi[i];
        along = along + tile.d_xi[i] * tile.xi[i];
      }
      V inverse = broadcast(T(1)) / tile.total[m];
      const M is_faint = tile.total[m] < broadcast(T(AttentionLimits<T>::faint));
      if (any<T>(is_faint)) {
        unattend_faint(m);
        inverse = select(is_faint, zero<T>(), inverse);
        along = select(is_faint, zero<T>(), along);
      }
      for (int64_t i = m; i < shape.dim * TILE; i += TILE) tile.d_xi[i] = tile.d_xi[i] * inverse;
      tile.d_xi[shape.dim * TILE + m] = -along * inverse;
    }
    for (int64_t c = 0; c <= shape.dim; ++c) {
      T* d = table.d_weighted + c * table.width();
      const V* g = tile.d_xi + c * TILE;
      if (shape.vocab == 2)
        tile.vectors == 2 ? accumulate_compared<2, 2>(d, g) : accumulate_compared<2, 1>(d, g);
      else if (shape.vocab <= COMPARED_TOKENS) accumulate_compared<0, 0>(d, g);
      else accumulate_each(d, g);
    }
  }

  /// d[t * p + a] += sum of g over the tile's sequences with token a at position t. P and Vectors:
  /// the vocabulary and the tile's vectors where they are known beforehand, or 0.
  template <int P, int Vectors> void accumulate_compared(T* d, const V* g) const {
    const Integer<T> p = P ? P : static_cast<Integer<T>>(shape.vocab);
    const int vectors = Vectors ? Vectors : tile.vectors;
    V sum[LANES];
    const M* tokens = tile.tokens;  // of position t = (block + k) / p
    Integer<T> a = 0;               // (block + k) % p
    for (int64_t block = 0; block < table.entries; block += LANES) {
      for (int64_t k = 0; k < LANES; ++k) {
        sum[k] = zero<T>();
        if (block + k >= table.entries) continue;
        for (int m = 0; m < vectors; ++m)
          sum[k] = sum[k] + select(tokens[m] == broadcast(a), g[m], zero<T>());
        if (++a == p) {
          a = 0;
          tokens += TILE;
        }
      }
      add_to(d + block, sums<T>(sum));
    }
  }

  void accumulate_each(T* d, const V* g) const {
    for (int m = 0; m < tile.vectors; ++m)
      for (int64_t t = 0; t < shape.length; ++t) {
        Integer<T> token[LANES];
        alignas(64) T each[LANES];
        std::memcpy(token, &tile.tokens[t * TILE + m], sizeof token);
        store(each, g[m]);
        for (int l = 0; l < LANES; ++l) d[t * shape.vocab + token[l]] += each[l];
      }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
