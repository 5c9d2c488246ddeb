// Which sum a circuit keeps: the simplest kind that explains its sequence embeddings.
//
// Candidates are compared by their corrected share, 1 - (1 - share) values / values of the plain
// sum: a sum with twice as many values must leave half as much unexplained. The reason is the null:
// the values of any statistic cut a cloud of points into cells, and in two dimensions what is left
// within cells falls as one over their number even where the statistic has nothing to do with the
// points.
//
// And its values must be told apart (catalog.hpp): any statistic that is fine enough explains a
// finished circuit.
//
// The guided search tries all shifts without folds; then it goes from several starts, one shift or
// fold after the other, to where nothing explains more. Starts: the best shifts, and a guess from
// what each token does to the mean. Tokens to be kept apart are tried in the order of what that
// alone explains. The exhaustive search tries all shifts with all folds, and with them all choices
// of tokens kept apart; two sums are always guided.
#pragma once

#include "sum_guess.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

struct SumCandidate {
  SumTerms terms;
  SumFit fit;
  double corrected = 0;
};

class SumSearch {
 public:
  int64_t tried = 0;

  SumSearch(const SumPoints& points, int64_t most_values, Arena& arena)
      : fitter_(points, most_values, arena),
        guesser_(points, fitter_.folds, arena),
        best_{make(arena), make(arena), make(arena), make(arena), make(arena)},
        split_{make(arena), make(arena), make(arena)},
        guess_(make(arena)),
        work_(make(arena)),
        from_(make(arena)) {
    more_ = arena.take<uint64_t>(points.vocab);
    gain_ = arena.take<double>(length());
  }

  /// The kind of the sum, SUM_UNEXPLAINED if none reaches the threshold.
  int find(double threshold, bool exhaustive) {
    start();
    if (reached(SUM_PLAIN, threshold)) return SUM_PLAIN;
    all_shifts();
    if (reached(SUM_SIGNED, threshold)) return SUM_SIGNED;
    clear(work_.terms);
    if (exhaustive) enumerate();
    else folded();
    if (reached(SUM_FOLDED, threshold)) return SUM_FOLDED;
    for (int aparts = 1; aparts <= MOST_APART; ++aparts) {
      if (exhaustive) every_apart(aparts);
      else guided_apart(aparts);
      if (reached(SUM_SPLIT, threshold)) return SUM_SPLIT;
    }
    two_sums();
    return reached(SUM_TWO, threshold) ? SUM_TWO : SUM_UNEXPLAINED;
  }

  /// The best candidate of a kind; of SUM_UNEXPLAINED, of all kinds.
  const SumCandidate& best(int kind) const {
    if (kind != SUM_UNEXPLAINED) return best_[kind];
    int top = SUM_PLAIN;
    for (int other = 0; other < SUM_UNEXPLAINED; ++other)
      if (best_[other].corrected > best_[top].corrected) top = other;
    return best_[top];
  }

  const Folds& folds() const { return fitter_.folds; }
  bool tried_kind(int kind) const { return best_[kind].corrected > NEVER; }

  double corrected(const SumFit& fit) const {
    if (fit.values == 0) return NEVER;
    return 1 - (1 - fit.share) * (static_cast<double>(fit.values) / plain_values_);
  }

 private:
  static constexpr double NEVER = -1e300, BETTER = 1e-9;
  static constexpr int ROUNDS = 8;            // of going from one shift or fold to the next
  static constexpr double ALL_SHIFTS = 4096;  // tried one by one up to here
  static constexpr int64_t APART_TRIED = 6;   // positions, from each start
  static constexpr int SPLITS_KEPT = 3;       // to which a second token is added

  SumFitter fitter_;
  SumGuess guesser_;
  SumCandidate best_[SUM_UNEXPLAINED];
  SumCandidate split_[SPLITS_KEPT];  // the best with one token apart
  SumCandidate guess_, work_, from_;
  uint64_t* more_;  // [p]
  double* gain_;    // [length]
  double plain_values_ = 1;

