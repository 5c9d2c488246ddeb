// What wasm.cpp checks before it computes, and the sentences that say what is wrong.
//
// The same limits as the Python package has (config.py). Each check returns whether all is well.
#pragma once

#include <cstdint>
#include <cstring>

#include "spec.hpp"

namespace dynascope {

enum Outcome { FINE, BAD_INPUT, NO_MEMORY };

constexpr double WHOLE = 9007199254740991.0;  // 2^53 - 1: what JavaScript holds exactly
constexpr double MAX_EMBEDDINGS = 8192, MAX_EPOCHS = 1e7;
constexpr double MAX_TABLE = 1 << 23;  // token-position pairs, every embedding row a token
constexpr double MAX_ROWS = 1 << 24;   // sequences in a data set
constexpr double MAX_GRID = 4096;      // points along one side

/// Builds the text that `last_error` returns; each new one replaces the last.
class Sentence {
 public:
  static inline char text[256] = "";

  Sentence() { text[0] = 0; }
  Sentence& operator<<(const char* more) {
    while (*more && length_ + 1 < sizeof text) text[length_++] = *more++;
    text[length_] = 0;
    return *this;
  }
  Sentence& operator<<(int64_t number) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do digits[--at] = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) digits[--at] = '-';
    return *this << digits + at;
  }

 private:
  size_t length_ = 0;
};

inline bool finite(double x) { return x - x == 0; }

inline bool whole(const char* field, double value, double low, double high) {
  const bool number = finite(value) && value >= -WHOLE && value <= WHOLE &&
                      value == static_cast<double>(static_cast<int64_t>(value));
  if (number && value >= low && value <= high) return true;
  Sentence say;
  say << field << ": expected a whole number from " << static_cast<int64_t>(low) << " to "
      << static_cast<int64_t>(high);
  if (number) say << ", but got " << static_cast<int64_t>(value);
  say << ".";
  return false;
}

/// `low` itself is allowed unless `above`; `below` is not.
inline bool real(const char* field, double value, double low, bool above = false,
                 double below = __builtin_huge_val()) {
  if (finite(value) && (above ? value > low : value >= low) && value < below) return true;
  Sentence say;
  say << field << ": expected a finite number " << (above ? "above " : "of at least ");
  if (low == 0) say << "0";
  else say << "1e-6";
  if (finite(below)) say << " and below " << static_cast<int64_t>(below);
  say << ".";
  return false;
}

inline bool within(const char* field, const int32_t* values, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; ++i)
    if (values[i] < 0 || values[i] >= limit)
      return whole(field, values[i], 0, static_cast<double>(limit - 1));
  return true;
}

inline bool check_tokens(const char* field, const int32_t* tokens, int64_t count, const Shape& s) {
  return whole(field, static_cast<double>(count), 0, MAX_ROWS) &&
         within(field, tokens, count * s.length, s.vocab);
}

inline bool check_examples(const char* field, const Examples& e, const Shape& s, int64_t least) {
  return whole(field, static_cast<double>(e.count), static_cast<double>(least), MAX_ROWS) &&
         check_tokens(field, e.tokens, e.count, s) &&
         within(field, e.targets, e.count, s.embeddings);
}

inline bool check_cut(const uint8_t* positions, const Shape& s) {
  bool left = !positions;
  for (int64_t t = 0; !left && t < s.length; ++t) left = !positions[t];
  if (!left) Sentence() << "ablate.positions: expected one to be left, but all are cut.";
  return left;
}

inline bool check_sizes(int count, int length, int vocab) {
  return whole("count", count, 0, MAX_ROWS) && whole("length", length, 0, 1024) &&
         whole("vocab", vocab, 1, MAX_EMBEDDINGS);
}

template <class T> inline bool check_finite(const char* field, const T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!finite(static_cast<double>(values[i]))) {
      Sentence() << field << ": expected finite numbers, but number " << i << " is not.";
      return false;
    }
  return true;
}

