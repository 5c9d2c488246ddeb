// What is evaluated each epoch: the distinct sequences of train, test and unseen set, each once.
//
// At p=2, N=12 the two sets of 2048 hold about 2590 distinct sequences, so this saves over a third
// of the evaluation; each sequence counts as often as it occurs.
#pragma once

#include "model.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

template <class T> struct Scores {
  T loss[SETS], accuracy[SETS];
};  // NaN for an empty set

template <class T> class Pool {
 public:
  using V = Lanes<T>;

  Pool(const Shape& s, const Examples (&sets)[SETS], Arena& arena)
      : sequences_(s, capacity(sets), arena) {
    const int64_t most = capacity(sets);
    while (slots_ < 2 * most) slots_ *= 2;
    slot_ = arena.take<int32_t>(slots_);
    for (int set = 0; set < SETS; ++set) {
      size_[set] = sets[set].count;
      occurrences_[set] = arena.take<T>(round_up(most) + LANES);
    }
    if (!arena.measuring()) collect(s, sets, round_up(most) + LANES);
  }

  /// Also the shortest sequence embedding of train and test set.
  Scores<T> evaluate(Model<T>& model, T* shortest) const {
    double totals[2 * SETS] = {};
    V sum[LANES];
    const int64_t span = 8 * TILE_SEQUENCES;  // lanes are emptied into the double totals this often
    for (int64_t begin = 0, end = 0; begin < sequences_.count; begin = end) {
      for (V& v : sum) v = zero<T>();
      // What only the unseen set has comes last, in spans of its own: it changes no other number.
      const int64_t limit = begin < seen_ ? seen_ : sequences_.count;
      end = begin + span < limit ? begin + span : limit;
      if (begin == seen_) *shortest = model.shortest_sequence();
      for (int64_t i = begin; i < end; i += TILE_SEQUENCES) {
        const int64_t left = end - i < TILE_SEQUENCES ? end - i : TILE_SEQUENCES;
        model.template forward<false>(sequences_, i, left, 1);
        for (int m = 0; m < model.tile.vectors; ++m)
          for (int set = 0; set < SETS; ++set) {
            const V times = select(Model<T>::used(m, left),
                                   load_anywhere(occurrences_[set] + i + m * LANES), zero<T>());
            sum[set] = sum[set] + times * model.tile.loss[m];
            sum[SETS + set] = sum[SETS + set] + times * model.tile.correct[m];
          }
      }
      T total[LANES];
      const V v = sums<T>(sum);
      std::memcpy(total, &v, sizeof v);
      for (int k = 0; k < 2 * SETS; ++k) totals[k] += static_cast<double>(total[k]);
    }
    if (seen_ == sequences_.count) *shortest = model.shortest_sequence();
    Scores<T> scores;
    for (int set = 0; set < SETS; ++set) {  // an empty set gives 0/0
      scores.loss[set] = static_cast<T>(totals[set] / static_cast<double>(size_[set]));
      scores.accuracy[set] = static_cast<T>(totals[SETS + set] / static_cast<double>(size_[set]));
    }
    return scores;
  }

 private:
  Sequences sequences_;
  int64_t slots_ = 64, seen_ = 0, size_[SETS];  // seen_: distinct ones of train and test set
  int32_t* slot_;                               // open addressing: index into sequences_, or -1
  T* occurrences_[SETS];

  static int64_t capacity(const Examples (&sets)[SETS]) {
    int64_t n = 1;  // one place beyond, for the candidate that turns out to be known
    for (const Examples& set : sets) n += set.count;
    return n;
  }

  void collect(const Shape& s, const Examples (&sets)[SETS], int64_t padded) {
    for (int64_t i = 0; i < slots_; ++i) slot_[i] = -1;
    for (int set = 0; set < SETS; ++set)
      for (int64_t i = 0; i < padded; ++i) occurrences_[set][i] = T(0);
    for (int set = 0; set < SETS; ++set) {
      if (set == UNSEEN_SET) seen_ = sequences_.count;
      for (int64_t i = 0; i < sets[set].count; ++i)
        occurrences_[set][place(sets[set].tokens + i * s.length, sets[set].targets[i])] += T(1);
    }
  }

  int64_t place(const int32_t* tokens, int32_t target) {
    const int64_t candidate = sequences_.count;
    sequences_.append(tokens, target);
    uint64_t at = sequences_.hash(candidate);
    for (;; ++at) {
      int32_t& known = slot_[at & static_cast<uint64_t>(slots_ - 1)];
      if (known < 0) return known = static_cast<int32_t>(candidate);
      if (sequences_.target[known] == target && sequences_.same(known, candidate)) {
        --sequences_.count;
        return known;
      }
    }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