  SumCandidate make(Arena& arena) const {
    const SumPoints& all = fitter_.points();
    return {SumTerms(all.half[0].width, all.half[1].width, all.vocab, arena), {}, NEVER};
  }
  int64_t relevant() const { return fitter_.points().half[0].width; }
  int64_t irrelevant() const { return fitter_.points().half[1].width; }
  int64_t vocab() const { return fitter_.points().vocab; }
  int64_t length() const { return relevant() + irrelevant(); }
  const SumHalf& half(int h) const { return fitter_.points().half[h]; }

  bool reached(int kind, double threshold) {
    if (best_[kind].corrected < threshold) return false;
    return fitter_.told_apart(best_[kind].terms) >= SUM_TOLD_APART;
  }

  // ---- candidates -------------------------------------------------------------------------------
  void copy(SumCandidate& to, const SumCandidate& from) const {
    to.terms.sums = from.terms.sums;
    to.terms.aparts = from.terms.aparts;
    for (int i = 0; i < MOST_APART; ++i) to.terms.apart[i] = from.terms.apart[i];
    for (int s = 0; s < MOST_SUMS; ++s) copy_sum(to.terms, s, from.terms, s);
    to.fit = from.fit;
    to.corrected = from.corrected;
  }
  void copy_sum(SumTerms& to, int t, const SumTerms& from, int s) const {
    for (int64_t l = 0; l < relevant(); ++l) to.shift[t][l] = from.shift[s][l];
    for (int64_t i = 0; i < irrelevant() * vocab(); ++i) to.fold[t][i] = from.fold[s][i];
  }
  void clear(SumTerms& terms) const {
    terms.sums = 1;
    terms.aparts = 0;
    for (int s = 0; s < MOST_SUMS; ++s) {
      for (int64_t l = 0; l < relevant(); ++l) terms.shift[s][l] = 0;
      for (int64_t i = 0; i < irrelevant() * vocab(); ++i) terms.fold[s][i] = 0;
    }
  }

  int kind_of(const SumTerms& terms) const {
    if (terms.sums > 1) return SUM_TWO;
    if (terms.aparts > 0) return SUM_SPLIT;
    for (int64_t i = 0; i < irrelevant() * vocab(); ++i)
      if (terms.fold[0][i] != 0) return SUM_FOLDED;
    for (int64_t l = 1; l < relevant(); ++l)
      if (terms.shift[0][l] != terms.shift[0][0]) return SUM_SIGNED;
    return SUM_PLAIN;
  }

  void judge(SumCandidate& candidate, const SumFit& fit) {
    ++tried;
    candidate.fit = fit;
    candidate.corrected = corrected(fit);
  }
  void consider(const SumCandidate& candidate) {
    SumCandidate& old = best_[kind_of(candidate.terms)];
    if (candidate.corrected > old.corrected + BETTER) copy(old, candidate);
    if (candidate.terms.sums == 1 && candidate.terms.aparts == 1) keep_split(candidate);
  }
  /// The best few with one token apart, one for each such token.
  void keep_split(const SumCandidate& candidate) {
    SumCandidate* least = &split_[0];
    for (SumCandidate& each : split_) {
      if (each.terms.apart[0] == candidate.terms.apart[0]) {
        least = &each;
        break;
      }
      if (each.corrected < least->corrected) least = &each;
    }
    if (candidate.corrected > least->corrected) copy(*least, candidate);
  }

  // ---- starts -----------------------------------------------------------------------------------
  void start() {
    tried = 0;
    for (SumCandidate& each : best_) forget(each);
    for (SumCandidate& each : split_) forget(each);
    clear(work_.terms);
    const SumFit plain = fitter_.fit(work_.terms);
    plain_values_ = plain.values > 0 ? static_cast<double>(plain.values) : 1;
    judge(work_, plain);
    consider(work_);
    guesser_.learn();
    clear(guess_.terms);
    guesser_.shifts(guess_.terms);
    guesser_.folds(guess_.terms);
  }
  void forget(SumCandidate& candidate) const {
    clear(candidate.terms);
    candidate.terms.apart[0] = -1;
    candidate.corrected = NEVER;
  }

