// The part of the model that depends on (token, position) alone.
//
// There is one query, so a position's score and value depend only on which token stands there. They
// are tabulated once per step for all p*N pairs; a sequence then costs N look-ups:
//
//   z(a,t) = norm(E(a) + P(t))      s(a,t) = z . q / sqrt(d)      w(a,t) = exp(s - max s)
//   xi = sum_t w(x_t,t) V z(x_t,t) / sum_t w(x_t,t)
//
// The backward pass accumulates into the same table and goes through norm, V and q once per entry.
#pragma once

#include "arena.hpp"
#include "layout.hpp"
#include "normalize.hpp"
#include "product.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Weights below `negligible` count as 0 (no denormals); a sequence whose weights sum to less than
/// `faint` is computed with its own maximum instead. Their ratio is far below rounding.
template <class T> struct AttentionLimits : AttentionLimits<typename T::Plain> {};
template <> struct AttentionLimits<float> {
  static constexpr float negligible = 1e-30f, faint = 1e-18f;
};
template <> struct AttentionLimits<double> {
  static constexpr double negligible = 1e-280, faint = 1e-250;
};

template <class T> class Table {
 public:
  using V = Lanes<T>;
  int64_t vocab, length, dim, entries, vectors;  // entry t * vocab + a
  T* score;                                      // [entries], padded like all below
  T* weight;                                     // [entries]; 0 where a position is cut
  V* embedding;                                  // [dim][vectors]: E(a) + P(t)
  V* z;                                          // [dim][vectors]
  V* value;                                      // [dim][vectors]: V z
  T* weighted;  // [dim + 1][entries]: w V z, and w itself in row dim
  T* d_weighted;
  // Gradients that bypass `weighted`, from sequences with a maximum of their own; see model.hpp.
  T* d_value_direct;  // [dim][entries]
  T* d_score_direct;  // [entries]
  bool has_direct = false;

  Table(const Shape& s, Arena& arena)
      : vocab(s.vocab),
        length(s.length),
        dim(s.dim),
        entries(s.vocab * s.length),
        vectors(round_up(entries) / LANES),
        norm_(s),
        inverse_root_(static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(s.dim)))) {
    const int64_t width = vectors * LANES;
    score = arena.take<T>(width);
    weight = arena.take<T>(width);
    embedding = arena.take<V>(dim * vectors);
    z = arena.take<V>(dim * vectors);
    value = arena.take<V>(dim * vectors);
    weighted = arena.take<T>((dim + 1) * width);
    d_weighted = arena.take<T>((dim + 1) * width);
    d_value_direct = arena.take<T>(dim * width);
    d_score_direct = arena.take<T>(width);
    norming_ = arena.take<Norming<T>>(vectors);
    d_score_ = arena.take<V>(vectors);
    d_value_ = arena.take<V>(dim * vectors);
    d_z_ = arena.take<V>(dim * vectors);
    row_ = arena.take<T>(IN_PLACE ? 0 : width);
  }

  int64_t width() const { return vectors * LANES; }
  T value_at(int64_t c, int64_t entry) const {
    return lane<T>(value[c * vectors + entry / LANES], entry % LANES);
  }

  /// Fills the table; returns the length of the shortest vector that was normalised.
  T forward(const T* theta, const Layout& layout, const Ablation& off = {}) {
    embed(theta, layout);
    V shortest = broadcast(T(__builtin_huge_val()));
    for (int64_t i = 0; i < vectors; ++i) {
      norming_[i] = norm_.forward(z + i, embedding + i, vectors);
      shortest = smaller(norming_[i].length, shortest);
    }
    const T* q = theta + layout[QUERY].padded;
    for (int64_t i = 0; i < vectors; ++i) {
      V s = zero<T>();
      for (int64_t c = 0; c < dim; ++c) s = s + broadcast(q[c]) * z[c * vectors + i];
      store(score + i * LANES, s * broadcast(inverse_root_));
    }
    held_ = off.attention != nullptr;
    if (held_) hold(off.attention);
    else weigh(off.positions);
    multiply(value, vectors, theta + layout[VALUE].padded, dim, 1, dim, z, vectors, dim, vectors);
    for (int64_t i = 0; i < vectors; ++i) {
      const V w = load(weight + i * LANES);
      for (int64_t c = 0; c < dim; ++c)
        store(weighted + c * width() + i * LANES, w * value[c * vectors + i]);
      store(weighted + dim * width() + i * LANES, w);
    }
    return least<T>(shortest);
  }

  void clear_gradient() {
    for (int64_t i = 0; i < (dim + 1) * width(); i += LANES) store(d_weighted + i, zero<T>());
    has_direct = false;
  }

  void clear_direct() {
    for (int64_t i = 0; i < dim * width(); ++i) d_value_direct[i] = T(0);
    for (int64_t i = 0; i < width(); ++i) d_score_direct[i] = T(0);
    has_direct = true;
  }

  /// Adds the gradients of V, q, E and P to `grad`, from d_weighted (and the direct ones).
  /// In the forward pass this was: weighted = w V z with w = exp(z q / sqrt(d) - constant), so now:
  ///   d value = w dweighted,  d score = w (dw + dweighted . V z),
  ///   dz = V^T dvalue + q dscore / sqrt(d).
  void backward(T* grad, const T* theta, const Layout& layout) {
    const T* q = theta + layout[QUERY].padded;
    for (int64_t i = 0; i < vectors; ++i) {
      const V w = load(weight + i * LANES);
      V ds = load(d_weighted + dim * width() + i * LANES);
      for (int64_t c = 0; c < dim; ++c) {
        const V d = load(d_weighted + c * width() + i * LANES);
        ds = ds + d * value[c * vectors + i];
        d_value_[c * vectors + i] = w * d;
      }
      ds = w * ds;
      if (has_direct) {
        ds = ds + load(d_score_direct + i * LANES);
        for (int64_t c = 0; c < dim; ++c)
          d_value_[c * vectors + i] =
              d_value_[c * vectors + i] + load(d_value_direct + c * width() + i * LANES);
      }
      d_score_[i] = held_ ? zero<T>() : ds * broadcast(inverse_root_);
    }
    add_outer(grad + layout[QUERY].padded, dim, 1, d_score_, vectors, z, vectors, dim, vectors);
    add_outer(grad + layout[VALUE].padded, dim, dim, d_value_, vectors, z, vectors, dim, vectors);
    multiply(d_z_, vectors, theta + layout[VALUE].padded, 1, dim, dim, d_value_, vectors, dim,
             vectors);
    for (int64_t i = 0; i < vectors; ++i) {
      for (int64_t c = 0; c < dim; ++c)
        d_z_[c * vectors + i] = d_z_[c * vectors + i] + broadcast(q[c]) * d_score_[i];
      norm_.backward(d_z_ + i, d_z_ + i, embedding + i, norming_[i], vectors);
    }
    scatter(grad + layout[TOKEN_EMBEDDING].padded, grad + layout[POSITION_EMBEDDING].padded);
  }

 private:
  Normalizer<T> norm_;
  T inverse_root_;
  bool held_ = false;  // scores decide nothing, and get no gradient
  Norming<T>* norming_;
  V *d_score_, *d_value_, *d_z_;
  T* row_;  // [width]: one component of all entries, where lanes are not numbers in memory

  /// Plain numbers in lanes are numbers in a row; dual ones have to be copied.
  static constexpr bool IN_PLACE = std::is_floating_point_v<T>;
  T* numbers(V* component) const { return IN_PLACE ? reinterpret_cast<T*>(component) : row_; }

  void embed(const T* theta, const Layout& layout) {
    const T* tokens = theta + layout[TOKEN_EMBEDDING].padded;
    const T* positions = theta + layout[POSITION_EMBEDDING].padded;
    for (int64_t c = 0; c < dim; ++c) {
      T* e = numbers(embedding + c * vectors);
      if (vocab == 2) add_positions<2>(e, tokens + c, positions + c);
      else add_positions<0>(e, tokens + c, positions + c);
      // Padding repeats entry 0: harmless numbers, and the same minimum and maximum.
      for (int64_t i = entries; i < width(); ++i) e[i] = e[0];
      if constexpr (!IN_PLACE)
        for (int64_t i = 0; i < vectors; ++i) embedding[c * vectors + i] = load(e + i * LANES);
    }
  }

  /// One component of all entries; P: the vocabulary when it is known to be 2, or 0.
  template <int P> void add_positions(T* e, const T* tokens, const T* positions) const {
    const int64_t p = P ? P : vocab;
    for (int64_t t = 0; t < length; ++t)
      for (int64_t a = 0; a < p; ++a) *e++ = tokens[a * dim] + positions[t * dim];
  }

  // In the forward pass this was: embedding(a,t) = E(a) + P(t), so each gets its sum.
  void scatter(T* d_tokens, T* d_positions) const {
    for (int64_t c = 0; c < dim; ++c) {
      T* d = numbers(d_z_ + c * vectors);
      if constexpr (!IN_PLACE)
        for (int64_t i = 0; i < vectors; ++i) store(d + i * LANES, d_z_[c * vectors + i]);
      for (int64_t t = 0; t < length; ++t)
        for (int64_t a = 0; a < vocab; ++a) {
          d_tokens[a * dim + c] += d[t * vocab + a];
          d_positions[t * dim + c] += d[t * vocab + a];
        }
    }
  }

  /// The greatest score of a position that is not cut.
  T greatest_score(const uint8_t* cut_positions) const {
    if (!cut_positions) {  // padding repeats an entry, so whole vectors will do
      V greatest = load(score);
      for (int64_t i = 1; i < vectors; ++i) greatest = larger(load(score + i * LANES), greatest);
      return -least<T>(-greatest);
    }
    T greatest = -T(__builtin_huge_val());
    for (int64_t t = 0; t < length; ++t)
      for (int64_t e = t * vocab; !cut_positions[t] && e < (t + 1) * vocab; ++e)
        if (score[e] > greatest) greatest = score[e];
    return greatest;
  }

  /// One weight for each position, whatever is there. They sum to 1, so no sequence is faint.
  void hold(const double* attention) {
    for (int64_t i = 0; i < width(); ++i) weight[i] = T(0);
    for (int64_t t = 0; t < length; ++t)
      for (int64_t a = 0; a < vocab; ++a) weight[t * vocab + a] = static_cast<T>(attention[t]);
  }

  void weigh(const uint8_t* cut_positions) {
    const T greatest = greatest_score(cut_positions);
    const V floor = broadcast(T(AttentionLimits<T>::negligible));
    for (int64_t i = 0; i < vectors; ++i) {
      const V w = exponential<T>(load(score + i * LANES) - broadcast(greatest));
      store(weight + i * LANES, select(w < floor, zero<T>(), w));
    }
    if (!cut_positions) return;
    for (int64_t t = 0; t < length; ++t)
      for (int64_t a = 0; cut_positions[t] && a < vocab; ++a) weight[t * vocab + a] = T(0);
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
