// The model opened up: every intermediate value of given sequences, with values replaced on the
// way.
//
// The same operations in the same order as model.hpp, so without patches the logits have the same
// bits as in training (where every embedding row is a token of the task); only nothing is fused and
// everything is kept. Sixteen sequences at a time.
#pragma once

#include "model.hpp"
#include "no_value.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template <class T> class Inspector {
 public:
  using V = Lanes<T>;

  Inspector(const Shape& s, Arena& arena)
      : shape_(s), layout_(s), model_(s, arena), norm_(s), data_(s, LANES, arena) {
    theta_ = arena.take<T>(layout_.padded_size);
    for (V** place : {&embedding_, &normalized_, &values_})
      *place = arena.take<V>(s.length * s.dim);
    for (V** place : {&scores_, &attention_}) *place = arena.take<V>(s.length);
    for (V** place : {&xi_, &x_, &feed_, &psi_}) *place = arena.take<V>(s.dim);
    hidden_ = arena.take<V>(s.hidden);
    for (V** place : {&logits_, &probabilities_}) *place = arena.take<V>(s.embeddings);
  }

  void run(const Activations<T>& out, const Activations<T>& patch, const T* packed,
           const Examples& examples, const Ablation& ablation) {
    unpack(theta_, packed, layout_);
    model_.prepare(theta_, ablation);
    for (first_ = 0; first_ < examples.count; first_ += LANES) {
      count_ = examples.count - first_ < LANES ? examples.count - first_ : LANES;
      data_.clear();
      for (int64_t i = 0; i < count_; ++i)
        data_.append(examples.tokens + (first_ + i) * shape_.length, 0);
      model_.template forward<false>(data_, 0, count_, 1);  // for xi, with the table's sums
      attend(out, patch, ablation);
      transform(out, patch, ablation);
    }
  }

  /// The second half alone: `points` in the place of sequence embeddings, or of outputs.
  void decode(T* logits, const T* points, bool outputs, int64_t count, const T* packed) {
    Activations<T> out{}, patch{};
    out.logits = logits;
    (outputs ? patch.output : patch.sequence) = const_cast<T*>(points);
    unpack(theta_, packed, layout_);
    for (int64_t c = 0; c < shape_.dim; ++c) xi_[c] = zero<T>();
    for (first_ = 0; first_ < count; first_ += LANES) {
      count_ = count - first_ < LANES ? count - first_ : LANES;
      settle(nullptr, patch.sequence, xi_, shape_.dim);
      transform(out, patch, {});
    }
  }

 private:
  Shape shape_;
  Layout layout_;
  Model<T> model_;
  Normalizer<T> norm_;
  Sequences data_;
  T* theta_;
  V *embedding_, *normalized_, *values_;  // [length][dim]
  V *scores_, *attention_;                // [length]
  V *xi_, *x_, *feed_, *psi_, *hidden_, *logits_, *probabilities_;
  int64_t first_, count_;

  /// Writes `size` numbers per sequence to `out`, after taking those of `patch` instead; true if
  /// so.
  bool settle(T* out, const T* patch, V* v, int64_t size) const {
    for (int64_t i = 0; i < count_; ++i)
      for (int64_t k = 0; k < size; ++k) {
        T* lane = reinterpret_cast<T*>(v + k) + i;
        const int64_t at = (first_ + i) * size + k;
        if (patch) *lane = patch[at];
        if (out) out[at] = fixed_nan(*lane);
      }
    return patch != nullptr;
  }

  void attend(const Activations<T>& out, const Activations<T>& patch, const Ablation& ablation) {
    const int64_t d = shape_.dim, N = shape_.length;
    const T* q = theta_ + layout_[QUERY].padded;
    const V inverse_root = broadcast(static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(d))));
    for (int64_t t = 0; t < N; ++t)
      for (int64_t c = 0; c < d; ++c)
        embedding_[t * d + c] = model_.look_up(
            reinterpret_cast<const T*>(model_.table.embedding) + c * model_.table.width(), t, 0);
    bool patched = settle(out.embedding, patch.embedding, embedding_, N * d);
    for (int64_t t = 0; t < N; ++t) norm_.forward(normalized_ + t * d, embedding_ + t * d, 1);
    patched |= settle(out.normalized, patch.normalized, normalized_, N * d);
    for (int64_t t = 0; t < N; ++t) {
      scores_[t] = zero<T>();
      for (int64_t c = 0; c < d; ++c)
        scores_[t] = scores_[t] + broadcast(q[c]) * normalized_[t * d + c];
      scores_[t] = scores_[t] * inverse_root;
      multiply(values_ + t * d, 1, theta_ + layout_[VALUE].padded, d, 1, d, normalized_ + t * d, 1,
               d, 1);
    }
    patched |= settle(out.scores, patch.scores, scores_, N);
    if (ablation.attention)
      for (int64_t t = 0; t < N; ++t)
        attention_[t] = broadcast(static_cast<T>(ablation.attention[t]));
    else soften(attention_, scores_, N, ablation.positions);
    patched |= settle(out.attention, patch.attention, attention_, N);
    patched |= settle(out.values, patch.values, values_, N * d);
    for (int64_t c = 0; c < d; ++c) {
      V mixed = zero<T>();
      for (int64_t t = 0; t < N; ++t) mixed = mixed + attention_[t] * values_[t * d + c];
      xi_[c] = patched ? mixed : model_.tile.xi[c * TILE];
    }
    settle(out.sequence, patch.sequence, xi_, d);
  }

  void transform(const Activations<T>& out, const Activations<T>& patch, const Ablation& ablation) {
    const Feed<T> f(theta_, layout_, shape_, ablation.units);
    const int64_t d = shape_.dim;
    norm_.forward(x_, xi_, 1);
    settle(out.sequence_normalized, patch.sequence_normalized, x_, d);
    multiply(hidden_, 1, f.receptors, 1, f.step, f.hidden, x_, 1, d, 1, f.receptor_bias);
    for (int64_t j = 0; j < f.hidden; ++j)
      hidden_[j] = f.cut && f.cut[j] ? zero<T>() : activate(hidden_[j]);
    settle(out.hidden, patch.hidden, hidden_, f.hidden);
    multiply(feed_, 1, f.assemblers, f.step, 1, d, hidden_, 1, f.hidden, 1, f.assembler_bias);
    settle(out.feed_forward, patch.feed_forward, feed_, d);
    for (int64_t c = 0; c < d; ++c) psi_[c] = xi_[c] + feed_[c];
    settle(out.output, patch.output, psi_, d);
    multiply(logits_, 1, theta_ + layout_[TOKEN_EMBEDDING].padded, d, 1, shape_.embeddings, psi_, 1,
             d, 1);
    settle(out.logits, patch.logits, logits_, shape_.embeddings);
    if (!out.probabilities) return;
    soften(probabilities_, logits_, shape_.embeddings, nullptr);
    settle(out.probabilities, patch.probabilities, probabilities_, shape_.embeddings);
  }

  V activate(const V& x) const {
    return with_activation(shape_.activation, [&](auto act) { return act.template value<T>(x); });
  }

  /// Softmax over n values, those marked in `cut` left out.
  void soften(V* out, const V* in, int64_t n, const uint8_t* cut) const {
    V top = broadcast(-T(__builtin_huge_val())), total = zero<T>();
    for (int64_t i = 0; i < n; ++i)
      if (!(cut && cut[i])) top = larger(in[i], top);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = cut && cut[i] ? zero<T>() : exponential<T>(in[i] - top);
      total = total + out[i];
    }
    const V inverse = broadcast(T(1)) / total;
    for (int64_t i = 0; i < n; ++i) out[i] = out[i] * inverse;
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
