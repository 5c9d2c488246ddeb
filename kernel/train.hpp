// The training loop: resumable state in, curves and weights out.
#pragma once

#include "optimizer.hpp"
#include "pool.hpp"
#include "random.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

constexpr double DIVERGED_LOSS = 1e4;

template <class T> inline bool finite(T x) { return x - x == T(0); }
/// NaN has many bit patterns, and hardware differs in which one it makes: record always the same.
template <class T> inline T canonical(T x) { return x == x ? x : T(__builtin_nan("")); }

template <class T> class Trainer {
 public:
  using V = Lanes<T>;

  Trainer(const TrainerInput<T>& in, Arena& arena)
      : training_(in.training),
        seed_(in.seed),
        gradients_(in.gradients),
        full_(in.full_gradients),
        model_(in.shape, arena),
        layout_(in.shape),
        optimizer_(in.shape, in.training, arena),
        train_(in.shape, in.sets[TRAIN_SET].count, arena),
        shuffled_(in.shape, in.sets[TRAIN_SET].count, arena),
        pool_(in.shape, in.sets, arena) {
    theta_ = arena.take<T>(layout_.padded_size);
    before_ = arena.take<T>(layout_.padded_size);
    grad_ = arena.take<T>(layout_.padded_size);
    order_ = arena.take<uint32_t>(in.sets[TRAIN_SET].count);
    if (arena.measuring()) return;
    const Examples& train = in.sets[TRAIN_SET];
    for (int64_t i = 0; i < train.count; ++i)
      train_.append(train.tokens + i * in.shape.length, train.targets[i]);
    optimizer_.start(in.frozen);
    set_parameters(in.start);
    begin_epoch();
  }

  Progress progress() const { return progress_; }
  void read_parameters(T* packed) const { pack(packed, theta_, layout_); }
  /// Moments, epoch and shuffles stay: training goes on from the new weights.
  void set_parameters(const T* packed) { unpack(theta_, packed, layout_); }

  void read_state(T* out) const {
    pack(out, theta_, layout_);
    pack(out + layout_.packed_size, optimizer_.first, layout_);
    pack(out + 2 * layout_.packed_size, optimizer_.second, layout_);
  }

  /// A state as read_state gave it, at the end of `epoch`, after `step` steps in all: a run whose
  /// batch was another before has done another number of them.
  void write_state(const T* in, int64_t epoch, int64_t step) {
    unpack(theta_, in, layout_);
    unpack(optimizer_.first, in + layout_.packed_size, layout_);
    unpack(optimizer_.second, in + 2 * layout_.packed_size, layout_);
    progress_ = {epoch, 0, step, -1};
    begin_epoch();
  }

  /// Records the present weights as an epoch of their own: row 0, before any step.
  void record_now(Recorder<T>& to) { record_epoch(to); }

  /// Goes on until `epochs` epochs have ended or `steps` steps are done, whichever comes first, or
  /// the run has diverged. An epoch begun by earlier steps counts when it ends.
  void advance(int64_t epochs, int64_t steps, Recorder<T>& to) {
    while (epochs > 0 && steps > 0 && progress_.diverged < 0) {
      if (progress_.step_in_epoch == 0) begin_epoch();
      step(to);
      --steps;
      if (progress_.step_in_epoch < steps_per_epoch()) continue;
      progress_.step_in_epoch = 0;
      ++progress_.epoch;
      --epochs;
      record_epoch(to);
    }
  }

 private:
  Training training_;
  uint64_t seed_;
  bool gradients_, full_;
  Model<T> model_;
  Layout layout_;
  Optimizer<T> optimizer_;
  Sequences train_, shuffled_;  // as given, and in the order of this epoch
  Pool<T> pool_;
  T *theta_, *before_, *grad_;  // before_: the weights at the epoch's start
  uint32_t* order_;
  Progress progress_ = {0, 0, 0, -1};
  double norm_sum_[PARAMETERS];
  T norm_max_[PARAMETERS], shortest_embedding_, shortest_sequence_;

  int64_t steps_per_epoch() const { return (train_.count + training_.batch - 1) / training_.batch; }

  void begin_epoch() {
    shuffle(order_, static_cast<uint32_t>(train_.count), seed_,
            static_cast<uint32_t>(progress_.epoch));
    shuffled_.reorder(train_, order_);
    for (int64_t i = 0; i < layout_.padded_size; ++i) before_[i] = theta_[i];
    for (int p = 0; p < PARAMETERS; ++p) norm_sum_[p] = norm_max_[p] = T(0);
    shortest_embedding_ = shortest_sequence_ = T(__builtin_huge_val());
  }

  /// grad_ = gradient of the mean loss over sequences first..first+count-1; returns that loss.
  T gradient(const Sequences& data, int64_t first, int64_t count) {
    model_.prepare(theta_);
    model_.clear(grad_);
    V loss = zero<T>();
    for (int64_t i = 0; i < count; i += TILE_SEQUENCES) {
      const int64_t left = count - i < TILE_SEQUENCES ? count - i : TILE_SEQUENCES;
      model_.template forward<true>(data, first + i, left, count);
      for (int m = 0; m < model_.tile.vectors; ++m)
        loss = loss + model_.tile.loss[m] * model_.tile.share[m];
      model_.backward(grad_);
    }
    model_.finish(grad_);
    return sum<T>(loss);
  }

  void step(Recorder<T>& to) {
    const int64_t begin = progress_.step_in_epoch * training_.batch, left = train_.count - begin;
    const T loss = gradient(shuffled_, begin, left < training_.batch ? left : training_.batch);
    note_shortest(model_.shortest_sequence());
    T norm[PARAMETERS];
    if (gradients_ || to.step_curves) {
      slice_norms(norm, grad_);
      for (int p = 0; p < PARAMETERS; ++p) {
        norm_sum_[p] += static_cast<double>(norm[p]);
        if (!(norm[p] <= norm_max_[p])) norm_max_[p] = norm[p];
      }
    }
    optimizer_.update(theta_, grad_, progress_.step, training_.epochs * steps_per_epoch());
    ++progress_.step;
    ++progress_.step_in_epoch;
    if (to.step_curves) {
      T* row = to.step_curves;
      row[STEP_LOSS] = canonical(loss);
      row[STEP_MIN_NORM_EMBEDDING] = canonical(model_.shortest_embedding);
      row[STEP_MIN_NORM_SEQUENCE] = canonical(model_.shortest_sequence());
      for (int p = 0; p < PARAMETERS; ++p) row[STEP_GRAD_NORM + p] = present(p, norm[p]);
      to.step_curves += STEP_CURVES;
    }
    if (to.step_weights) to.step_weights = record_weights(to.step_weights, theta_);
  }

  void note_shortest(T sequence) {
    if (model_.shortest_embedding < shortest_embedding_)
      shortest_embedding_ = model_.shortest_embedding;
    if (sequence < shortest_sequence_) shortest_sequence_ = sequence;
  }

  /// Euclidean norm of each parameter's slice.
  void slice_norms(T* norm, const T* of) const {
    static_assert(PARAMETERS <= LANES, "a lane for each parameter");
    V square[LANES];
    for (V& v : square) v = zero<T>();
    for (int p = 0; p < PARAMETERS; ++p)
      for (int64_t i = layout_[p].padded; i < layout_[p].padded + layout_[p].extent; i += LANES)
        square[p] = square[p] + load(of + i) * load(of + i);
    T root[LANES];
    const V roots = square_root(sums<T>(square));
    std::memcpy(root, &roots, sizeof roots);
    for (int p = 0; p < PARAMETERS; ++p) norm[p] = root[p];
  }

  T present(int p, T value) const {
    return layout_[p].present ? canonical(value) : T(__builtin_nan(""));
  }

  T* record_weights(T* row, const T* padded) const {
    pack(row, padded, layout_);
    for (int64_t i = 0; i < layout_.packed_size; ++i) row[i] = canonical(row[i]);
    return row + layout_.packed_size;
  }

  void record_epoch(Recorder<T>& to) {
    T row[CURVES];
    evaluate(row);
    bool sound = row[TRAIN_LOSS] <= static_cast<T>(DIVERGED_LOSS);
    for (int64_t i = 0; i < layout_.padded_size; ++i) sound = sound && finite(theta_[i]);
    if (!sound) progress_.diverged = progress_.epoch;
    if (to.curves) {
      for (int i = 0; i < CURVES; ++i) to.curves[i] = canonical(row[i]);
      to.curves += CURVES;
    }
    if (to.weights && progress_.epoch % to.weights_every == 0)
      to.weights = record_weights(to.weights, theta_);
    if (to.states && progress_.epoch % to.state_every == 0) {
      to.states = record_weights(to.states, theta_);
      to.states = record_weights(to.states, optimizer_.first);
      to.states = record_weights(to.states, optimizer_.second);
    }
  }

  void evaluate(T* row) {
    model_.prepare(theta_);
    T shortest{};  // always set below, which GCC 12 does not see
    const Scores<T> scores = pool_.evaluate(model_, &shortest);
    note_shortest(shortest);
    for (int set = 0; set < SETS; ++set) {
      row[TRAIN_LOSS + set] = scores.loss[set];
      row[TRAIN_ACCURACY + set] = scores.accuracy[set];
    }
    row[MIN_NORM_EMBEDDING] = shortest_embedding_;
    row[MIN_NORM_SEQUENCE] = shortest_sequence_;
    T full[PARAMETERS], update[PARAMETERS], size[PARAMETERS], length[PARAMETERS];
    if (full_) {
      gradient(train_, 0, train_.count);
      slice_norms(full, grad_);
    }
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)  // grad_ is free: the epoch's movement
      store(grad_ + i, load(theta_ + i) - load(before_ + i));
    slice_norms(update, grad_);
    slice_norms(size, before_);
    slice_norms(length, theta_);
    const bool stepped = progress_.step > 0, norms = stepped && gradients_;
    const T none = T(__builtin_nan(""));
    for (int p = 0; p < PARAMETERS; ++p) {
      const double steps = static_cast<double>(steps_per_epoch());
      row[GRAD_NORM + p] = norms ? present(p, static_cast<T>(norm_sum_[p] / steps)) : none;
      row[GRAD_NORM_MAX + p] = norms ? present(p, norm_max_[p]) : none;
      row[UPDATE_RATIO + p] = stepped ? present(p, update[p] / size[p]) : none;
      row[FULL_GRAD_NORM + p] = full_ ? present(p, full[p]) : none;
      row[WEIGHT_NORM + p] = present(p, length[p]);
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
