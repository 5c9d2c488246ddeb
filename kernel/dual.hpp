// Dual numbers: a value and its derivatives along K directions at once.
//
//   (a, a') (b, b') = (a b, a' b + a b')        f((a, a')) = (f(a), f'(a) a')
//
// The model is a template over its numbers. Run on plain numbers it gives the gradient; run on dual
// ones whose derivatives are a direction v, it gives the gradient and its derivative along v: H v,
// exact but for rounding. The values go through the very operations of the plain model.
#pragma once

#include <type_traits>

#include "math.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// One number in memory: part[0] is the value, part[1 + k] its derivative along direction k.
template <class T, int K> struct Dual {
  using Plain = T;
  T part[K + 1];

  Dual() = default;
  constexpr Dual(T value) : part{value} {}  // of a constant; implicit, as a constant is a number

  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) {
    for (int k = 0; k <= K; ++k) a.part[k] -= b.part[k];
    return a;
  }
  friend Dual operator-(Dual a) {
    for (T& x : a.part) x = -x;
    return a;
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual c(a.part[0] * b.part[0]);
    for (int k = 1; k <= K; ++k) c.part[k] = a.part[k] * b.part[0] + a.part[0] * b.part[k];
    return c;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual c(a.part[0] / b.part[0]);
    for (int k = 1; k <= K; ++k) c.part[k] = (a.part[k] - c.part[0] * b.part[k]) / b.part[0];
    return c;
  }
  Dual& operator+=(const Dual& b) {
    for (int k = 0; k <= K; ++k) part[k] += b.part[k];
    return *this;
  }
  friend bool operator<(const Dual& a, const Dual& b) { return a.part[0] < b.part[0]; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.part[0] > b.part[0]; }
};

// K times the same lanes, as nested pairs: these the compiler keeps in registers, arrays it does
// not. K is a power of two.
template <class V, int K> struct BundleOf {
  using type = Pair<typename BundleOf<V, K / 2>::type>;
};
template <class V> struct BundleOf<V, 1> {
  using type = V;
};

/// Each of a bundle's lanes times the same v, or chosen by the same mask.
template <class B, class V> DYNASCOPE_INLINE B scaled(const B& bundle, const V& v) {
  if constexpr (std::is_same_v<B, V>) return bundle * v;
  else return {scaled(bundle.lo, v), scaled(bundle.hi, v)};
}
template <class V, class M, class B>
DYNASCOPE_INLINE B chosen(const M& mask, const B& a, const B& b) {
  if constexpr (std::is_same_v<B, V>) return select(mask, a, b);
  else return {chosen<V>(mask, a.lo, b.lo), chosen<V>(mask, a.hi, b.hi)};
}

/// Sixteen dual numbers: lanes of values, then those of the derivatives one direction after
/// another.
template <class T, int K> struct DualLanes {
  using V = Lanes<T>;
  using Bundle = typename BundleOf<V, K>::type;
  V value;
  Bundle along;

  static constexpr int64_t PARTS = K + 1;
  V* parts() {  // [PARTS]: nested pairs lie in a row
    static_assert(sizeof(DualLanes) == PARTS * sizeof(V), "no padding between them");
    return reinterpret_cast<V*>(this);
  }
  const V* parts() const { return const_cast<DualLanes*>(this)->parts(); }

  friend DYNASCOPE_INLINE DualLanes operator+(const DualLanes& a, const DualLanes& b) {
    return {a.value + b.value, a.along + b.along};
  }
  friend DYNASCOPE_INLINE DualLanes operator-(const DualLanes& a, const DualLanes& b) {
    return {a.value - b.value, a.along - b.along};
  }
  friend DYNASCOPE_INLINE DualLanes operator-(const DualLanes& a) { return {-a.value, -a.along}; }
  friend DYNASCOPE_INLINE DualLanes operator*(const DualLanes& a, const DualLanes& b) {
    return {a.value * b.value, scaled(a.along, b.value) + scaled(b.along, a.value)};
  }
  friend DYNASCOPE_INLINE DualLanes operator/(const DualLanes& a, const DualLanes& b) {
    const V value = a.value / b.value, inverse = broadcast(T(1)) / b.value;
    return {value, scaled(a.along - scaled(b.along, value), inverse)};
  }
  friend DYNASCOPE_INLINE auto operator<(const DualLanes& a, const DualLanes& b) {
    return a.value < b.value;
  }
  friend DYNASCOPE_INLINE auto operator>(const DualLanes& a, const DualLanes& b) {
    return a.value > b.value;
  }
  friend DYNASCOPE_INLINE auto operator==(const DualLanes& a, const DualLanes& b) {
    return a.value == b.value;
  }
};

