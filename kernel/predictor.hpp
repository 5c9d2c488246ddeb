// The second half of the model, from sequence embeddings to a class, a tile at a time.
#pragma once

#include "feed_forward.hpp"
#include "layout.hpp"
#include "tile.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// `Keep`: hidden units are kept, so that one can be left out.
template <class T, bool Keep> class Predictor {
 public:
  Predictor(const Shape& s, Arena& arena)
      : shape_(s), layout_(s), tile_(s, arena), norm_(s), forward_(feed_forward<T, Keep>(s)) {
    theta_ = arena.take<T>(layout_.padded_size);
    through_ = arena.take<T>(s.embeddings * s.hidden);
  }

  const T* theta() const { return theta_; }
  const Layout& layout() const { return layout_; }

  void prepare(const T* packed) {
    unpack(theta_, packed, layout_);
    for (int64_t r = 0; r < shape_.embeddings; ++r)
      for (int64_t j = 0; j < shape_.hidden; ++j) {
        T total = 0;
        for (int64_t c = 0; c < shape_.dim; ++c)
          total += theta_[layout_[TOKEN_EMBEDDING].at(r, c)] * theta_[layout_[ASSEMBLERS].at(c, j)];
        through_[r * shape_.hidden + j] = total;
      }
  }

  /// Takes one sequence embedding into a place of the tile; all places in use must have one.
  void take(int64_t place, const double* xi) {
    for (int64_t c = 0; c < shape_.dim; ++c)
      reinterpret_cast<T*>(tile_.xi + c * TILE)[place] = static_cast<T>(xi[c]);
  }

  /// Logits of the sequences in the first `vectors` vectors.
  void run(int vectors) {
    tile_.vectors = vectors;
    for (int m = 0; m < vectors; ++m) norm_.forward(tile_.x + m, tile_.xi + m, TILE);
    const Feed<T> feed(theta_, layout_, shape_, nullptr);
    forward_(tile_, feed);
    multiply(tile_.error, TILE, theta_ + layout_[TOKEN_EMBEDDING].padded, shape_.dim, 1,
             shape_.embeddings, tile_.psi, TILE, shape_.dim, vectors);
  }

  T logit(int64_t r, int64_t place) const {
    return reinterpret_cast<const T*>(tile_.error + r * TILE)[place];
  }

  /// The class with the greatest logit, the first of equals.
  int32_t winner(int64_t place) const {
    return greatest([&](int64_t r) { return logit(r, place); });
  }

  /// The same without hidden unit j, which adds E U_j times its activation to the logits.
  int32_t winner_without(int64_t j, int64_t place) const {
    static_assert(Keep, "hidden units are needed");
    const T gone = reinterpret_cast<const T*>(tile_.hidden + j * TILE)[place];
    return greatest(
        [&](int64_t r) { return logit(r, place) - through_[r * shape_.hidden + j] * gone; });
  }

 private:
  Shape shape_;
  Layout layout_;
  Tile<T> tile_;
  Normalizer<T> norm_;
  FeedForward<T> forward_;
  T *theta_, *through_;  // through_ [embeddings, hidden]: E U

  template <class F> int32_t greatest(F of) const {
    int32_t best = 0;
    T top = of(0);
    for (int32_t r = 1; r < shape_.embeddings; ++r) {
      const T at = of(r);
      if (at > top) {
        top = at;
        best = r;
      }
    }
    return best;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
