// Elementary functions on lanes, ours because libm differs from machine to machine.
//
// Only IEEE + - * / sqrt and integer operations, in a fixed order: the same bits everywhere. The
// coefficients come from scripts/fit-math. Errors over [-30, 30], relative to max(1, |f|): below
// 2e-7 in float32 and 1e-14 in float64 (tests/kernel/test_math.py).
#pragma once

#include "catalog.hpp"
#include "lanes.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// The functions of one number that differ between plain and dual numbers.
template <class T> struct Elementary {
  static DYNASCOPE_INLINE Lanes<T> exponential(const Lanes<T>& x);
  static DYNASCOPE_INLINE Lanes<T> logarithm(const Lanes<T>& x);
  template <class Act> static DYNASCOPE_INLINE auto activation(const Lanes<T>& x) {
    return Act::template both<T>(x);
  }
};
template <class T> DYNASCOPE_INLINE Lanes<T> exponential(const Lanes<T>& x) {
  return Elementary<T>::exponential(x);
}
template <class T> DYNASCOPE_INLINE Lanes<T> logarithm(const Lanes<T>& x) {
  return Elementary<T>::logarithm(x);
}

/// Horner's rule, coefficients from the constant term up.
template <class T, int N> DYNASCOPE_INLINE Lanes<T> polynomial(const Lanes<T>& x, const T (&c)[N]) {
  Lanes<T> r = broadcast(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) r = r * x + broadcast(c[i]);
  return r;
}

template <class T> struct Constants;
template <> struct Constants<float> {
  static constexpr int mantissa = 23;
  static constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;  // n*high is exact
  static constexpr float exp_low = -87.0f, exp_high = 88.0f;  // outside: 0 and infinity
  static constexpr int32_t one = 0x3F800000, sqrt_half = 0x3F3504F3;
  static constexpr float exp[] = {0.5f, 0.166665769896987757f, 0.0416665546172045742f,
                                  0.00836317905272257736f, 0.00139261835877134945f};
  static constexpr float log[] = {0.666666850451560291f, 0.399887782821628077f,
                                  0.295800530431884421f};
};
template <> struct Constants<double> {
  static constexpr int mantissa = 52;
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp_low = -708.0, exp_high = 709.0;
  static constexpr int64_t one = 0x3FF0000000000000, sqrt_half = 0x3FE6A09E667F3BCD;
  static constexpr double exp[] = {0.5,
                                   0.16666666666666671,
                                   0.0416666666666666698,
                                   0.00833333333332613513,
                                   0.00138888888888837483,
                                   0.000198412698748206253,
                                   0.0000248015873255477412,
                                   2.75572554002064244e-6,
                                   2.75572736431102953e-7,
                                   2.51052170047207452e-8,
                                   2.09146869680868772e-9};
  static constexpr double log[] = {
      0.666666666666666667, 0.399999999999999925, 0.285714285714353639,
      0.222222222198572881, 0.181818185938675999, 0.153845751157666177,
      0.133356393863594706, 0.116881075865959225, 0.118821427126273194};
};

/// 2^n for a whole n that was rounded by adding Constants::round: its low bits are n.
template <class T> DYNASCOPE_INLINE Lanes<T> power_of_two(const Lanes<T>& rounded) {
  using C = Constants<T>;
  return from_bits<T>((bits<T>(rounded) << C::mantissa) + broadcast(C::one));
}

/// e^x = 2^n e^r with n = round(x / ln 2). 0 below exp_low (no denormals), infinity above exp_high.
template <class T> DYNASCOPE_INLINE Lanes<T> Elementary<T>::exponential(const Lanes<T>& x) {
  using C = Constants<T>;
  const Lanes<T> low = broadcast(C::exp_low), high = broadcast(C::exp_high);
  const Lanes<T> clamped = select(x < low, low, select(x > high, high, x));
  const Lanes<T> rounded = clamped * broadcast(T(1.44269504088896341)) + broadcast(C::round);
  const Lanes<T> n = rounded - broadcast(C::round);
  const Lanes<T> r = clamped - n * broadcast(C::ln2_high) - n * broadcast(C::ln2_low);
  const Lanes<T> y = broadcast(T(1)) + (r + r * r * polynomial<T>(r, C::exp));
  const Lanes<T> result = y * power_of_two<T>(rounded);
  return select(x < low, zero<T>(), select(x > high, broadcast(T(__builtin_huge_val())), result));
}

