// The readable twin of model.hpp: one sequence at a time, no table, no lanes, the library's own
// exp, log and erf. Tests compare the two; nothing else uses it.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "spec.hpp"

namespace dynascope {
namespace naive {

template <class T> using Vector = std::vector<T>;

/// y = g(|x|) x; also k = g'(|x|)/|x|. See normalize.hpp for the four norms.
template <class T> struct Normed {
  Vector<T> y;
  T g, k;
};

template <class T> Normed<T> norm_forward(const Vector<T>& x, const Shape& s) {
  const T d = static_cast<T>(s.dim), eps = static_cast<T>(s.norm_eps),
          tau = static_cast<T>(s.norm_tau);
  T r = 0;
  for (T v : x) r += v * v;
  r = std::sqrt(r);
  T g = 1, k = 0;
  if (s.norm == RMS) {
    g = 1 / (r / std::sqrt(d) + eps);
    k = r > 0 ? -g * g / (std::sqrt(d) * r) : 0;
  } else if (s.norm == UNIT) {
    g = r + eps > 0 ? 1 / (r + eps) : 0;
    k = r > 0 ? -g * g / r : 0;
  } else if (s.norm == SMOOTH && r < tau) {
    const T t = r / tau;
    g = std::sqrt(d) / tau * (6 * t * t * t * t - 15 * t * t * t + 10 * t * t);
    k = std::sqrt(d) / (tau * tau * tau) * (24 * t * t - 45 * t + 20);
  } else if (s.norm == SMOOTH) {
    g = std::sqrt(d) / r;
    k = -g / (r * r);
  }
  Normed<T> n{x, g, k};
  for (T& v : n.y) v *= g;
  return n;
}

template <class T>
Vector<T> norm_backward(const Vector<T>& dy, const Vector<T>& x, const Normed<T>& n) {
  T along = 0;
  for (size_t c = 0; c < x.size(); ++c) along += x[c] * dy[c];
  Vector<T> dx(x.size());
  for (size_t c = 0; c < x.size(); ++c) dx[c] = n.g * dy[c] + n.k * along * x[c];
  return dx;
}

template <class T> T activate(T x, int kind) {
  if (kind == RELU) return x > 0 ? x : 0;
  if (kind == SILU) return x / (1 + std::exp(-x));
  if (kind == TANH) return std::tanh(x);
  return x * std::erfc(-x / std::sqrt(T(2))) / 2;
}
template <class T> T activation_slope(T x, int kind) {
  if (kind == RELU) return x > 0 ? 1 : 0;
  if (kind == TANH) return 1 / (std::cosh(x) * std::cosh(x));
  if (kind == SILU) {
    const T s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  return std::erfc(-x / std::sqrt(T(2))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(T(2 * M_PI));
}

/// Mean cross-entropy of the examples, and its gradient; weights and gradient packed, in the order
/// of PARAMETER_NAMES.
template <class T>
T loss_and_gradient(T* grad, const T* theta, const Shape& s, const Examples& data,
                    const Ablation& off) {
  const int64_t d = s.dim, h = s.hidden, N = s.length, R = s.embeddings;
  const T *E = theta, *P = E + R * d, *q = P + N * d, *V = q + d, *W = V + d * d;
  const T *b1 = W + h * d, *U = b1 + (s.bias ? h : 0), *b2 = U + d * h;
  T *dE = grad, *dP = dE + R * d, *dq = dP + N * d, *dV = dq + d, *dW = dV + d * d;
  T *db1 = dW + h * d, *dU = db1 + (s.bias ? h : 0), *db2 = dU + d * h;
  const T root = std::sqrt(static_cast<T>(d));
  for (int64_t i = 0; i < (b2 - theta) + (s.bias ? d : 0); ++i) grad[i] = 0;
  T loss = 0;
  for (int64_t n = 0; n < data.count; ++n) {
    const int32_t* x = data.tokens + n * N;
    auto cut = [&](int64_t t) { return off.positions && off.positions[t]; };
    // embed, normalise, attend
    std::vector<Vector<T>> e(N, Vector<T>(d));
    std::vector<Normed<T>> z(N);
    Vector<T> score(N), a(N);
    T top = -INFINITY, sum = 0;
    for (int64_t t = 0; t < N; ++t) {
      for (int64_t c = 0; c < d; ++c) e[t][c] = E[x[t] * d + c] + P[t * d + c];
      z[t] = norm_forward(e[t], s);
      for (int64_t c = 0; c < d; ++c) score[t] += z[t].y[c] * q[c] / root;
      if (!cut(t)) top = std::max(top, score[t]);
    }
    for (int64_t t = 0; t < N; ++t) sum += a[t] = cut(t) ? 0 : std::exp(score[t] - top);
    for (int64_t t = 0; t < N; ++t)
      a[t] = off.attention ? static_cast<T>(off.attention[t]) : a[t] / sum;
    std::vector<Vector<T>> v(N, Vector<T>(d));
    Vector<T> xi(d);
    for (int64_t t = 0; t < N; ++t)
      for (int64_t c = 0; c < d; ++c) {
        for (int64_t k = 0; k < d; ++k) v[t][c] += V[c * d + k] * z[t].y[k];
        xi[c] += a[t] * v[t][c];
      }
    // feed-forward
    const Normed<T> u = norm_forward(xi, s);
    Vector<T> pre(h), hidden(h), psi = xi;
    for (int64_t j = 0; j < h; ++j) {
      pre[j] = s.bias ? b1[j] : 0;
      for (int64_t c = 0; c < d; ++c) pre[j] += W[j * d + c] * u.y[c];
      hidden[j] = off.units && off.units[j] ? 0 : activate(pre[j], s.activation);
    }
    for (int64_t c = 0; c < d; ++c) {
      if (s.bias) psi[c] += b2[c];
      for (int64_t j = 0; j < h; ++j) psi[c] += U[c * h + j] * hidden[j];
    }
    // decode
    Vector<T> p(R);
    T greatest = -INFINITY, total = 0;
    for (int64_t r = 0; r < R; ++r) {
      for (int64_t c = 0; c < d; ++c) p[r] += E[r * d + c] * psi[c];
      greatest = std::max(greatest, p[r]);
    }
    const T at_target = p[data.targets[n]];
    for (T& l : p) total += l = std::exp(l - greatest);
    loss += (std::log(total) + greatest - at_target) / static_cast<T>(data.count);
    // and back
    Vector<T> dpsi(d), du(d), dhidden(h);
    for (int64_t r = 0; r < R; ++r) {
      const T error = (p[r] / total - (r == data.targets[n])) / static_cast<T>(data.count);
      for (int64_t c = 0; c < d; ++c) {
        dpsi[c] += error * E[r * d + c];
        dE[r * d + c] += error * psi[c];
      }
    }
    for (int64_t j = 0; j < h; ++j) {
      T dpre = 0;
      for (int64_t c = 0; c < d; ++c) {
        dpre += U[c * h + j] * dpsi[c];
        dU[c * h + j] += hidden[j] * dpsi[c];
      }
      dpre *= off.units && off.units[j] ? 0 : activation_slope(pre[j], s.activation);
      if (s.bias) db1[j] += dpre;
      for (int64_t c = 0; c < d; ++c) {
        dW[j * d + c] += dpre * u.y[c];
        du[c] += W[j * d + c] * dpre;
      }
    }
    Vector<T> dxi = norm_backward(du, xi, u);
    for (int64_t c = 0; c < d; ++c) {
      dxi[c] += dpsi[c];
      if (s.bias) db2[c] += dpsi[c];
    }
    for (int64_t t = 0; t < N; ++t) {
      T dscore = 0;
      Vector<T> dz(d);
      for (int64_t c = 0; c < d && !off.attention; ++c) dscore += a[t] * dxi[c] * (v[t][c] - xi[c]);
      for (int64_t c = 0; c < d; ++c) {
        dq[c] += dscore * z[t].y[c] / root;
        dz[c] += dscore * q[c] / root;
        for (int64_t k = 0; k < d; ++k) {
          dV[c * d + k] += a[t] * dxi[c] * z[t].y[k];
          dz[k] += a[t] * dxi[c] * V[c * d + k];
        }
      }
      const Vector<T> de = norm_backward(dz, e[t], z[t]);
      for (int64_t c = 0; c < d; ++c) {
        dE[x[t] * d + c] += de[c];
        dP[t * d + c] += de[c];
      }
    }
  }
  return loss;
}

}  // namespace naive
}  // namespace dynascope