template <class T, int K> struct IntegerOf<Dual<T, K>> : IntegerOf<T> {};
template <class T, int K> struct LanesOf<Dual<T, K>> {
  using type = DualLanes<T, K>;
};

template <class M, class T, int K>
DYNASCOPE_INLINE DualLanes<T, K> select(const M& mask, const DualLanes<T, K>& a,
                                        const DualLanes<T, K>& b) {
  return {select(mask, a.value, b.value), chosen<Lanes<T>>(mask, a.along, b.along)};
}

/// At 0 the derivative is taken as 0: only a length has this root, and at 0 nothing hangs on it.
template <class T, int K> DYNASCOPE_INLINE DualLanes<T, K> square_root(const DualLanes<T, K>& x) {
  const Lanes<T> root = square_root(x.value), nil = zero<T>();
  return {root, scaled(x.along, select(root == nil, nil, broadcast(T(0.5)) / root))};
}

template <class T, int K> struct Spread<Dual<T, K>> {
  using D = Dual<T, K>;
  using V = DualLanes<T, K>;
  static DYNASCOPE_INLINE V broadcast(const D& x) {
    V v;
    for (int k = 0; k <= K; ++k) v.parts()[k] = Spread<T>::broadcast(x.part[k]);
    return v;
  }
  static V load(const D* p) { return load_anywhere(p); }
  static V load_anywhere(const D* p) {
    V v;
    for (int k = 0; k <= K; ++k) {
      T lanes[LANES];
      for (int i = 0; i < LANES; ++i) lanes[i] = p[i].part[k];
      v.parts()[k] = Spread<T>::load_anywhere(lanes);
    }
    return v;
  }
  static void store(D* p, const V& v) {
    for (int k = 0; k <= K; ++k) {
      alignas(64) T lanes[LANES];
      Spread<T>::store(lanes, v.parts()[k]);
      for (int i = 0; i < LANES; ++i) p[i].part[k] = lanes[i];
    }
  }
  static D lane(const V& v, int64_t i) {
    D x;
    for (int k = 0; k <= K; ++k) x.part[k] = Spread<T>::lane(v.parts()[k], i);
    return x;
  }
  static void put_lane(V& v, int64_t i, const D& x) {
    for (int k = 0; k <= K; ++k) Spread<T>::put_lane(v.parts()[k], i, x.part[k]);
  }
  /// As a constant: the least is a yardstick, and what is measured with it does not depend on it.
  static D least(const V& v) { return D(Spread<T>::least(v.value)); }
  static D sum(const V& v) {
    D total;
    for (int k = 0; k <= K; ++k) total.part[k] = Spread<T>::sum(v.parts()[k]);
    return total;
  }
  static V sums(const V* v, int64_t step) {
    V total;
    for (int k = 0; k <= K; ++k)
      total.parts()[k] = Spread<T>::sums(v->parts() + k, step * V::PARTS);
    return total;
  }
};

template <class T, int K> struct Elementary<Dual<T, K>> {
  using V = DualLanes<T, K>;
  static DYNASCOPE_INLINE V exponential(const V& x) {
    const Lanes<T> y = Elementary<T>::exponential(x.value);
    return {y, scaled(x.along, y)};
  }
  static DYNASCOPE_INLINE V logarithm(const V& x) {
    return {Elementary<T>::logarithm(x.value), scaled(x.along, broadcast(T(1)) / x.value)};
  }
  template <class Act> static DYNASCOPE_INLINE ValueAndSlope<Dual<T, K>> activation(const V& x) {
    const ValueSlopeAndBend<T> y = Act::template all<T>(x.value);
    return {{y.value, scaled(x.along, y.slope)}, {y.slope, scaled(x.along, y.bend)}};
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