/// log x = e ln 2 + 2 atanh((m-1)/(m+1)) with x = 2^e m, m in [sqrt(1/2), sqrt(2)); normal x > 0.
template <class T> DYNASCOPE_INLINE Lanes<T> Elementary<T>::logarithm(const Lanes<T>& x) {
  using C = Constants<T>;
  const Mask<T> shifted = bits<T>(x) - broadcast(C::sqrt_half);
  const Mask<T> e = shifted & broadcast(-(Integer<T>(1) << C::mantissa));  // sign and exponent
  const Lanes<T> m = from_bits<T>(bits<T>(x) - e);
  // The exponent as a number: its bits, moved down, added to those of Constants::round.
  const Mask<T> whole = (e >> C::mantissa) + bits<T>(broadcast(C::round));
  const Lanes<T> n = from_bits<T>(whole) - broadcast(C::round);
  const Lanes<T> s = (m - broadcast(T(1))) / (m + broadcast(T(1)));
  const Lanes<T> q = s * s;
  const Lanes<T> rest = s * q * polynomial<T>(q, C::log) + n * broadcast(C::ln2_low);
  const Lanes<T> result = n * broadcast(C::ln2_high) + ((s + s) + rest);
  const Lanes<T> infinity = broadcast(T(__builtin_huge_val()));
  const Lanes<T> outside = select(x == zero<T>(), -infinity, (x - x) / (x - x));  // else NaN
  return select(x > zero<T>(), select(x == infinity, x, result), outside);
}

/// cos(2 pi u), for one u >= 0: quarter turns are exact, the rest a polynomial in r, |r| <= 1/2.
inline double cosine_of_turn(double u) {
  static constexpr double sine[] = {
      1.57079632679489662,    -0.645964097506246254,    0.079692626246167045,
      -0.0046817541353186845, 0.000160441184787285757,  -3.59884323435637699e-6,
      5.69217234114803749e-8, -6.68780528423251605e-10, 6.01786357859478392e-12};
  static constexpr double cosine[] = {1.0,
                                      -1.23370055013616983,
                                      0.253669507901048013,
                                      -0.0208634807633529173,
                                      0.000919260274838531306,
                                      -0.0000252020423627167991,
                                      4.71087407669634674e-7,
                                      -6.38632524187481249e-9,
                                      6.5066306128911035e-11};
  const int64_t quarter = static_cast<int64_t>(4.0 * u + 0.5);
  const double r = 4.0 * u - static_cast<double>(quarter), q = r * r;
  const double (&c)[9] = quarter % 2 ? sine : cosine;
  double y = c[8];
  for (int i = 7; i >= 0; --i) y = y * q + c[i];
  if (quarter % 2) y *= r;  // cos(pi/2 + x) = -sin(x), cos(3 pi/2 + x) = sin(x)
  return quarter % 4 == 1 || quarter % 4 == 2 ? -y : y;
}

// ---- the normal distribution: one function gives erf, gelu and its derivative -------------------
/// For u >= 0: e^(-u^2/2), and Phi(-u) = e^(-u^2/2) M(u) (M: Mills' ratio over sqrt(2 pi)); and u
/// itself, cut where the tail is nothing, so that u * tail is never infinity * 0.
template <class T> struct NormalTail {
  Lanes<T> u, bell, tail;
};

DYNASCOPE_INLINE NormalTail<float> normal_tail(const Lanes<float>& size) {
  using C = Constants<float>;
  static constexpr float two_to[] = {1.0f,
                                     0.693147180559945309f,
                                     0.240223490380203614f,
                                     0.0555038101379645743f,
                                     0.00966636851538544831f,
                                     0.00133813025373207962f};
  static constexpr float above[] = {0.5f, 0.191102973585283858f, 0.0364092459601151122f};
  static constexpr float below[] = {1.0f, 1.18009316761015159f, 0.514361084555905346f,
                                    0.0864765874721697692f, 0.000309817537980839827f};
  // Beyond 9 the tail is below 1e-18: cut there, so that no denormal can arise (they are slow).
  const Lanes<float> u = smaller(broadcast(9.0f), size);
  const Lanes<float> t = u * u * broadcast(-0.72134752044448170f);  // -log2(e)/2
  const Lanes<float> rounded = t + broadcast(C::round);
  const Lanes<float> r = t - (rounded - broadcast(C::round));
  const Lanes<float> bell = polynomial<float>(r, two_to) * power_of_two<float>(rounded);
  return {u, bell, bell * (polynomial<float>(u, above) / polynomial<float>(u, below))};
}

DYNASCOPE_INLINE NormalTail<double> normal_tail(const Lanes<double>& size) {
  static constexpr double mills[] = {
      0.472053206509844683,      -0.0967034773265257572,    0.0139996347244245048,
      0.0286003640535448641,     -0.0321978374280321861,    0.0179360974798843716,
      -0.00500237859227379368,   -0.00028562310150560935,   0.000694897118989241403,
      -0.0000944302200959549614, -0.0000878532823722928143, 0.000021249845976741393,
      0.0000136272914275598168,  -3.43138858165669661e-6,   -2.61406958750122043e-6,
      4.02295564073912991e-7,    5.54054992546194194e-7,    5.4775514431276068e-9,
      -1.13219001792034701e-7,   -2.47952430785730219e-8,   1.88733948400228258e-8,
      1.00051470608303874e-8,    -1.60473501591146309e-9,   -2.42686378478729616e-9,
      -2.63791898334642997e-10,  3.0195135183264926e-10,    8.75251698907177659e-11};
  const Lanes<double> u = smaller(broadcast(38.0), size), pivot = broadcast(4.0);
  const Lanes<double> bell = exponential<double>(u * u * broadcast(-0.5));
  const Lanes<double> y = (u - pivot) / (u + pivot);
  return {u, bell, bell * (polynomial<double>(y, mills) / (broadcast(1.0) + u))};
}

