// The kernel's trainer as a Python class.
#pragma once

#include "python_arrays.hpp"
#include "python_bind.hpp"

namespace dynascope {

/// The first epoch after which attention is held, the last, and the attention [length].
using PyHold = std::tuple<int64_t, int64_t, Array<double>>;

// ---- trainer ------------------------------------------------------------------------------------
template <class T> class PyTrainer {
 public:
  PyTrainer(const Shape& shape, const Training& training,
            const std::vector<std::pair<Array<int32_t>, Array<int32_t>>>& sets, uint64_t seed,
            const Array<T>& start, const Bytes& frozen, bool gradients, bool full_gradients,
            const std::vector<int64_t>& slots_since, const std::vector<PyHold>& given)
      : size_(packed_size(shape)), training_(training) {
    TrainerInput<T> in{shape,
                       training,
                       {},
                       seed,
                       weights(start, shape),
                       mask(frozen, size_, "frozen must have one entry per weight"),
                       gradients,
                       full_gradients,
                       {},
                       nullptr,
                       static_cast<int64_t>(given.size())};
    std::vector<Hold> holds;
    for (const auto& [from, to, held] : given) {
      expect(static_cast<int64_t>(held.size()) == shape.length,
             "attention has one entry per position");
      holds.push_back({from, to, held.data()});
    }
    in.holds = holds.data();
    must(check_holds(in.holds, in.hold_count, shape));
    expect(slots_since.size() == SLOTS, "a number of steps for each slot is needed");
    for (int i = 0; i < SLOTS; ++i) {
      in.slots_since[i] = slots_since[static_cast<size_t>(i)];
      must(whole("slots_since", static_cast<double>(in.slots_since[i]), 0, MAX_WHOLE));
    }
    expect(sets.size() == SETS, "three sets are needed");
    for (int i = 0; i < SETS; ++i) in.sets[i] = examples(sets[i].first, sets[i].second, shape);
    must(check_examples("train", in.sets[TRAIN_SET], shape, 1) && check_task_size(shape) &&
         check_batch(training, in.sets[TRAIN_SET].count));
    examples_ = in.sets[TRAIN_SET].count;
    nb::gil_scoped_release release;
    memory_ = allocate(engine<T>().trainer_bytes(in));
    trainer_ = engine<T>().make_trainer(in, memory_.get());
  }

  void advance(int64_t epochs, int64_t steps, std::optional<Out<T>> curves,
               std::optional<Out<T>> weights, int64_t weights_every, std::optional<Out<T>> states,
               int64_t state_every, std::optional<Out<T>> step_curves,
               std::optional<Out<T>> step_weights) {
    Recorder<T> to = recorder(epochs, curves, weights, weights_every, states, state_every);
    if (step_curves) to.step_curves = place(*step_curves, steps, STEP_CURVES);
    if (step_weights) to.step_weights = place(*step_weights, steps, size_);
    nb::gil_scoped_release release;
    engine<T>().advance(trainer_, epochs, steps, to);
  }

  void record_now(std::optional<Out<T>> curves, std::optional<Out<T>> weights,
                  std::optional<Out<T>> states) {
    Recorder<T> to;
    if (curves) to.curves = place(*curves, 1, CURVES);
    if (weights) to.weights = place(*weights, 1, size_);
    if (states) to.states = place(*states, 1, 3 * size_);
    to.weights_every = to.state_every = 1;
    nb::gil_scoped_release release;
    engine<T>().record_now(trainer_, to);
  }

  Progress progress() const { return engine<T>().progress(trainer_); }

  Numpy<T> parameters() const {
    auto out = make_array<T>({static_cast<size_t>(size_)});
    engine<T>().read_parameters(trainer_, out.data());
    return out;
  }
  void set_parameters(const Array<T>& packed) {
    expect(static_cast<int64_t>(packed.size()) == size_, "weights have the wrong size");
    engine<T>().set_parameters(trainer_, packed.data());
  }
  Numpy<T> state() const {
    auto out = make_array<T>({3, static_cast<size_t>(size_)});
    engine<T>().read_state(trainer_, out.data());
    return out;
  }
  void set_state(const Array<T>& state, int64_t epoch, int64_t step) {
    expect(static_cast<int64_t>(state.size()) == 3 * size_, "a state has three rows of weights");
    must(whole("epoch", static_cast<double>(epoch), 0, MAX_EPOCHS) &&
         whole("step", static_cast<double>(step), 0, MAX_WHOLE));
    nb::gil_scoped_release release;
    engine<T>().write_state(trainer_, state.data(), epoch, step);
  }

  /// For copies: rows [4, size], numbers of the epoch so far, and the four numbers of the progress.
  nb::tuple snapshot() const {
    auto rows = make_array<T>({4, static_cast<size_t>(size_)});
    auto numbers = make_array<double>({sizeof(EpochSoFar) / sizeof(double)});
    EpochSoFar so_far;
    engine<T>().read_snapshot(trainer_, rows.data(), so_far);
    std::memcpy(numbers.data(), &so_far, sizeof so_far);
    const Progress p = progress();
    return nb::make_tuple(rows, numbers,
                          nb::make_tuple(p.epoch, p.step_in_epoch, p.step, p.diverged));
  }
  void restore(const Array<T>& rows, const Array<double>& numbers,
               const std::vector<int64_t>& progress) {
    EpochSoFar so_far;
    expect(static_cast<int64_t>(rows.size()) == 4 * size_ &&
               numbers.size() * sizeof(double) == sizeof so_far && progress.size() == 4,
           "a snapshot of another trainer");
    std::memcpy(&so_far, numbers.data(), sizeof so_far);
    const Progress p = {progress[0], progress[1], progress[2], progress[3]};
    const int64_t last = (examples_ - 1) / training_.batch;
    must(whole("epoch", static_cast<double>(p.epoch), 0, MAX_EPOCHS) &&
         whole("step in epoch", static_cast<double>(p.step_in_epoch), 0, last) &&
         whole("step", static_cast<double>(p.step), 0, MAX_WHOLE));
    nb::gil_scoped_release release;
    engine<T>().write_snapshot(trainer_, rows.data(), so_far, p);
  }

 private:
  int64_t size_, examples_;
  Training training_;
  Memory memory_;
  void* trainer_;

  /// Where `rows` of this size fit; divided, since rows may be as many as a number can say.
  static T* place(const Out<T>& out, int64_t rows, int64_t size) {
    expect(static_cast<int64_t>(out.size()) / size >= rows, "an output array is too small");
    return out.data();
  }

  Recorder<T> recorder(int64_t epochs, std::optional<Out<T>>& curves,
                       std::optional<Out<T>>& weights, int64_t weights_every,
                       std::optional<Out<T>>& states, int64_t state_every) {
    const int64_t now = progress().epoch;
    auto kept = [&](int64_t every) { return (now + epochs) / every - now / every; };
    Recorder<T> to;
    if (curves) to.curves = place(*curves, epochs, CURVES);
    if (weights && weights_every > 0) {
      to.weights = place(*weights, kept(weights_every), size_);
      to.weights_every = weights_every;
    }
    if (states && state_every > 0) {
      to.states = place(*states, kept(state_every), 3 * size_);
      to.state_every = state_every;
    }
    return to;
  }
};

template <class T> void bind_trainer(Module& m, const char* name) {
  using Self = PyTrainer<T>;
  Class<Self>(m, name)
      .def(
          "__init__",
          [](Self* self, const Shape& shape, const Training& training, nb::list sets, uint64_t seed,
             const Array<T>& start, const Bytes& frozen, bool gradients, bool full_gradients,
             const std::vector<int64_t>& slots_since, nb::list holds) {
            std::vector<std::pair<Array<int32_t>, Array<int32_t>>> pairs;
            for (nb::handle set : sets)
              pairs.emplace_back(nb::cast<Array<int32_t>>(set[0]),
                                 nb::cast<Array<int32_t>>(set[1]));
            std::vector<PyHold> given;
            for (nb::handle hold : holds)
              given.emplace_back(nb::cast<int64_t>(hold[0]), nb::cast<int64_t>(hold[1]),
                                 nb::cast<Array<double>>(hold[2]));
            new (self) Self(shape, training, pairs, seed, start, frozen, gradients, full_gradients,
                            slots_since, given);
          },
          "shape"_a, "training"_a, "sets"_a, "seed"_a, "start"_a, "frozen"_a.none(), "gradients"_a,
          "full_gradients"_a, "slots_since"_a = std::vector<int64_t>(SLOTS, 0),
          "holds"_a = nb::list())
      .def("advance", &Self::advance, "epochs"_a, "steps"_a,
           "curves"_a.noconvert().none() = nb::none(), "weights"_a.noconvert().none() = nb::none(),
           "weights_every"_a = 0, "states"_a.noconvert().none() = nb::none(), "state_every"_a = 0,
           "step_curves"_a.noconvert().none() = nb::none(),
           "step_weights"_a.noconvert().none() = nb::none())
      .def("record_now", &Self::record_now, "curves"_a.noconvert().none() = nb::none(),
           "weights"_a.noconvert().none() = nb::none(), "states"_a.noconvert().none() = nb::none())
      .def_prop_ro("epoch", [](const Self& s) { return s.progress().epoch; })
      .def_prop_ro("step", [](const Self& s) { return s.progress().step; })
      .def_prop_ro("step_in_epoch", [](const Self& s) { return s.progress().step_in_epoch; })
      .def_prop_ro("diverged", [](const Self& s) { return s.progress().diverged; })
      .def("parameters", &Self::parameters)
      .def("set_parameters", &Self::set_parameters, "packed"_a)
      .def("state", &Self::state)
      .def("set_state", &Self::set_state, "state"_a, "epoch"_a, "step"_a)
      .def("snapshot", &Self::snapshot)
      .def("restore", &Self::restore, "rows"_a, "numbers"_a, "progress"_a);
}

}  // namespace dynascope
