// Update rules on the padded parameter vector, following torch.optim: SGD with momentum, Adam,
// AdamW, Muon; Lion; global gradient clipping, SAM's way uphill, learning-rate schedules, frozen
// entries, and constraints after a step.
#pragma once

#include "arena.hpp"
#include "layout.hpp"
#include "math.hpp"
#include "newton_schulz.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

/// base^n by squaring: exact operations in a fixed order, where libm's pow differs by machine.
inline double power(double base, int64_t n) {
  double result = 1.0;
  for (; n > 0; n /= 2, base *= base)
    if (n % 2) result *= base;
  return result;
}

/// The learning rate of step `step` (from 0) out of `total`.
inline double learning_rate(const Training& t, int64_t step, int64_t total) {
  if (t.schedule == CONSTANT) return t.lr;
  if (step < t.warmup) return t.lr * static_cast<double>(step + 1) / static_cast<double>(t.warmup);
  if (t.schedule == WARMUP) return t.lr;
  const int64_t span = total - t.warmup, done = step - t.warmup;
  if (done >= span) return t.lr_final;
  const double half_turn = 0.5 * static_cast<double>(done) / static_cast<double>(span);
  return t.lr_final + (t.lr - t.lr_final) * 0.5 * (1.0 + cosine_of_turn(half_turn));
}

/// What moments are divided by after `steps` steps, since they began at 0: 1 - beta^steps.
inline void unbias(double out[2], const Training& t, int64_t steps) {
  out[0] = 1.0 - power(t.beta1, steps);
  out[1] = 1.0 - power(t.beta2, steps);
}

