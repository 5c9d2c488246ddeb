// The circuit of a model: what its sequence embeddings keep and what they forget, through which
// positions, and what its predictions owe to each part. Formulas: variance.hpp, halves.hpp,
// clusters.hpp.
//
// In double precision whatever the weights' own, T, is: these are properties of the weights. Only
// the predictions of changed models, which take most of the time, are computed in T.
#pragma once

#include "clusters.hpp"
#include "halves.hpp"
#include "no_value.hpp"
#include "predictor.hpp"
#include "task.hpp"
#include "variance.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template <class T> class Circuit {
 public:
  static constexpr int64_t CLUSTERED = 4096;   // points at most: their tree takes the square of it
  static constexpr int64_t CHANGED = 1 << 16;  // sequences at most, for each change of the model

  Circuit(const Shape& s, const Crossed& data, const CircuitMeasures& wanted, Arena& arena)
      : shape_(s),
        data_(data),
        out_(wanted),
        halves_(s, data, arena),
        predictor_(s, arena),
        changed_predictor_(s, arena),
        embedding_(s.dim, wanted.embedding ? data : Crossed{}, arena),
        logits_(s.embeddings, wanted.logits ? data : Crossed{}, arena),
        clusters_(wanted.clusters ? points(part()) : 0, s.dim, arena) {
    wide_ = arena.take<double>(predictor_.layout().packed_size);
    point_ = arena.take<double>(s.dim > s.embeddings ? s.dim : s.embeddings);
    points_ = arena.take<double>(s.vocab * s.dim);
    sums_ = arena.take<double>(s.vocab * (s.dim + 1));
    tops_ = arena.take<double>(s.vocab);
    changed_ = arena.take<int32_t>(s.length);
    target_ = arena.take<int32_t>(data.prefix_count);
    prediction_ = arena.take<int32_t>(sequences());
    votes_ = arena.take<int64_t>(s.embeddings);
    hits_ = arena.take<int64_t>(s.hidden);
    weighted_ = arena.take<double>(data.prefix_count + data.suffix_count);
  }

  void measure(const T* packed, Meter& meter) {
    meter_ = &meter;
    meter.expect((out_.accuracy ? sequences() : 0) +
                 (out_.without_attention ? changes() * changed_sequences() : 0));
    for (int64_t i = 0; i < predictor_.layout().packed_size; ++i) wide_[i] = packed[i];
    predictor_.prepare(wide_);
    changed_predictor_.prepare(packed);
    halves_.prepare(predictor_.theta(), predictor_.layout());
    if (out_.embedding) spread_of_embeddings();
    if (out_.attention) attention();
    if (out_.value_spread) spread_of_values();
    if (out_.redraw) redraw();
    if (out_.swap) swap();
    if (out_.clusters) cluster();
    target();
    if (out_.accuracy) predict();
    if (out_.permutation_survival) survive();
    if (out_.without_attention) change();
  }

 private:
  Shape shape_;
  Crossed data_;
  CircuitMeasures out_;
  Halves halves_;
  Predictor<double, true> predictor_;
  Predictor<T, false> changed_predictor_;
  NestedVariance embedding_, logits_;
  Clusters clusters_;
  double* wide_;                              // the weights, packed
  double *point_, *points_, *sums_, *tops_;   // of one sequence; of one with every token in turn
  int32_t *changed_, *target_, *prediction_;  // prediction_ [prefixes, suffixes]
  int64_t *votes_, *hits_;
  double* weighted_;
  Meter* meter_ = nullptr;

  int64_t sequences() const { return data_.prefix_count * data_.suffix_count; }
  /// A sum over sequences becomes their mean; divided, so that all of them give exactly 1.
  double per_sequence(double total) const { return total / static_cast<double>(sequences()); }

  void spread_of_embeddings() {
    for (int64_t i = 0; i < data_.prefix_count; ++i)
      for (int64_t j = 0; j < data_.suffix_count; ++j) {
        halves_.embed(point_, i, j);
        embedding_.add(i, j, point_);
      }
    embedding_.finish(out_.embedding);
  }

  // ---- attention and values ---------------------------------------------------------------------
  /// a_t is the weight at t times a factor of the pair: summed over the other half first.
  void attention() {
    double *of_prefix = weighted_, *of_suffix = weighted_ + data_.prefix_count;
    for (int64_t i = 0; i < data_.prefix_count + data_.suffix_count; ++i) weighted_[i] = 0;
    for (int64_t i = 0; i < data_.prefix_count; ++i)
      for (int64_t j = 0; j < data_.suffix_count; ++j) {
        const Halves::Joint joint = halves_.embed(point_, i, j);
        of_prefix[i] += joint.one;
        of_suffix[j] += joint.other;
      }
    for (int64_t t = 0; t < shape_.length; ++t) out_.attention[t] = 0;
    attention_of(halves_.prefix, of_prefix);
    attention_of(halves_.suffix, of_suffix);
  }

  void attention_of(const Half& half, const double* factor) {
    for (int64_t i = 0; i < half.count; ++i)
      for (int64_t k = 0; k < half.width; ++k) {
        const int64_t t = half.positions[k];
        const double w = halves_.weight(half.tokens[i * half.width + k], t, half.top[i]);
        out_.attention[t] += per_sequence(w * factor[i]);
      }
  }

  void spread_of_values() {
    double size = 0;
    const double share = 1 / static_cast<double>(shape_.vocab);
    for (int64_t t = 0; t < shape_.length; ++t) {
      double spread = 0;
      for (int64_t a = 0; a < shape_.vocab; ++a)
        for (int64_t c = 0; c < shape_.dim; ++c) {
          const double v = halves_.value(a, t, c), off = v - halves_.mean_value(t, c);
          spread += off * off * share;
          size += v * v * share / static_cast<double>(shape_.length);
        }
      out_.value_spread[t] = __builtin_sqrt(spread);
    }
    *out_.value_size = __builtin_sqrt(size);
  }

  // ---- which positions matter -------------------------------------------------------------------
  void redraw() {
    for (int64_t k = 0; k < halves_.prefix.width; ++k) redraw(halves_.prefix, k, halves_.suffix);
    for (int64_t k = 0; k < halves_.suffix.width; ++k) redraw(halves_.suffix, k, halves_.prefix);
  }

  /// E Var(xi | all tokens but the k-th of a half). Over all sequences it is enough to look at
  /// those with token 0 there: the others have the same p neighbours.
  void redraw(const Half& half, int64_t k, const Half& others) {
    double total = 0;
    int64_t seen = 0;
    const int64_t step = stride(shape_.vocab * shape_.length);  // in the half that has more
    const int64_t own_step = half.count >= others.count ? step : 1, other_step = step / own_step;
    for (int64_t i = 0; i < half.count; i += own_step) {
      const int32_t* tokens = half.tokens + i * half.width;
      if (!data_.sampled && tokens[k] != 0) continue;
      copy(tokens, half.width);
      for (int32_t a = 0; a < shape_.vocab; ++a) {
        changed_[k] = a;
        tops_[a] = halves_.sum_up(sums_ + a * (shape_.dim + 1), half, changed_);
      }
      for (int64_t j = 0; j < others.count; j += other_step, ++seen)
        total += spread_over_tokens(others, j);
    }
    out_.redraw[half.positions[k]] = total / static_cast<double>(seen);
  }

  /// The variance of xi over the tokens whose sums are in `sums_`, with the other half j.
  double spread_over_tokens(const Half& others, int64_t j) {
    const int64_t d = shape_.dim;
    for (int64_t c = 0; c < d; ++c) point_[c] = 0;
    for (int64_t a = 0; a < shape_.vocab; ++a) {
      halves_.embed(points_ + a * d, sums_ + a * (d + 1), tops_[a], others, j);
      for (int64_t c = 0; c < d; ++c) point_[c] += points_[a * d + c];
    }
    double spread = 0;
    for (int64_t c = 0; c < d; ++c) point_[c] /= static_cast<double>(shape_.vocab);
    for (int64_t a = 0; a < shape_.vocab; ++a)
      for (int64_t c = 0; c < d; ++c) {
        const double off = points_[a * d + c] - point_[c];
        spread += off * off;
      }
    return spread / static_cast<double>(shape_.vocab);
  }

  void swap() {
    const int64_t k = data_.relevant;
    for (int64_t t = 0; t < k; ++t) {
      out_.swap[t * k + t] = 0;
      for (int64_t u = t + 1; u < k; ++u)
        out_.swap[t * k + u] = out_.swap[u * k + t] =
            exchangeable(data_.task, t, u) ? spread_over_order(t, u) : no_value<double>();
    }
  }

  /// E Var(xi | all but the order of the t-th and the u-th relevant token).
  double spread_over_order(int64_t t, int64_t u) {
    const Half& prefix = halves_.prefix;
    const int64_t step = stride(data_.relevant * data_.relevant);
    double total = 0;
    int64_t seen = 0;
    for (int64_t i = 0; i < prefix.count; i += step) {
      const int32_t* tokens = prefix.tokens + i * prefix.width;
      seen += data_.suffix_count;
      if (tokens[t] == tokens[u]) continue;
      copy(tokens, prefix.width);
      changed_[t] = tokens[u];
      changed_[u] = tokens[t];
      tops_[0] = halves_.sum_up(sums_, prefix, changed_);
      for (int64_t j = 0; j < data_.suffix_count; ++j) {
        halves_.embed(points_, sums_, tops_[0], halves_.suffix, j);
        halves_.embed(point_, i, j);
        for (int64_t c = 0; c < shape_.dim; ++c)
          total += (points_[c] - point_[c]) * (points_[c] - point_[c]) / 4;
      }
    }
    return total / static_cast<double>(seen);
  }

  /// Every so manieth row of a sample is enough where each costs `work`.
  int64_t stride(int64_t work) const {
    return data_.sampled ? 1 + sequences() * work / (int64_t{1} << 25) : 1;
  }

  void copy(const int32_t* tokens, int64_t count) {
    for (int64_t l = 0; l < count; ++l) changed_[l] = tokens[l];
  }

  // ---- clusters ---------------------------------------------------------------------------------
  /// The tree is made of every so manieth group, with so many of its prefixes, and suffixes.
  struct Part {
    int64_t step, orderings, suffixes;
  };

  /// As many as fit; two points of a group, at least, show whether it falls apart.
  Part part() const {
    Part p = {1, 1, data_.suffix_count};
    for (int64_t m = 0; m < data_.group_count; ++m)
      p.orderings = group_size(m) > p.orderings ? group_size(m) : p.orderings;
    while (points(p) > CLUSTERED) {
      int64_t& more = p.suffixes >= p.orderings ? p.suffixes : p.orderings;
      if (p.suffixes * p.orderings > 2) more = (more + 1) / 2;
      else ++p.step;
    }
    return p;
  }

  int64_t group_size(int64_t m) const { return data_.groups[m + 1] - data_.groups[m]; }
  int64_t points(const Part& p) const {
    int64_t count = 0;
    for (int64_t m = 0; m < data_.group_count; m += p.step)
      count += (group_size(m) < p.orderings ? group_size(m) : p.orderings) * p.suffixes;
    return count;
  }

  static int64_t common_divisor(int64_t a, int64_t b) {
    for (int64_t rest; b != 0; a = b, b = rest) rest = a % b;
    return a;
  }

  /// The i-th of some places among `count`, spread so that every token varies.
  static int64_t scattered(int64_t i, int64_t count) {
    int64_t step = static_cast<int64_t>(0.618 * static_cast<double>(count)) | 1;
    while (common_divisor(step, count) != 1) ++step;
    return i * step % count;
  }

  void cluster() {
    const Part p = part();
    int64_t groups = 0;
    clusters_.clear();
    for (int64_t m = 0; m < data_.group_count; m += p.step, ++groups)
      for (int64_t o = 0; o < group_size(m) && o < p.orderings; ++o)
        for (int64_t j = 0; j < p.suffixes; ++j) {
          halves_.embed(point_, data_.groups[m] + scattered(o, group_size(m)),
                        scattered(j, data_.suffix_count));
          clusters_.add(point_);
        }
    // Above half the points most clusters would be single points, unless groups are.
    const int64_t half = points(p) / 2;
    clusters_.count(out_.clusters, half > groups ? half : groups);
    out_.clusters[3] = static_cast<double>(groups);
  }

  // ---- predictions ------------------------------------------------------------------------------
  /// Sequences `first` and on, up to a tile of them, of those with `suffixes` of the suffixes,
  /// through to the logits; returns how many.
  template <class P> int64_t run(P& predictor, int64_t first, int64_t suffixes) {
    const int64_t left = data_.prefix_count * suffixes - first;
    const int64_t count = left < TILE_SEQUENCES ? left : TILE_SEQUENCES;
    const int vectors = count > LANES ? 2 : 1;
    int64_t i = first / suffixes, j = first % suffixes;
    for (int64_t l = 0; l < vectors * LANES; ++l) {
      if (l < count) halves_.embed(point_, i, suffix(j, suffixes));  // places to spare repeat it
      predictor.take(l, point_);
      if (++j == suffixes) {
        j = 0;
        ++i;
      }
    }
    predictor.run(vectors);
    return count;
  }

  /// The j-th of so many suffixes.
  int64_t suffix(int64_t j, int64_t suffixes) const {
    return suffixes == data_.suffix_count ? j : scattered(j, data_.suffix_count);
  }

  /// The right class of every prefix; irrelevant tokens do not matter to it.
  void target() {
    const int64_t k = data_.relevant;
    for (int64_t i = 0; i < data_.prefix_count; ++i)
      target_[i] = target_of(data_.task, data_.prefixes + i * k, k, shape_.vocab);
  }

  void predict() {
    int64_t right = 0;
    for (int64_t j = 0; j < shape_.hidden; ++j) hits_[j] = 0;
    for (int64_t first = 0; first < sequences(); first += TILE_SEQUENCES) {
      const int64_t count = run(predictor_, first, data_.suffix_count);
      meter_->add(count);
      for (int64_t l = 0; l < count; ++l) {
        const int64_t i = (first + l) / data_.suffix_count, j = (first + l) % data_.suffix_count;
        prediction_[first + l] = predictor_.winner(l);
        right += prediction_[first + l] == target_[i];
        if (out_.logits) add_logits(i, j, l);
        for (int64_t unit = 0; out_.without_unit && unit < shape_.hidden; ++unit)
          hits_[unit] += predictor_.winner_without(unit, l) == target_[i];
      }
    }
    *out_.accuracy = per_sequence(static_cast<double>(right));
    for (int64_t j = 0; out_.without_unit && j < shape_.hidden; ++j)
      out_.without_unit[j] = per_sequence(static_cast<double>(hits_[j]));
    if (out_.logits) logits_.finish(out_.logits);
  }

  /// Centred over classes: what they have in common decides nothing.
  void add_logits(int64_t i, int64_t j, int64_t l) {
    double mean = 0;
    for (int64_t r = 0; r < shape_.embeddings; ++r) mean += predictor_.logit(r, l);
    mean /= static_cast<double>(shape_.embeddings);
    for (int64_t r = 0; r < shape_.embeddings; ++r) point_[r] = predictor_.logit(r, l) - mean;
    logits_.add(i, j, point_);
  }

  /// How often two sequences whose relevant tokens are of one group, or that differ by a redraw of
  /// the irrelevant ones, get the same prediction. The two are drawn independently.
  void survive() {
    double permuted = 0, redrawn = 0;
    const int64_t B = data_.suffix_count;
    for (int64_t m = 0; m < data_.group_count; ++m) {
      const int64_t first = data_.groups[m], size = data_.groups[m + 1] - first;
      for (int64_t j = 0; j < B; ++j)
        permuted += agreement(prediction_ + first * B + j, B, size) * static_cast<double>(size);
    }
    for (int64_t i = 0; i < data_.prefix_count; ++i)
      redrawn += agreement(prediction_ + i * B, 1, B) * static_cast<double>(B);
    *out_.permutation_survival = per_sequence(permuted);
    *out_.suffix_survival = per_sequence(redrawn);
  }

  /// The chance that two of these predictions agree; of a sample, two different ones.
  double agreement(const int32_t* prediction, int64_t step, int64_t count) {
    for (int64_t r = 0; r < shape_.embeddings; ++r) votes_[r] = 0;
    for (int64_t i = 0; i < count; ++i) ++votes_[prediction[i * step]];
    const int64_t self = data_.sampled && count > 1 ? 1 : 0;
    int64_t pairs = 0;
    for (int64_t r = 0; r < shape_.embeddings; ++r) pairs += votes_[r] * (votes_[r] - self);
    return static_cast<double>(pairs) / static_cast<double>(count * (count - self));
  }

  // ---- causes: the model with one position changed ----------------------------------------------
  /// Without the attention of each position, if there are others, and without its value.
  int64_t changes() const { return shape_.length > 1 ? 2 * shape_.length : 1; }
  int64_t changed_suffixes() const {
    const int64_t most = CHANGED / data_.prefix_count;
    return data_.suffix_count <= most ? data_.suffix_count : most > 0 ? most : 1;
  }
  int64_t changed_sequences() const { return data_.prefix_count * changed_suffixes(); }

  void change() {
    for (Half* half : {&halves_.prefix, &halves_.suffix}) {
      for (int64_t k = 0; k < half->width; ++k) {
        const int64_t t = half->positions[k];
        halves_.fill(*half, {t, -1});
        const double nothing_left = no_value<double>();
        out_.without_attention[t] = shape_.length > 1 ? accuracy() : nothing_left;
        halves_.fill(*half, {-1, t});
        out_.without_value[t] = accuracy();
      }
      halves_.fill(*half);
    }
  }

  /// Of the changed model, on as many sequences as tell it to within 0.002.
  double accuracy() {
    const int64_t suffixes = changed_suffixes(), all = changed_sequences();
    int64_t right = 0;
    for (int64_t first = 0; first < all; first += TILE_SEQUENCES) {
      const int64_t count = run(changed_predictor_, first, suffixes);
      meter_->add(count);
      int64_t i = first / suffixes, j = first % suffixes;
      for (int64_t l = 0; l < count; ++l) {
        right += changed_predictor_.winner(l) == target_[i];
        if (++j == suffixes) {
          j = 0;
          ++i;
        }
      }
    }
    return static_cast<double>(right) / static_cast<double>(all);
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
