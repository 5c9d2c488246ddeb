// Normalisation, forward and backward, sixteen vectors at a time.
//
// Every norm has the form y = g(|x|) x, so its backward pass is dx = g dy + k (x . dy) x with
// k = g'(|x|)/|x|. Near 0 that k overflows long before the result does; so it is kept as
// k = bend side^2, with x multiplied by `side` first.
//
//   rms     x / (rms(x) + eps), rms(x) = |x| / sqrt(d)        length sqrt(d): the released code's
//   unit    x / (|x| + eps)                                    length 1: the paper's formulas
//   smooth  sqrt(d) s(|x|/tau) x/|x|, s(t) = 6t^5-15t^4+10t^3 up to 1: rms without its steep centre
//   none    x
//
// At x = 0 both numbers take their limits (0 where there is none): never NaN.
#pragma once

#include "math.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template <class T> struct Norming {
  Lanes<T> gain, side, bend, length;  // g; k = bend side^2; |x|
};

template <class T> struct Normalizer {
  int kind;
  int64_t dim;
  T eps, tau;

  explicit Normalizer(const Shape& s)
      : kind(s.norm),
        dim(s.dim),
        eps(static_cast<T>(s.norm_eps)),
        tau(static_cast<T>(s.norm_tau)) {}

  /// x and y: component c of the sixteen vectors at [c * step].
  Norming<T> forward(Lanes<T>* y, const Lanes<T>* x, int64_t step) const {
    Lanes<T> square = zero<T>();
    for (int64_t c = 0; c < dim; ++c) square = square + x[c * step] * x[c * step];
    const Norming<T> n = gains(square_root(square));
    for (int64_t c = 0; c < dim; ++c) y[c * step] = x[c * step] * n.gain;
    return n;
  }

  /// dx = g dy + k (x . dy) x
  void backward(Lanes<T>* dx, const Lanes<T>* dy, const Lanes<T>* x, const Norming<T>& n,
                int64_t step) const {
    Lanes<T> along = zero<T>();
    for (int64_t c = 0; c < dim; ++c) along = along + (x[c * step] * n.side) * dy[c * step];
    along = along * n.bend;
    for (int64_t c = 0; c < dim; ++c)
      dx[c * step] = dy[c * step] * n.gain + (x[c * step] * n.side) * along;
  }

 private:
  Norming<T> gains(const Lanes<T>& length) const {
    const Lanes<T> nil = zero<T>(), one = broadcast(T(1));
    const T root = static_cast<T>(__builtin_sqrt(static_cast<double>(dim)));
    if (kind == NONE) return {one, nil, nil, length};
    const T unit = kind == UNIT ? T(1) : root;
    const Lanes<T> bend = -one / (broadcast(unit) * length);
    if (kind == SMOOTH) {
      const Lanes<T> t = length / broadcast(tau);
      // Inside: s(t)/|x| = t^2 (6t^2 - 15t + 10) / tau, and its derivative over |x|.
      const Lanes<T> gain_in =
          broadcast(root / tau) *
          (t * t * ((broadcast(T(6)) * t - broadcast(T(15))) * t + broadcast(T(10))));
      const Lanes<T> bend_in = broadcast(root / (tau * tau * tau)) *
                               ((broadcast(T(24)) * t - broadcast(T(45))) * t + broadcast(T(20)));
      const Lanes<T> gain_out = broadcast(root) / length;
      const auto inside = t < one;
      return {select(inside, gain_in, gain_out), select(inside, one, gain_out),
              select(inside, bend_in, bend), length};
    }
    // rms and unit: g = 1/(|x|/unit + eps), so k = -g^2 / (unit |x|).
    const Lanes<T> below = length / broadcast(unit) + broadcast(eps);
    const Lanes<T> gain = select(below == nil, nil, one / below);
    // A length that overflowed would give a zero vector, silently; NaN marks the run as diverged.
    const Lanes<T> sound = gain + (length - length);
    return {sound, sound, select(length == nil, nil, bend), length};
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