inline bool require(bool holds, const char* sentence) {
  if (!holds) Sentence() << sentence;
  return holds;
}

inline bool check_crossed(const Crossed& c, const Shape& s) {
  const auto length = static_cast<double>(s.length);
  if (!whole("relevant", static_cast<double>(c.relevant), 0, length) ||
      !whole("prefixes", static_cast<double>(c.prefix_count), 1, MAX_ROWS) ||
      !whole("suffixes", static_cast<double>(c.suffix_count), 1, MAX_ROWS) ||
      !whole("groups", static_cast<double>(c.group_count), 1,
             static_cast<double>(c.prefix_count)) ||
      !within("positions", c.positions, c.relevant, s.length) ||
      !within("prefixes", c.prefixes, c.prefix_count * c.relevant, s.vocab) ||
      !within("suffixes", c.suffixes, c.suffix_count * (s.length - c.relevant), s.vocab))
    return false;
  bool rising = c.groups[0] == 0 && c.groups[c.group_count] == c.prefix_count, equal = true;
  for (int64_t m = 0; m < c.group_count; ++m) {
    rising = rising && c.groups[m] < c.groups[m + 1];
    equal = equal && c.groups[m + 1] - c.groups[m] == c.groups[1];
  }
  for (int64_t i = 1; i < c.relevant; ++i)
    if (!require(c.positions[i] > c.positions[i - 1], "positions: expected rising numbers."))
      return false;
  return require(rising, "groups: expected numbers that rise from 0 to the number of prefixes.") &&
         require(!c.sampled || (c.group_count > 1 && equal && c.groups[1] > 1),
                 "groups: expected several multisets, with several orderings, for all as many.");
}

/// Some measures are found together.
inline bool check_wanted(const CircuitMeasures& out) {
  return require(!out.value_spread == !out.value_size &&
                     !out.permutation_survival == !out.suffix_survival &&
                     !out.without_attention == !out.without_value &&
                     (out.accuracy || !(out.logits || out.without_unit || out.suffix_survival)),
                 "measures: expected those that are found together to be asked for together.");
}

constexpr const char* TRAINING_NAMES[] = {
    "optimizer", "schedule",     "lr",          "momentum",        "beta1",         "beta2",
    "eps",       "weight_decay", "clip",        "mlp_lr_discount", "lr_final",      "warmup",
    "batch",     "epochs",       "query_limit", "unit_tokens",     "unit_positions"};

/// Numbers in the order of TRAINING_NAMES; words as their places in RULE_NAMES, SCHEDULE_NAMES.
inline bool read_training(Training& t, const double* v, int64_t train_count) {
  const bool fine =
      whole("training.optimizer", v[0], 0, ADAMW) && whole("training.schedule", v[1], 0, COSINE) &&
      real("training.lr", v[2], 0, true) && real("training.momentum", v[3], 0, false, 1) &&
      real("training.beta1", v[4], 0, false, 1) && real("training.beta2", v[5], 0, false, 1) &&
      real("training.eps", v[6], 0, true) && real("training.weight_decay", v[7], 0) &&
      real("training.clip", v[8], 0) && real("training.mlp_lr_discount", v[9], 0, true) &&
      real("training.lr_final", v[10], 0) && whole("training.warmup", v[11], 0, WHOLE) &&
      whole("training.batch", v[12], 1, static_cast<double>(train_count)) &&
      whole("training.epochs", v[13], 0, MAX_EPOCHS) && real("training.query_limit", v[14], 0);
  if (!fine) return false;
  t = {static_cast<int>(v[0]),
       static_cast<int>(v[1]),
       v[2],
       v[3],
       v[4],
       v[5],
       v[6],
       v[7],
       v[8],
       v[9],
       v[10],
       static_cast<int64_t>(v[11]),
       static_cast<int64_t>(v[12]),
       static_cast<int64_t>(v[13]),
       v[14],
       {v[15] != 0, v[16] != 0}};
  return true;
}

}  // namespace dynascope