  // ---- one shift or fold after the other --------------------------------------------------------
  /// From a candidate to where no other shift or fold of sum `s` explains more.
  void climb(SumCandidate& candidate, int s, bool folding = true) {
    judge(candidate, fitter_.fit(candidate.terms));
    for (int round = 0; round < ROUNDS; ++round) {
      const double before = candidate.corrected;
      climb_shifts(candidate, s);
      if (folding) climb_folds(candidate, s);
      if (candidate.corrected <= before) break;
    }
    consider(candidate);
  }

  void climb_shifts(SumCandidate& candidate, int s) {
    fitter_.gather(candidate.terms, SUFFIXES_HALF);
    fitter_.set_codes(candidate.terms, PREFIXES);
    for (int64_t l = 0; l < relevant(); ++l) {
      if (candidate.terms.is_apart(half(PREFIXES).positions[l])) continue;
      int32_t& shift = candidate.terms.shift[s][l];
      for (int32_t other = 0; other < vocab(); ++other) {
        if (other == shift) continue;
        for (int64_t x = 0; x < vocab(); ++x)
          more_[x] = fitter_.shift_code(s, x, other) - fitter_.shift_code(s, x, shift);
        if (accepted(candidate, SUFFIXES_HALF, l)) shift = other;
      }
    }
  }

  void climb_folds(SumCandidate& candidate, int s) {
    if (folds().count == 1) return;
    fitter_.gather(candidate.terms, PREFIXES);
    fitter_.set_codes(candidate.terms, SUFFIXES_HALF);
    for (int64_t l = 0; l < irrelevant(); ++l) {
      if (candidate.terms.is_apart(half(SUFFIXES_HALF).positions[l])) continue;
      for (int64_t x = 1; x < vocab(); ++x) {
        int32_t& fold = candidate.terms.fold[s][l * vocab() + x];
        for (int32_t other = 0; other < folds().count; ++other) {
          if (other == fold) continue;
          for (int64_t y = 0; y < vocab(); ++y) more_[y] = 0;
          more_[x] = fitter_.fold_code(s, other) - fitter_.fold_code(s, fold);
          if (accepted(candidate, PREFIXES, l)) fold = other;
        }
      }
    }
  }

  bool accepted(SumCandidate& candidate, int gathered, int64_t l) {
    const SumFit fit = fitter_.fit_changed(gathered, l, more_);
    ++tried;
    if (corrected(fit) <= candidate.corrected + BETTER) return false;
    candidate.fit = fit;
    candidate.corrected = corrected(fit);
    fitter_.accept(gathered);
    return true;
  }

  // ---- kinds ------------------------------------------------------------------------------------
  void all_shifts() {
    double choices = 1;
    for (int64_t l = 1; l < relevant(); ++l) choices *= static_cast<double>(vocab());
    if (choices <= ALL_SHIFTS) {
      clear(work_.terms);
      enumerate_shifts();
      return;
    }
    for (const SumCandidate* from : {&best_[SUM_PLAIN], &guess_}) {
      copy(work_, *from);
      for (int64_t i = 0; i < irrelevant() * vocab(); ++i) work_.terms.fold[0][i] = 0;
      climb(work_, 0, false);
    }
  }

  void folded() {
    if (folds().count == 1 || irrelevant() == 0) return;
    for (const SumCandidate* from : {&best_[SUM_PLAIN], &best_[SUM_SIGNED], &guess_}) {
      if (from != &guess_ && from->corrected == NEVER) continue;
      copy(work_, *from);
      climb(work_, 0);
      if (from == &guess_) continue;
      copy(work_, *from);
      guesser_.folds(work_.terms);
      climb(work_, 0);
    }
  }

  void guided_apart(int aparts) {
    if (length() < aparts) return;
    if (aparts > 1) {
      for (const SumCandidate& one : split_)
        if (one.corrected > NEVER) apart_from(one);
      return;
    }
    apart_from(best_[simplest()]);
    apart_from(guess_);
  }

