// Sixteen virtual lanes, whatever the hardware has.
//
// Every reduction in the kernel runs over lanes in one fixed order, so a run gives the same bits on
// SSE2, AVX2, AVX-512, NEON and WebAssembly. `Lanes<T>` is one hardware vector where that is wide
// enough and otherwise a `Pair` of halves, down to the hardware's width: named members rather than
// an array, because compilers keep those in registers without being asked.
//
// This header is compiled once per instruction set, each time in a namespace of its own
// (`DYNASCOPE_ISA`), so that no inline function compiled for AVX-512 can be picked for a machine
// without it. For the same reason nothing here instantiates a template of the standard library.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Lanes must stay in registers: a call would pass them through memory.
#define DYNASCOPE_INLINE inline __attribute__((always_inline))

// Long, and called where a call costs next to nothing: compiled once instead of into every caller.
#define DYNASCOPE_ONCE __attribute__((noinline))

#ifndef DYNASCOPE_ISA
#define DYNASCOPE_ISA portable
#endif

#if defined(__AVX512F__)
#define DYNASCOPE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define DYNASCOPE_VECTOR_BYTES 32
#else
#define DYNASCOPE_VECTOR_BYTES 16
#endif

namespace dynascope {
namespace DYNASCOPE_ISA {

constexpr int LANES = 16;

constexpr int64_t round_up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

template <class T> struct IntegerOf;
template <> struct IntegerOf<float> {
  using type = int32_t;
};
template <> struct IntegerOf<int32_t> {
  using type = int32_t;
};
template <> struct IntegerOf<int64_t> {
  using type = int64_t;
};
template <> struct IntegerOf<double> {
  using type = int64_t;
};
template <class T> using Integer = typename IntegerOf<T>::type;

template <class T> constexpr int NATIVE = DYNASCOPE_VECTOR_BYTES / static_cast<int>(sizeof(T));

template <class T> struct NativeOf {
  typedef T type __attribute__((vector_size(DYNASCOPE_VECTOR_BYTES)));
};

template <class H> struct Pair {
  H lo, hi;
};

// Clang 14 and 16 refuse a specialisation for N = NATIVE<T>, which depends on T: hence `Whole`.
template <class T, int N, bool Whole = (N == NATIVE<T>)> struct ChunkOf {
  using type = Pair<typename ChunkOf<T, N / 2>::type>;
};
template <class T, int N> struct ChunkOf<T, N, true> {
  using type = typename NativeOf<T>::type;
};

template <class T> struct LanesOf : ChunkOf<T, LANES> {};  // dual numbers have their own
template <class T> using Lanes = typename LanesOf<T>::type;
template <class T> using Mask = Lanes<Integer<T>>;  // all bits set, or none, in each lane

// ---- elementwise operators on pairs; on hardware vectors they are the compiler's own ------------
#define DYNASCOPE_BINARY(op)                                                                    \
  template <class H> DYNASCOPE_INLINE Pair<H> operator op(const Pair<H>& a, const Pair<H>& b) { \
    return {a.lo op b.lo, a.hi op b.hi};                                                        \
  }
DYNASCOPE_BINARY(+)
DYNASCOPE_BINARY(-)
DYNASCOPE_BINARY(*)
DYNASCOPE_BINARY(/)
DYNASCOPE_BINARY(&)
DYNASCOPE_BINARY(|)
#undef DYNASCOPE_BINARY

// What a comparison gives: integers of the same width. Spelt out, because Clang's own result type
// is not the one that the same attributes make.
template <class V> struct ComparedOf {
  using element = std::remove_reference_t<decltype(std::declval<V&>()[0])>;
  using type = typename NativeOf<Integer<element>>::type;
};
template <class H> struct ComparedOf<Pair<H>> {
  using type = Pair<typename ComparedOf<H>::type>;
};
#define DYNASCOPE_COMPARE(op)                                                                \
  template <class H> DYNASCOPE_INLINE auto operator op(const Pair<H>& a, const Pair<H>& b) { \
    using Half = typename ComparedOf<H>::type;                                               \
    return Pair<Half>{(Half)(a.lo op b.lo), (Half)(a.hi op b.hi)};                           \
  }
DYNASCOPE_COMPARE(<)
DYNASCOPE_COMPARE(>)
DYNASCOPE_COMPARE(==)
#undef DYNASCOPE_COMPARE
template <class H> DYNASCOPE_INLINE Pair<H> operator-(const Pair<H>& a) { return {-a.lo, -a.hi}; }
template <class H> DYNASCOPE_INLINE Pair<H> operator<<(const Pair<H>& a, int s) {
  return {a.lo << s, a.hi << s};
}
template <class H> DYNASCOPE_INLINE Pair<H> operator>>(const Pair<H>& a, int s) {
  return {a.lo >> s, a.hi >> s};
}
template <class V> DYNASCOPE_INLINE V& operator+=(V& a, const Pair<decltype(a.lo)>& b) {
  return a = a + b;
}

/// mask ? a : b, lane by lane.
template <class M, class V> DYNASCOPE_INLINE V select(const M& mask, const V& a, const V& b) {
  return mask ? a : b;
}
template <class M, class H>
DYNASCOPE_INLINE Pair<H> select(const Pair<M>& mask, const Pair<H>& a, const Pair<H>& b) {
  return {select(mask.lo, a.lo, b.lo), select(mask.hi, a.hi, b.hi)};
}

// ---- making, loading, storing -------------------------------------------------------------------
template <class T, int... I>
DYNASCOPE_INLINE typename NativeOf<T>::type repeat(T x, std::integer_sequence<int, I...>) {
  return typename NativeOf<T>::type{((void)I, x)...};
}
template <class V, class T> DYNASCOPE_INLINE V fill(T x) {
  if constexpr (sizeof(V) == DYNASCOPE_VECTOR_BYTES) {
    return repeat(x, std::make_integer_sequence<int, NATIVE<T>>{});
  } else {
    const auto half = fill<decltype(V::lo)>(x);
    return {half, half};
  }
}

/// Between numbers in memory and numbers in lanes, and over lanes. Dual numbers have their own.
template <class T> struct Spread {
  using V = Lanes<T>;
  static DYNASCOPE_INLINE V broadcast(T x) { return fill<V>(x); }
  static DYNASCOPE_INLINE V load(const T* p) {
    return load_anywhere(static_cast<const T*>(__builtin_assume_aligned(p, 64)));
  }
  static DYNASCOPE_INLINE V load_anywhere(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static DYNASCOPE_INLINE void store(T* p, const V& v) {
    std::memcpy(__builtin_assume_aligned(p, 64), &v, sizeof v);
  }
  static DYNASCOPE_INLINE T lane(const V& v, int64_t i) {
    T x;
    std::memcpy(&x, reinterpret_cast<const char*>(&v) + i * static_cast<int64_t>(sizeof x),
                sizeof x);
    return x;
  }
  static DYNASCOPE_INLINE void put_lane(V& v, int64_t i, T x) {
    std::memcpy(reinterpret_cast<char*>(&v) + i * static_cast<int64_t>(sizeof x), &x, sizeof x);
  }
  static DYNASCOPE_INLINE T least(const V& v);
  static DYNASCOPE_INLINE T sum(const V& v);
  static DYNASCOPE_INLINE V sums(const V* v, int64_t step);
};

template <class T> DYNASCOPE_INLINE Lanes<T> broadcast(T x) { return Spread<T>::broadcast(x); }
template <class T> DYNASCOPE_INLINE Lanes<T> zero() { return broadcast<T>(T(0)); }
template <class T> DYNASCOPE_INLINE Lanes<T> load(const T* p) { return Spread<T>::load(p); }
template <class T> DYNASCOPE_INLINE Lanes<T> load_anywhere(const T* p) {  // of any alignment
  return Spread<T>::load_anywhere(p);
}
template <class T> DYNASCOPE_INLINE void store(T* p, const Lanes<T>& v) { Spread<T>::store(p, v); }
template <class T> DYNASCOPE_INLINE T lane(const Lanes<T>& v, int64_t i) {
  return Spread<T>::lane(v, i);
}
template <class T> DYNASCOPE_INLINE T first_lane(const Lanes<T>& v) { return lane<T>(v, 0); }

/// Sixteen 32-bit numbers as integers of T's width; any alignment.
template <class T> DYNASCOPE_INLINE Mask<T> widen(const int32_t* p) {
  Mask<T> v;
  if constexpr (sizeof(T) == sizeof(int32_t)) {
    std::memcpy(&v, p, sizeof v);
  } else {
    Integer<T> lane[LANES];
    for (int i = 0; i < LANES; ++i) lane[i] = p[i];
    std::memcpy(&v, lane, sizeof v);
  }
  return v;
}
/// 0, 1, 2, ..., 15.
template <class T> DYNASCOPE_INLINE Mask<T> count_up() {
  static constexpr int32_t lane[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return widen<T>(lane);
}

/// The same bits seen as another type.
template <class To, class From> DYNASCOPE_INLINE To cast(const From& v) {
  static_assert(sizeof(To) == sizeof(From), "a cast keeps the bits");
  To to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
template <class T> DYNASCOPE_INLINE Mask<T> bits(const Lanes<T>& v) { return cast<Mask<T>>(v); }
template <class T> DYNASCOPE_INLINE Lanes<T> from_bits(const Mask<T>& v) {
  return cast<Lanes<T>>(v);
}

/// The smallest lane; NaN only if all are.
template <class T> DYNASCOPE_INLINE T Spread<T>::least(const Lanes<T>& v) {
  T lane[LANES];
  std::memcpy(lane, &v, sizeof v);
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i)
      lane[i] = lane[i + width] < lane[i] || lane[i] != lane[i] ? lane[i + width] : lane[i];
  return lane[0];
}

template <class T> DYNASCOPE_INLINE T least(const Lanes<T>& v) { return Spread<T>::least(v); }

template <class V> DYNASCOPE_INLINE bool any_native(V mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8((__m256i)mask) != 0;
#elif defined(__x86_64__) || defined(_M_X64)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#else
  int64_t words[sizeof(V) / sizeof(int64_t)], all = 0;
  std::memcpy(words, &mask, sizeof mask);
  for (int64_t word : words) all |= word;
  return all != 0;
#endif
}
template <class T, class M> DYNASCOPE_INLINE bool any(const M& mask) {
  if constexpr (sizeof(M) == DYNASCOPE_VECTOR_BYTES) return any_native(mask);
  else return any<T>(mask.lo | mask.hi);
}

// ---- square root, correctly rounded everywhere --------------------------------------------------
template <class V> DYNASCOPE_INLINE V sqrt_native(V v) {
#if defined(__AVX512F__)  // masked forms: the plain ones make GCC 12 warn of its own header
  if constexpr (sizeof(v[0]) == 4) return (V)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)v);
  else return (V)_mm512_maskz_sqrt_pd(0xFF, (__m512d)v);
#elif defined(__AVX2__)
  if constexpr (sizeof(v[0]) == 4) return (V)_mm256_sqrt_ps((__m256)v);
  else return (V)_mm256_sqrt_pd((__m256d)v);
#elif defined(__x86_64__) || defined(_M_X64)
  if constexpr (sizeof(v[0]) == 4) return (V)_mm_sqrt_ps((__m128)v);
  else return (V)_mm_sqrt_pd((__m128d)v);
#elif defined(__wasm_simd128__)
  if constexpr (sizeof(v[0]) == 4) return (V)wasm_f32x4_sqrt((v128_t)v);
  else return (V)wasm_f64x2_sqrt((v128_t)v);
#elif defined(__aarch64__)
  if constexpr (sizeof(v[0]) == 4) return (V)vsqrtq_f32((float32x4_t)v);
  else return (V)vsqrtq_f64((float64x2_t)v);
#else
  V r;
  for (unsigned i = 0; i < sizeof(v) / sizeof(v[0]); ++i) {
    if constexpr (sizeof(v[0]) == 4) r[i] = __builtin_sqrtf(v[i]);
    else r[i] = __builtin_sqrt(v[i]);
  }
  return r;
#endif
}
template <class V> DYNASCOPE_INLINE V square_root(const V& v) {
  if constexpr (sizeof(V) == DYNASCOPE_VECTOR_BYTES) return sqrt_native(v);
  else return {square_root(v.lo), square_root(v.hi)};
}

// ---- small helpers; comparisons are written so that NaN passes through --------------------------
template <class V> DYNASCOPE_INLINE V smaller(const V& a, const V& b) {
  return select(a < b, a, b);
}
template <class V> DYNASCOPE_INLINE V larger(const V& a, const V& b) { return select(a > b, a, b); }
template <class T> DYNASCOPE_INLINE Lanes<T> absolute(const Lanes<T>& v) {
  constexpr Integer<T> top = static_cast<Integer<T>>(1) << (8 * sizeof(T) - 2);
  return from_bits<T>(bits<T>(v) & broadcast<Integer<T>>((top - 1) | top));  // all but the sign
}

// ---- reductions: lanes (i, i+8) are added first, then (i, i+4), (i, i+2), (i, i+1) --------------
template <class T> DYNASCOPE_INLINE T Spread<T>::sum(const Lanes<T>& v) {
  T lane[LANES];
  std::memcpy(lane, &v, sizeof v);
  for (int width = LANES / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}
template <class T> DYNASCOPE_INLINE T sum(const Lanes<T>& v) { return Spread<T>::sum(v); }

// Lane i of the two inputs of one merging step: from blocks of 2s lanes of `a` (then of `b`), the
// first s lanes of each block; the second s lanes are `s` further on.
constexpr int merge_lane(int i, int s, int width) {
  const int k = i % (width / 2);
  return (i < width / 2 ? 0 : width) + k / s * 2 * s + k % s;
}

template <class T, int S, int... I>
DYNASCOPE_INLINE typename NativeOf<T>::type merge(typename NativeOf<T>::type a,
                                                  typename NativeOf<T>::type b,
                                                  std::integer_sequence<int, I...>) {
  constexpr int W = NATIVE<T>;
#if defined(__clang__)
  return __builtin_shufflevector(a, b, merge_lane(I, S, W)...) +
         __builtin_shufflevector(a, b, (merge_lane(I, S, W) + S)...);
#else
  typedef typename NativeOf<Integer<T>>::type Index;
  return __builtin_shuffle(a, b, Index{merge_lane(I, S, W)...}) +
         __builtin_shuffle(a, b, Index{(merge_lane(I, S, W) + S)...});
#endif
}

template <class V> DYNASCOPE_INLINE auto fold(const V& v) {
  if constexpr (sizeof(V) == DYNASCOPE_VECTOR_BYTES) return v;
  else return fold(v.lo + v.hi);
}

// The sums of `Count` folded vectors from `v` on, `step` apart, as blocks of W/Count lanes.
template <class T, int Count>
DYNASCOPE_INLINE typename NativeOf<T>::type merged(const Lanes<T>* v, int64_t step) {
  if constexpr (Count == 1) {
    return fold(*v);
  } else {
    return merge<T, NATIVE<T> / Count>(merged<T, Count / 2>(v, step),
                                       merged<T, Count / 2>(v + Count / 2 * step, step),
                                       std::make_integer_sequence<int, NATIVE<T>>{});
  }
}

template <class T> DYNASCOPE_INLINE Lanes<T> Spread<T>::sums(const Lanes<T>* v, int64_t step) {
  typename NativeOf<T>::type parts[LANES / NATIVE<T>];
  for (int g = 0; g < LANES / NATIVE<T>; ++g)
    parts[g] = merged<T, NATIVE<T>>(v + g * NATIVE<T> * step, step);
  return cast<V>(parts);
}

/// Lane k of the result is sum(v[k]): sixteen reductions for the price of three.
template <class T> DYNASCOPE_INLINE Lanes<T> sums(const Lanes<T>* v) {
  return Spread<T>::sums(v, 1);
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
