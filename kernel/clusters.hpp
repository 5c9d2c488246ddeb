// How many clusters points fall into, without a scale of their own.
//
// The single-linkage tree merges clusters at rising distances h. If the points are n clusters, the
// n - 1 last merges bridge gaps between them and all others lie within: somewhere the sorted
// distances jump. The number of clusters is where the ratio of two neighbours is greatest;
// distances below 1e-4 of the diameter count as that, so that noise of rounding is no structure.
//
// The tree's distances are those of the minimal spanning tree (Gower and Ross 1969), found by
// Prim's algorithm: n^2/2 distances, sixteen at a time. Every pair is looked at, so the diameter
// comes with it.
#pragma once

#include "arena.hpp"
#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// Ascending, by a heap. Not std::sort: as a template it could be picked from the build of another
/// instruction set (lanes.hpp), and WebAssembly would need the C++ library for it alone.
inline void sort(double* a, int64_t count) {
  auto swap = [a](int64_t i, int64_t j) {
    const double kept = a[i];
    a[i] = a[j];
    a[j] = kept;
  };
  auto sink = [a, swap](int64_t i, int64_t end) {
    for (int64_t child = 2 * i + 1; child < end; child = 2 * i + 1) {
      if (child + 1 < end && a[child] < a[child + 1]) ++child;
      if (!(a[i] < a[child])) return;
      swap(i, child);
      i = child;
    }
  };
  for (int64_t i = count / 2; i-- > 0;) sink(i, count);
  for (int64_t end = count; end-- > 1;) {
    swap(0, end);
    sink(0, end);
  }
}

class Clusters {
 public:
  static constexpr double FLOOR = 1e-4;  // of the diameter

  Clusters(int64_t capacity, int64_t dim, Arena& arena)
      : dim_(dim), stride_((capacity + LANES - 1) / LANES * LANES) {
    points_ = arena.take<double>(dim * stride_);
    near_ = arena.take<double>(stride_);
    heights_ = arena.take<double>(stride_);
    from_ = arena.take<double>(dim);
  }

  void clear() {
    count_ = 0;
    for (int64_t i = 0; i < stride_; ++i) near_[i] = __builtin_huge_val();
  }
  void add(const double* point) {
    for (int64_t c = 0; c < dim_; ++c) points_[c * stride_ + count_] = point[c];
    ++count_;
  }

  /// Their number, of at most so many, the ratio that decided it, and the diameter.
  void count(double* out, int64_t most) {
    out[0] = out[1] = 1;
    out[2] = 0;
    const int64_t merges = count_ - 1;
    if (merges < 1) return;
    out[2] = __builtin_sqrt(span());
    const double floor = FLOOR * out[2];
    sort(heights_, merges);
    for (int64_t i = 0; i < merges; ++i) {
      const double h = __builtin_sqrt(heights_[i]);
      heights_[i] = h > floor ? h : floor;
    }
    if (!(out[2] > 0)) return;
    for (int64_t i = most < merges ? merges + 1 - most : 0; i < merges; ++i) {
      const double below = i > 0 ? heights_[i - 1] : floor;
      if (heights_[i] / below > out[1]) {
        out[0] = static_cast<double>(merges - i + 1);
        out[1] = heights_[i] / below;
      }
    }
  }

 private:
  using V = Lanes<double>;
  int64_t dim_, stride_, count_ = 0;
  double* points_;   // [dim, stride]
  double* near_;     // [stride]: squared distance of a point outside the tree to the tree
  double* heights_;  // [stride]: squared lengths of the tree's edges
  double* from_;     // [dim]: the point that joined last

  /// Builds the tree, whose edges go to `heights_`; returns the squared diameter.
  double span() {
    int64_t left = count_;
    V widest = zero<double>();
    take(0, --left);
    for (int64_t edge = 0; left > 0; ++edge) {
      for (int64_t i = left; i % LANES; ++i)  // lanes to spare: distance 0, not to be the widest
        for (int64_t c = 0; c < dim_; ++c) points_[c * stride_ + i] = from_[c];
      V best = broadcast(__builtin_huge_val()), where = zero<double>();
      for (int64_t i = 0; i < left; i += LANES) {
        V distance = zero<double>();
        for (int64_t c = 0; c < dim_; ++c) {
          const V step = load(points_ + c * stride_ + i) - broadcast(from_[c]);
          distance = distance + step * step;
        }
        widest = larger(distance, widest);
        if (left - i < LANES) {  // and not to be the nearest
          const auto used = count_up<double>() < broadcast(static_cast<int64_t>(left - i));
          distance = select(used, distance, broadcast(__builtin_huge_val()));
        }
        const V near = load(near_ + i), nearest = smaller(distance, near);
        store(near_ + i, nearest);
        where = select(nearest < best, broadcast(static_cast<double>(i)), where);
        best = smaller(nearest, best);
      }
      const int64_t chosen = first_of_least(best, where, left);
      heights_[edge] = near_[chosen];
      take(chosen, --left);
    }
    return -least<double>(-widest);
  }

  /// The point nearest to the tree; of equals, the first.
  static int64_t first_of_least(const V& best, const V& where, int64_t left) {
    double value[LANES], block[LANES];
    std::memcpy(value, &best, sizeof best);
    std::memcpy(block, &where, sizeof where);
    int64_t chosen = -1;
    double least = 0;
    for (int l = 0; l < LANES; ++l) {
      const int64_t i = static_cast<int64_t>(block[l]) + l;
      if (i < left && (chosen < 0 || value[l] < least || (value[l] == least && i < chosen))) {
        chosen = i;
        least = value[l];
      }
    }
    return chosen;
  }

  /// Point i joins the tree; the last one outside takes its place.
  void take(int64_t i, int64_t last) {
    for (int64_t c = 0; c < dim_; ++c) {
      double* row = points_ + c * stride_;
      from_[c] = row[i];
      row[i] = row[last];
    }
    near_[i] = near_[last];
    near_[last] = __builtin_huge_val();  // a place to spare is never the nearest
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
