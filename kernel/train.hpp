// The training loop: resumable state in, curves and weights out.
#pragma once

#include "no_value.hpp"
#include "optimizer.hpp"
#include "pool.hpp"
#include "random.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

constexpr double DIVERGED_LOSS = 1e4;

template <class T> inline bool finite(T x) { return x - x == T(0); }

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
    stood_ = arena.take<T>(in.training.sam > 0 ? layout_.padded_size : 0);
    order_ = arena.take<uint32_t>(in.sets[TRAIN_SET].count);
    holds_ = arena.take<Hold>(in.hold_count);
    double* held = arena.take<double>(in.hold_count * in.shape.length);
    if (arena.measuring()) return;
    for (hold_count_ = 0; hold_count_ < in.hold_count; held += in.shape.length) {
      const Hold& hold = in.holds[hold_count_];
      for (int64_t t = 0; t < in.shape.length; ++t) held[t] = hold.attention[t];
      holds_[hold_count_++] = {hold.from, hold.to, held};
    }
    const Examples& train = in.sets[TRAIN_SET];
    for (int64_t i = 0; i < train.count; ++i)
      train_.append(train.tokens + i * in.shape.length, train.targets[i]);
    optimizer_.start(in.frozen, in.slots_since);
    set_parameters(in.start);
    begin_epoch();
  }

  Progress progress() const { return progress_; }
  void read_parameters(T* packed) const { record_weights(packed, theta_); }
  /// Moments, epoch and shuffles stay: training goes on from the new weights.
  void set_parameters(const T* packed) { unpack(theta_, packed, layout_); }

  void read_state(T* out) const { record_state(out); }

  /// A state as read_state gave it, at the end of `epoch`, after `step` steps in all: a run whose
  /// batch was another before has done another number of them.
  void write_state(const T* in, int64_t epoch, int64_t step) {
    take_state(in, {epoch, 0, step, -1});
  }

  /// All that going on depends on, also in the middle of an epoch: a state, then the weights at the
  /// epoch's start; and what the epoch's curves are made from, as far as it is.
  void read_snapshot(T* rows, EpochSoFar& so_far) const {
    record_weights(record_state(rows), before_);
    so_far = so_far_;
  }
  void write_snapshot(const T* rows, const EpochSoFar& so_far, const Progress& progress) {
    take_state(rows, progress);
    unpack(before_, rows + 3 * layout_.packed_size, layout_);
    so_far_ = so_far;
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
  T* stood_;                    // the weights that a step of SAM begins with
  uint32_t* order_;
  Hold* holds_;
  int64_t hold_count_ = 0;
  Progress progress_ = {0, 0, 0, -1};
  EpochSoFar so_far_;

  int64_t steps_per_epoch() const { return (train_.count + training_.batch - 1) / training_.batch; }

  void take_state(const T* rows, const Progress& progress) {
    for (T* padded : {theta_, optimizer_.first, optimizer_.second}) {
      unpack(padded, rows, layout_);
      rows += layout_.packed_size;
    }
    progress_ = progress;
    begin_epoch();
  }

  void begin_epoch() {
    shuffle(order_, static_cast<uint32_t>(train_.count), seed_,
            static_cast<uint32_t>(progress_.epoch));
    shuffled_.reorder(train_, order_);
    for (int64_t i = 0; i < layout_.padded_size; ++i) before_[i] = theta_[i];
    for (int p = 0; p < PARAMETERS; ++p) so_far_.norm_sum[p] = so_far_.norm_max[p] = 0;
    so_far_.shortest_embedding = so_far_.shortest_sequence = __builtin_huge_val();
  }

  /// What is held in an epoch, counted by those that have ended when it begins.
  Ablation held_in(int64_t epoch) const {
    for (int64_t i = 0; i < hold_count_; ++i)
      if (holds_[i].from <= epoch && epoch < holds_[i].to)
        return {nullptr, nullptr, holds_[i].attention};
    return {};
  }

  /// The same for what is trained now; between epochs, for the one that has just ended.
  Ablation held_now() const {
    return held_in(progress_.step_in_epoch > 0 ? progress_.epoch : progress_.epoch - 1);
  }

  /// grad_ = gradient of the mean loss over sequences first..first+count-1; returns that loss.
  T gradient(const Sequences& data, int64_t first, int64_t count, const Ablation& held) {
    model_.prepare(theta_, held);
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
    const int64_t count = left < training_.batch ? left : training_.batch;
    const T loss = gradient(shuffled_, begin, count, held_in(progress_.epoch));
    const T embedding = model_.shortest_embedding, sequence = model_.shortest_sequence();
    note_shortest(sequence);
    T norm[PARAMETERS];
    if (gradients_ || to.step_curves) {
      slice_norms(norm, grad_);
      for (int p = 0; p < PARAMETERS; ++p) {
        const auto now = static_cast<double>(norm[p]);
        so_far_.norm_sum[p] += now;
        if (!(now <= so_far_.norm_max[p])) so_far_.norm_max[p] = now;
      }
    }
    if (training_.sam > 0) take_gradient_uphill(begin, count);
    optimizer_.update(theta_, grad_, progress_.step, training_.epochs * steps_per_epoch());
    ++progress_.step;
    ++progress_.step_in_epoch;
    if (to.step_curves) {
      T* row = to.step_curves;
      row[STEP_LOSS] = fixed_nan(loss);
      row[STEP_MIN_NORM_EMBEDDING] = fixed_nan(embedding);
      row[STEP_MIN_NORM_SEQUENCE] = fixed_nan(sequence);
      for (int p = 0; p < PARAMETERS; ++p) row[STEP_GRAD_NORM + p] = present(p, norm[p]);
      to.step_curves += STEP_CURVES;
    }
    if (to.step_weights) to.step_weights = record_weights(to.step_weights, theta_);
  }

  /// SAM: grad_ becomes the batch's gradient a step uphill along itself; theta_ stays. What is
  /// recorded of the step is from before, at theta_.
  void take_gradient_uphill(int64_t begin, int64_t count) {
    for (int64_t i = 0; i < layout_.padded_size; ++i) stood_[i] = theta_[i];
    optimizer_.climb(theta_, grad_);
    gradient(shuffled_, begin, count, held_in(progress_.epoch));
    for (int64_t i = 0; i < layout_.padded_size; ++i) theta_[i] = stood_[i];
  }

  void note_shortest(double sequence) {
    const auto embedding = static_cast<double>(model_.shortest_embedding);
    if (embedding < so_far_.shortest_embedding) so_far_.shortest_embedding = embedding;
    if (sequence < so_far_.shortest_sequence) so_far_.shortest_sequence = sequence;
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

  T present(int p, T value) const { return layout_[p].present ? fixed_nan(value) : no_value<T>(); }

  T* record_weights(T* row, const T* padded) const {
    pack(row, padded, layout_);
    fix_nans(row, layout_.packed_size);
    return row + layout_.packed_size;
  }

  T* record_state(T* rows) const {
    for (const T* padded : {theta_, optimizer_.first, optimizer_.second})
      rows = record_weights(rows, padded);
    return rows;
  }

  void record_epoch(Recorder<T>& to) {
    T row[CURVES];
    evaluate(row);
    bool sound = row[TRAIN_LOSS] <= static_cast<T>(DIVERGED_LOSS);
    for (int64_t i = 0; i < layout_.padded_size; ++i) sound = sound && finite(theta_[i]);
    if (!sound) progress_.diverged = progress_.epoch;
    if (to.curves) {
      for (int i = 0; i < CURVES; ++i) to.curves[i] = fixed_nan(row[i]);
      to.curves += CURVES;
    }
    if (to.weights && progress_.epoch % to.weights_every == 0)
      to.weights = record_weights(to.weights, theta_);
    if (to.states && progress_.epoch % to.state_every == 0) to.states = record_state(to.states);
  }

  void evaluate(T* row) {
    const Ablation held = held_now();
    model_.prepare(theta_, held);
    T shortest{};  // always set below, which GCC 12 does not see
    const Scores<T> scores = pool_.evaluate(model_, &shortest);
    note_shortest(shortest);
    for (int set = 0; set < SETS; ++set) {
      row[TRAIN_LOSS + set] = scores.loss[set];
      row[TRAIN_ACCURACY + set] = scores.accuracy[set];
    }
    row[MIN_NORM_EMBEDDING] = static_cast<T>(so_far_.shortest_embedding);
    row[MIN_NORM_SEQUENCE] = static_cast<T>(so_far_.shortest_sequence);
    T full[PARAMETERS], update[PARAMETERS], size[PARAMETERS], length[PARAMETERS];
    if (full_) {
      gradient(train_, 0, train_.count, held);
      slice_norms(full, grad_);
    }
    for (int64_t i = 0; i < layout_.padded_size; i += LANES)  // grad_ is free: the epoch's movement
      store(grad_ + i, load(theta_ + i) - load(before_ + i));
    slice_norms(update, grad_);
    slice_norms(size, before_);
    slice_norms(length, theta_);
    const bool stepped = progress_.step > 0, norms = stepped && gradients_;
    const T none = no_value<T>();
    for (int p = 0; p < PARAMETERS; ++p) {
      const double steps = static_cast<double>(steps_per_epoch());
      row[GRAD_NORM + p] = norms ? present(p, static_cast<T>(so_far_.norm_sum[p] / steps)) : none;
      row[GRAD_NORM_MAX + p] = norms ? present(p, static_cast<T>(so_far_.norm_max[p])) : none;
      row[UPDATE_RATIO + p] = stepped ? present(p, update[p] / size[p]) : none;
      row[FULL_GRAD_NORM + p] = full_ ? present(p, full[p]) : none;
      row[WEIGHT_NORM + p] = present(p, length[p]);
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