  /// The best kind of a single sum with nothing apart.
  int simplest() const {
    int top = SUM_PLAIN;
    for (int kind : {SUM_SIGNED, SUM_FOLDED})
      if (best_[kind].corrected > best_[top].corrected) top = kind;
    return top;
  }

  /// Keeps one more token apart: those that explain most by themselves are followed further.
  void apart_from(const SumCandidate& from) {
    copy(from_, from);  // which may be replaced meanwhile
    for (int64_t t = 0; t < length(); ++t) {
      gain_[t] = NEVER;
      if (from_.terms.is_apart(t)) continue;
      copy(work_, from_);
      work_.terms.set_apart(t);
      judge(work_, fitter_.fit(work_.terms));
      gain_[t] = work_.corrected;
    }
    for (int64_t i = 0; i < APART_TRIED; ++i) {
      int64_t t = 0;
      for (int64_t u = 1; u < length(); ++u) t = gain_[u] > gain_[t] ? u : t;
      if (gain_[t] == NEVER) break;
      gain_[t] = NEVER;
      copy(work_, from_);
      work_.terms.set_apart(t);
      climb(work_, 0);
    }
  }

  /// A second sum beside the first, then the first again beside the second, and so on.
  void two_sums() {
    const SumCandidate* seconds[] = {&best_[SUM_PLAIN], &best_[SUM_SIGNED], &best_[SUM_FOLDED],
                                     &guess_};
    for (const SumCandidate* one : {&best_[simplest()], &best_[SUM_SIGNED]})
      for (const SumCandidate* other : seconds) {
        copy(work_, *one);
        work_.terms.sums = 2;
        copy_sum(work_.terms, 1, other->terms, 0);
        for (double before = NEVER;;) {
          climb(work_, 1);
          climb(work_, 0);
          if (work_.corrected <= before + BETTER) break;
          before = work_.corrected;
        }
      }
  }

  // ---- everything -------------------------------------------------------------------------------
  /// All shifts of the candidate in work; that of the first position does not matter.
  void enumerate_shifts() {
    fitter_.gather(work_.terms, SUFFIXES_HALF);
    for (int64_t l = 0; l < relevant(); ++l) work_.terms.shift[0][l] = 0;
    do {
      fitter_.set_codes(work_.terms, PREFIXES);
      judge(work_, fitter_.fit_rows(SUFFIXES_HALF));
      consider(work_);
    } while (next_shifts());
  }
  bool next_shifts() {
    bool first = true;
    for (int64_t l = 0; l < relevant(); ++l) {
      if (work_.terms.is_apart(half(PREFIXES).positions[l])) continue;
      if (first) {
        first = false;
        continue;
      }
      if (++work_.terms.shift[0][l] < vocab()) return true;
      work_.terms.shift[0][l] = 0;
    }
    return false;
  }

  /// All folds with all shifts, the tokens apart being given.
  void enumerate() {
    for (int64_t i = 0; i < irrelevant() * vocab(); ++i) work_.terms.fold[0][i] = 0;
    do enumerate_shifts();
    while (next_folds());
  }
  bool next_folds() {
    for (int64_t l = 0; l < irrelevant(); ++l) {
      if (work_.terms.is_apart(half(SUFFIXES_HALF).positions[l])) continue;
      for (int64_t x = 1; x < vocab(); ++x) {
        int32_t& fold = work_.terms.fold[0][l * vocab() + x];
        if (++fold < folds().count) return true;
        fold = 0;
      }
    }
    return false;
  }

  void every_apart(int aparts) {
    for (int64_t t = 0; t < length(); ++t)
      for (int64_t u = aparts > 1 ? t + 1 : length() - 1; u < length(); ++u) {
        clear(work_.terms);
        work_.terms.set_apart(t);
        if (aparts > 1) work_.terms.set_apart(u);
        enumerate();
      }
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