template <class T> class Optimizer {
 public:
  using V = Lanes<T>;
  T *first, *second;  // moments; SGD's momentum lives in `first`

  Optimizer(const Shape& s, const Training& training, Arena& arena)
      : training_(training),
        layout_(s),
        newton_schulz_(layout_, training.optimizer == MUON, arena) {
    first = arena.take<T>(layout_.padded_size);
    second = arena.take<T>(layout_.padded_size);
    rate_ = arena.take<T>(layout_.padded_size);
  }

  /// `frozen`: packed, 1 = never moves; null: none. `since`: steps that were done when each slot
  /// began, where another rule moved the weights before.
  void start(const uint8_t* frozen, const int64_t since[SLOTS]) {
    for (int slot = 0; slot < SLOTS; ++slot) since_[slot] = since[slot];
    forgotten_[0] = forgotten(training_.beta1);
    forgotten_[1] = forgotten(training_.beta2);
    for (int64_t i = 0; i < layout_.padded_size; ++i) first[i] = second[i] = rate_[i] = T(0);
    any_frozen_ = false;
    for (int p = 0; p < PARAMETERS; ++p) {
      const Slice& s = layout_[p];
      const T rate = static_cast<T>(
          PARAMETER_ROWS[p].part == Part::FEED_FORWARD ? 1.0 / training_.mlp_lr_discount : 1.0);
      for (int64_t i = 0; s.present && i < s.rows * s.cols; ++i) {
        const bool fixed = frozen && frozen[s.packed + i];
        any_frozen_ = any_frozen_ || fixed;
        rate_[s.at(i / s.cols, i % s.cols)] = fixed ? T(0) : rate;
      }
    }
  }

  /// One step; `grad` may be scaled (clipping) and cleared where frozen.
  void update(T* theta, T* grad, int64_t step, int64_t total) {
    if (any_frozen_) clear_frozen(grad);
    if (training_.clip > 0) clip(grad);
    const double lr = learning_rate(training_, step, total);
    switch (training_.optimizer) {
      case SGD: descend(theta, grad, static_cast<T>(lr)); break;
      case LION: follow_signs(theta, grad, lr); break;
      case MUON: move_matrices(theta, grad, lr, step + 1); break;
      default: adapt(theta, grad, lr, step + 1, 0, layout_.padded_size);
    }
    constrain(theta);
  }

  /// SAM (Foret et al., "Sharpness-aware minimization for efficiently improving generalization",
  /// 2021): theta += rho g / |g|, to where the loss within rho is largest if it is straight. The
  /// step is then taken from the old theta with the gradient of the new one. Frozen entries stay,
  /// and do not count in |g|.
  void climb(T* theta, T* grad) const {
    if (any_frozen_) clear_frozen(grad);
    const V reach = broadcast(static_cast<T>(training_.sam) / (length(grad) + T(1e-12)));
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)
      store(theta + i, load(theta + i) + reach * load(grad + i));
  }

 private:
  Training training_;
  Layout layout_;
  NewtonSchulz<T> newton_schulz_;
  T* rate_;  // learning rate of each entry relative to lr; 0 for what does not move
  bool any_frozen_ = false;
  int64_t since_[SLOTS];
  int64_t forgotten_[SLOTS];  // steps after which a moment's bias correction is exactly 1

  /// A number of steps from which on 1 - beta^n rounds to 1: no power needs to be computed.
  static int64_t forgotten(double beta) {
    int64_t n = 1;
    while (power(beta, n) > 0x1p-55) n += n / 8 + 1;
    return n;
  }

  /// 1 - beta^n after step t, the n-th since the slot began.
  double unbiased(int slot, double beta, int64_t t) const {
    const int64_t n = t - since_[slot];
    return 1.0 - (n < forgotten_[slot] ? power(beta, n) : 0.0);
  }

  void clear_frozen(T* grad) const {
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)
      store(grad + i, select(load(rate_ + i) == zero<T>(), zero<T>(), load(grad + i)));
  }

  /// Of the whole gradient.
  T length(const T* grad) const {
    V square = zero<T>();
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)
      square = square + load(grad + i) * load(grad + i);
    return first_lane<T>(square_root(broadcast(sum<T>(square))));
  }

  void clip(T* grad) const {
    const T limit = static_cast<T>(training_.clip);
    const T factor = limit / (length(grad) + T(1e-6));
    if (!(factor < T(1))) return;
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)
      store(grad + i, load(grad + i) * broadcast(factor));
  }

  V decayed(const V& g, const V& w) const {
    return training_.weight_decay > 0 ? g + broadcast(static_cast<T>(training_.weight_decay)) * w
                                      : g;
  }

  void descend(T* theta, const T* grad, T lr) {
    const V momentum = broadcast(static_cast<T>(training_.momentum));
    for (int64_t i = 0; i < layout_.padded_size; i += LANES) {
      const V w = load(theta + i), rate = load(rate_ + i);
      const V g = decayed(load(grad + i), w), m = momentum * load(first + i) + g;
      const V along = training_.nesterov ? g + momentum * m : m;
      store(first + i, m);
      store(theta + i, select(rate == zero<T>(), w, w - broadcast(lr) * rate * along));
    }
  }

  /// Moments that fade away would end as denormals, a hundred times slower: stop at 0 before.
  static V negligible_is_zero(const V& m) {
    const V negligible = broadcast(static_cast<T>(sizeof(T) == 4 ? 1e-35 : 1e-290));
    return select(absolute<T>(m) < negligible, zero<T>(), m);
  }

  /// Adam and AdamW, on the entries from `begin` up to `end`, whole vectors.
  void adapt(T* theta, const T* grad, double lr, int64_t t, int64_t begin, int64_t end) {
    const double unbias1 = unbiased(0, training_.beta1, t),
                 unbias2 = unbiased(1, training_.beta2, t);
    const V step_size = broadcast(static_cast<T>(lr / unbias1));
    const V inverse_root = broadcast(static_cast<T>(1.0 / __builtin_sqrt(unbias2)));
    const V beta1 = broadcast(static_cast<T>(training_.beta1)),
            eps = broadcast(static_cast<T>(training_.eps));
    const V beta2 = broadcast(static_cast<T>(training_.beta2));
    const V rest1 = broadcast(static_cast<T>(1.0 - training_.beta1));
    const V rest2 = broadcast(static_cast<T>(1.0 - training_.beta2));
    const bool decoupled = RULE_ROWS[training_.optimizer].decoupled_decay;
    const V shrink = broadcast(static_cast<T>(lr * training_.weight_decay));
    for (int64_t i = begin; i < end; i += LANES) {
      const V w = load(theta + i), rate = load(rate_ + i);
      const V g = decoupled ? load(grad + i) : decayed(load(grad + i), w);
      const V m = negligible_is_zero(beta1 * load(first + i) + rest1 * g);
      const V v = negligible_is_zero(beta2 * load(second + i) + rest2 * (g * g));
      store(first + i, m);
      store(second + i, v);
      const V kept = decoupled ? w - shrink * rate * w : w;
      const V moved = kept - step_size * rate * m / (square_root(v) * inverse_root + eps);
      store(theta + i, select(rate == zero<T>(), w, moved));
    }
  }

  /// Lion (Chen et al., "Symbolic discovery of optimization algorithms", 2023):
  /// w -= lr (sign(beta1 m + (1 - beta1) g) + decay w), then m = beta2 m + (1 - beta2) g.
  void follow_signs(T* theta, const T* grad, double lr) {
    const V beta1 = broadcast(static_cast<T>(training_.beta1)),
            beta2 = broadcast(static_cast<T>(training_.beta2));
    const V rest1 = broadcast(static_cast<T>(1.0 - training_.beta1)),
            rest2 = broadcast(static_cast<T>(1.0 - training_.beta2));
    const V size = broadcast(static_cast<T>(lr)),
            shrink = broadcast(static_cast<T>(lr * training_.weight_decay));
    const V one = broadcast(T(1)), nil = zero<T>();
    for (int64_t i = 0; i < layout_.padded_size; i += LANES) {
      const V w = load(theta + i), rate = load(rate_ + i), g = load(grad + i), m = load(first + i);
      const V along = beta1 * m + rest1 * g;
      const V sign = select(along > nil, one, select(along < nil, -one, nil));
      const V moved = (w - shrink * rate * w) - size * rate * sign;
      store(theta + i, select(rate == nil, w, moved));
      store(first + i, negligible_is_zero(beta2 * m + rest2 * g));
    }
  }

  /// Muon (newton_schulz.hpp) for the hidden matrices, AdamW for all the rest.
  void move_matrices(T* theta, T* grad, double lr, int64_t t) {
    for (int p = 0; p < PARAMETERS; ++p) {
      const Slice& s = layout_[p];
      if (is_hidden_matrix(p, s)) move_matrix(theta, grad, lr, s);
      else adapt(theta, grad, lr, t, s.padded, s.padded + s.extent);
    }
  }

  /// m = b m + (1 - b) g; w -= lr (decay w + 0.2 sqrt(longer side) O), with O the direction of
  /// (1 - b) g + b m, which is Nesterov's look ahead. The factor is `match_rms_adamw` of
  /// torch.optim: steps are as long as AdamW's are, so that one learning rate does for both.
  /// Second moments move nothing here. They are kept so that Adam can go on from any state.
  void move_matrix(T* theta, T* grad, double lr, const Slice& s) {
    const V momentum = broadcast(static_cast<T>(training_.muon_momentum)),
            rest = broadcast(static_cast<T>(1.0 - training_.muon_momentum));
    const V beta2 = broadcast(static_cast<T>(training_.beta2)),
            rest2 = broadcast(static_cast<T>(1.0 - training_.beta2));
    const int64_t end = s.padded + s.extent;
    for (int64_t i = s.padded; i < end; i += LANES) {
      const V g = load(grad + i), m = negligible_is_zero(momentum * load(first + i) + rest * g);
      store(first + i, m);
      store(second + i, negligible_is_zero(beta2 * load(second + i) + rest2 * (g * g)));
      store(grad + i, momentum * m + rest * g);
    }
    newton_schulz_.orthogonalize(grad, s);
    const auto longer = static_cast<double>(s.rows > s.cols ? s.rows : s.cols);
    const V size = broadcast(static_cast<T>(lr * 0.2 * __builtin_sqrt(longer))),
            shrink = broadcast(static_cast<T>(lr * training_.weight_decay));
    for (int64_t i = s.padded; i < end; i += LANES) {
      const V w = load(theta + i), rate = load(rate_ + i);
      const V moved = (w - shrink * rate * w) - size * rate * load(grad + i);
      store(theta + i, select(rate == zero<T>(), w, moved));
    }
  }

  // Frozen entries win over constraints: a row that holds one is left alone.
  void constrain(T* theta) const {
    if (training_.query_limit > 0) {
      const T limit = static_cast<T>(training_.query_limit);
      rescale_row(theta, layout_[QUERY], 0,
                  [limit](T size) { return size > limit ? limit / size : T(1); });
    }
    for (int p = 0; p < 2; ++p)
      for (int64_t row = 0; training_.unit_rows[p] && row < layout_[p].rows; ++row)
        rescale_row(theta, layout_[p], row,
                    [](T size) { return size > T(0) ? T(1) / size : T(1); });
  }

  template <class F> void rescale_row(T* theta, const Slice& s, int64_t row, F factor_of) const {
    T square = T(0);
    for (int64_t c = 0; c < s.cols; ++c) {
      if (rate_[s.at(row, c)] == T(0)) return;
      square += theta[s.at(row, c)] * theta[s.at(row, c)];
    }
    const T factor = factor_of(first_lane<T>(square_root(broadcast(square))));
    for (int64_t c = 0; c < s.cols; ++c) theta[s.at(row, c)] *= factor;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