template <class T> DYNASCOPE_INLINE Lanes<T> error_function(const Lanes<T>& x) {
  const Lanes<T> tail = normal_tail(absolute<T>(x) * broadcast(T(1.41421356237309505))).tail;
  const Lanes<T> y = broadcast(T(1)) - (tail + tail);
  return select(x < zero<T>(), -y, y);
}

// ---- activations: value, derivative, second derivative ------------------------------------------
template <class T> struct ValueAndSlope {
  Lanes<T> value, slope;
};
template <class T> struct ValueSlopeAndBend {
  Lanes<T> value, slope, bend;
};

/// gelu(x) = x Phi(x) = max(x, 0) - |x| Phi(-|x|); gelu'(x) = Phi(x) + x phi(x);
/// gelu''(x) = (2 - x^2) phi(x).
struct Gelu {
  template <class T> static DYNASCOPE_INLINE ValueSlopeAndBend<T> all(const Lanes<T>& x) {
    const NormalTail<T> n = normal_tail(absolute<T>(x));
    const Lanes<T> density = broadcast(T(0.398942280401432678));
    const Lanes<T> left = n.tail - n.u * n.bell * density;
    return {positive<T>(x) - n.u * n.tail, select(x > zero<T>(), broadcast(T(1)) - left, left),
            (broadcast(T(2)) - n.u * n.u) * n.bell * density};
  }
  template <class T> static DYNASCOPE_INLINE ValueAndSlope<T> both(const Lanes<T>& x) {
    const ValueSlopeAndBend<T> y = all<T>(x);
    return {y.value, y.slope};
  }
  template <class T> static DYNASCOPE_INLINE Lanes<T> value(const Lanes<T>& x) {
    const NormalTail<T> n = normal_tail(absolute<T>(x));
    return positive<T>(x) - n.u * n.tail;
  }
  template <class T> static DYNASCOPE_INLINE Lanes<T> positive(const Lanes<T>& x) {
    return select(x < zero<T>(), zero<T>(), x);
  }
};

/// relu'(0) = 0, as in PyTorch.
struct Relu {
  template <class T> static DYNASCOPE_INLINE ValueSlopeAndBend<T> all(const Lanes<T>& x) {
    const ValueAndSlope<T> y = both<T>(x);
    return {y.value, y.slope, zero<T>()};
  }
  template <class T> static DYNASCOPE_INLINE ValueAndSlope<T> both(const Lanes<T>& x) {
    return {value<T>(x), select(x > zero<T>(), broadcast(T(1)), zero<T>())};
  }
  template <class T> static DYNASCOPE_INLINE Lanes<T> value(const Lanes<T>& x) {
    return Gelu::positive<T>(x);
  }
};

/// silu(x) = x s(x) with s the logistic function; silu' = s + x s (1 - s), where with e = e^-|x|
/// s (1 - s) = e/(1+e)^2: 1 - s itself would cancel; silu'' = s (1 - s) (2 + x (1 - 2 s)).
struct Silu {
  template <class T> static DYNASCOPE_INLINE ValueSlopeAndBend<T> all(const Lanes<T>& x) {
    const Lanes<T> one = broadcast(T(1)), e = exponential<T>(-absolute<T>(x));
    const Lanes<T> inverse = one / (one + e), s = select(x < zero<T>(), e, one) * inverse;
    const Lanes<T> s_slope = e * inverse * inverse;
    return {x * s, s + x * s_slope,
            s_slope * (broadcast(T(2)) - absolute<T>(x) * ((one - e) * inverse))};
  }
  template <class T> static DYNASCOPE_INLINE ValueAndSlope<T> both(const Lanes<T>& x) {
    const ValueSlopeAndBend<T> y = all<T>(x);
    return {y.value, y.slope};
  }
  template <class T> static DYNASCOPE_INLINE Lanes<T> value(const Lanes<T>& x) {
    return both<T>(x).value;
  }
};

/// f(Gelu{}) for GELU and so on: what is compiled for each activation, chosen once.
template <class F> DYNASCOPE_INLINE auto with_activation(int activation, F f) {
  switch (activation) {
#define X(id, name, type, ...) \
  case id: return f(type{});
    DYNASCOPE_ACTIVATIONS(X)
#undef X
    default: __builtin_unreachable();
  }
}

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
