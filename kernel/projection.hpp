// The plane on which points of more than two dimensions are shown: their two principal axes.
//
//   C = mean over points of (x - m)(x - m)^T,   C a = v a,   share = v / trace C
//
// with m the mean and a the unit vectors of the two greatest v. The eigenvectors are found by
// Jacobi's rotations, in cyclic order, until no entry off the diagonal exceeds 2^-60 of the trace.
// Their cost grows as d^3. Only + - * / sqrt in one order, so plots and browser show the same plane
// to the last bit.
//
// What the formula leaves open:
//   - a sign: the entry of an axis with the greatest magnitude, the first of equals, is positive;
//   - equal variances: the axis that stands first after the rotations;
//   - d <= 2: the plane is the space itself, so the axes are those of the coordinates (for d = 1
//     the second is zero), each with its own share;
//   - no variance (one point, or all equal): the first two coordinates, with shares 0.
#pragma once

#include <cstdint>

namespace dynascope {

/// Numbers that `plane` needs to work in.
constexpr int64_t plane_work(int64_t d) { return 2 * d * d + d; }

namespace projection {

constexpr int SWEEPS = 64;  // far more than are ever needed: convergence is quadratic

inline double magnitude(double x) { return x < 0 ? -x : x; }

/// Centred points relative to the first one, which makes equal points differ by exactly 0, and to
/// the greatest difference, so that no square overflows.
struct Centred {
  const double* points;
  int64_t n, d;
  double scale;
  const double* mean;  // [d]

  double operator()(int64_t i, int64_t c) const {
    return (points[i * d + c] - points[c]) / scale - mean[c];
  }
};

/// The greatest difference to the first point; 0 if all are equal, NaN if one is not finite.
inline double greatest_difference(const double* points, int64_t n, int64_t d) {
  double greatest = 0, check = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < d; ++c) {
      const double off = magnitude(points[i * d + c] - points[c]);
      check += off - off;  // NaN for infinity and NaN, else 0
      greatest = off > greatest ? off : greatest;
    }
  return greatest + check;
}

inline void covariance(double* C, const Centred& x) {
  for (int64_t a = 0; a < x.d; ++a)
    for (int64_t b = a; b < x.d; ++b) {
      double total = 0;
      for (int64_t i = 0; i < x.n; ++i) total += x(i, a) * x(i, b);
      C[a * x.d + b] = C[b * x.d + a] = total / static_cast<double>(x.n);
    }
}

/// Rotates d pairs of numbers, of which each begins `step` after the one before.
inline void turn(double* one_of, double* other_of, int64_t step, int64_t d, double c, double s) {
  for (int64_t k = 0; k < d; ++k) {
    double &one = one_of[k * step], &other = other_of[k * step];
    const double was = one;
    one = c * was - s * other;
    other = s * was + c * other;
  }
}

/// C becomes diagonal, and the rows of V its eigenvectors.
inline void diagonalize(double* C, double* V, int64_t d) {
  double trace = 0;
  for (int64_t a = 0; a < d; ++a) {
    trace += C[a * d + a];
    for (int64_t b = 0; b < d; ++b) V[a * d + b] = a == b ? 1 : 0;
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < SWEEPS; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < d; ++p)
      for (int64_t q = p + 1; q < d; ++q) {
        const double off = C[p * d + q];
        if (magnitude(off) <= trace * 0x1p-60) continue;
        turned = true;
        // The smaller of the two angles that make C[p, q] zero: t = tan.
        const double half = (C[q * d + q] - C[p * d + p]) / (2 * off);
        const double t = (half < 0 ? -1 : 1) / (magnitude(half) + __builtin_sqrt(half * half + 1));
        const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
        turn(C + p * d, C + q * d, 1, d, c, s);
        turn(C + p, C + q, d, d, c, s);
        turn(V + p * d, V + q * d, 1, d, c, s);
        C[p * d + q] = C[q * d + p] = 0;
      }
  }
}

/// Where the diagonal is greatest, one place left out; the first of equals.
inline int64_t greatest_but(const double* C, int64_t d, int64_t left_out) {
  int64_t top = left_out == 0 ? 1 : 0;
  for (int64_t a = top + 1; a < d; ++a)
    if (a != left_out && C[a * d + a] > C[top * d + top]) top = a;
  return top;
}

inline void fix_sign(double* axis, int64_t d) {
  int64_t top = 0;
  for (int64_t c = 1; c < d; ++c)
    if (magnitude(axis[c]) > magnitude(axis[top])) top = c;
  const bool flip = axis[top] < 0;
  for (int64_t c = 0; flip && c < d; ++c) axis[c] = 0 - axis[c];  // no negative zero
}

}  // namespace projection

/// axes [2, d], mean [d] and shares [2] of points [n, d], n and d at least 1; `work` has
/// plane_work(d) numbers. False: a point is not finite, or two are further apart than a number can
/// say.
inline bool plane(double* axes, double* mean, double* shares, const double* points, int64_t n,
                  int64_t d, double* work) {
  using namespace projection;
  double *C = work, *V = C + d * d, *centre = V + d * d;
  double scale = greatest_difference(points, n, d);
  if (!(scale - scale == 0)) return false;
  if (scale == 0) scale = 1;
  for (int64_t c = 0; c < d; ++c) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += (points[i * d + c] - points[c]) / scale;
    centre[c] = total / static_cast<double>(n);
    mean[c] = points[c] + centre[c] * scale;
  }
  covariance(C, {points, n, d, scale, centre});
  double trace = 0;
  for (int64_t a = 0; a < d; ++a) trace += C[a * d + a];
  int64_t chosen[2] = {0, 1};
  if (d > 2) {
    diagonalize(C, V, d);
    chosen[0] = greatest_but(C, d, -1);
    chosen[1] = greatest_but(C, d, chosen[0]);
  }
  for (int k = 0; k < 2; ++k) {
    double* axis = axes + k * d;
    for (int64_t c = 0; c < d; ++c) axis[c] = d > 2 ? V[chosen[k] * d + c] : c == k;
    if (d > 2) fix_sign(axis, d);
    const double variance = chosen[k] < d ? C[chosen[k] * d + chosen[k]] : 0;
    shares[k] = variance > 0 ? variance / trace : 0;
  }
  return true;
}

}  // namespace dynascope
