// What hosts check before the kernel computes, and the sentences that say what is wrong.
//
// Limits are those of the table. Each check returns whether all is well; if not, `Sentence::text`
// says why.
#pragma once

#include <cstdint>
#include <cstring>

#include "spec.hpp"
#include "task_spec.hpp"

namespace dynascope {

/// Builds the text that `last_error` returns; each new one replaces the last.
class Sentence {
 public:
  static inline thread_local char text[256] = "";

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
  /// A whole number, or a power of ten below 1: what limits are.
  Sentence& operator<<(double number) {
    if (number == static_cast<double>(static_cast<int64_t>(number)))
      return *this << static_cast<int64_t>(number);
    int64_t places = 0;
    for (; number < 0.5; number *= 10) ++places;
    return *this << static_cast<int64_t>(number + 0.5) << "e-" << places;
  }

 private:
  size_t length_ = 0;
};

inline bool finite(double x) { return x - x == 0; }

inline bool whole(const char* field, double value, double low, double high) {
  const auto limit = static_cast<double>(MAX_WHOLE);
  const bool number = finite(value) && value >= -limit && value <= limit &&
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
inline bool real(const char* field, double value, double low, bool above, double below) {
  if (finite(value) && (above ? value > low : value >= low) && value < below) return true;
  Sentence say;
  say << field << ": expected a finite number " << (above ? "above " : "of at least ") << low;
  if (finite(below)) say << " and below " << below;
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
  return whole(field, static_cast<double>(count), 0, MAX_SEQUENCES) &&
         within(field, tokens, count * s.length, s.vocab);
}

inline bool check_examples(const char* field, const Examples& e, const Shape& s, int64_t least) {
  return whole(field, static_cast<double>(e.count), static_cast<double>(least), MAX_SEQUENCES) &&
         check_tokens(field, e.tokens, e.count, s) &&
         within(field, e.targets, e.count, s.embeddings);
}

/// Training tabulates every pair of a token and a position at every step.
inline bool check_task_size(const Shape& s) {
  return whole("task.length", static_cast<double>(s.length), 1, MAX_LENGTH) &&
         whole("task.vocab", static_cast<double>(s.vocab), 2, MAX_VOCAB) &&
         whole("task.length * task.vocab", static_cast<double>(s.length * s.vocab), 2, MAX_PAIRS);
}

inline bool check_cut(const uint8_t* positions, const Shape& s) {
  bool left = !positions;
  for (int64_t t = 0; !left && t < s.length; ++t) left = !positions[t];
  if (!left) Sentence() << "ablate.positions: expected one to be left, but all are cut.";
  return left;
}

/// Attention that is held: one weight for each position, none below 0, 1 in all.
inline bool check_attention(const double* held, const Shape& s) {
  double sum = 0;
  bool sound = true;
  for (int64_t t = 0; t < s.length; ++t) {
    sum += held[t];
    sound = sound && held[t] >= 0;
  }
  sound = sound && sum > 1 - 1e-9 && sum < 1 + 1e-9;
  if (!sound) Sentence() << "attention: expected weights of at least 0 whose sum is 1.";
  return sound;
}

inline bool check_holds(const Hold* holds, int64_t count, const Shape& s) {
  for (int64_t i = 0; i < count; ++i)
    if (!whole("clamps", static_cast<double>(holds[i].from), 0, MAX_EPOCHS) ||
        !whole("clamps", static_cast<double>(holds[i].to), 0, MAX_EPOCHS) ||
        !check_attention(holds[i].attention, s))
      return false;
  return true;
}

inline bool check_sizes(double count, double length, double vocab) {
  return whole("count", count, 0, MAX_SEQUENCES) && whole("length", length, 0, MAX_LENGTH) &&
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

/// Whether sums are looked for in models of this shape.
inline bool check_summed(const TaskSpec& t, const Shape& s) {
  return require(t.kind == MODULAR_ADDITION, "task: expected modular-addition.") &&
         require(t.length == s.length && t.vocab == s.vocab,
                 "task: expected the model's length and vocab.") &&
         whole("vocab", static_cast<double>(t.vocab), 2, static_cast<double>(MAX_SUMMED));
}

inline bool check_crossed(const Crossed& c, const Shape& s) {
  const auto length = static_cast<double>(s.length);
  if (!whole("relevant", static_cast<double>(c.relevant), 0, length) ||
      !whole("prefixes", static_cast<double>(c.prefix_count), 1, MAX_SEQUENCES) ||
      !whole("suffixes", static_cast<double>(c.suffix_count), 1, MAX_SEQUENCES) ||
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

// ---- options ------------------------------------------------------------------------------------
/// Whether an option is of this section ("training") and has a place in the kernel.
inline bool kept_in(const Option& o, const char* section) {
  const size_t length = std::strlen(section);
  return o.place >= 0 && std::strncmp(o.name, section, length) == 0 && o.name[length] == '.';
}

inline bool check_option(const Option& o, double value) {
  if (o.optional && value != value) return true;
  switch (o.kind) {
    case Kind::WHOLE: return whole(o.name, value, o.low, o.high);
    case Kind::REAL: return real(o.name, value, o.low, o.above, o.high);
    case Kind::FLAG: return whole(o.name, value, 0, 1);
    case Kind::WORD: return whole(o.name, value, 0, o.choice.count - 1);
    case Kind::WORDS: return whole(o.name, value, 0, (1 << o.choice.count) - 1);
    default: return true;  // of hosts only
  }
}

inline void keep_option(void* at, const Option& o, double value) {
  if (value != value) value = 0;  // none
  switch (o.kind) {
    case Kind::WHOLE: *static_cast<int64_t*>(at) = static_cast<int64_t>(value); return;
    case Kind::REAL: *static_cast<double*>(at) = value; return;
    case Kind::FLAG: *static_cast<bool*>(at) = value != 0; return;
    case Kind::WORD: *static_cast<int*>(at) = static_cast<int>(value); return;
    case Kind::WORDS:
      for (int i = 0; i < o.choice.count; ++i)
        static_cast<bool*>(at)[i] = static_cast<int>(value) >> i & 1;
      return;
    default: return;
  }
}

/// Fills a Shape or a Training from numbers, one for each option that the section keeps, in the
/// table's order: numbers as they are, flags 0 or 1, a word as its place in the list, several words
/// as bits, none as NaN.
template <class Section>
inline bool read_options(Section& out, const char* section, const double* numbers) {
  for (const Option& o : OPTIONS) {
    if (!kept_in(o, section)) continue;
    const double value = *numbers++;
    if (!check_option(o, value)) return false;
    keep_option(reinterpret_cast<char*>(&out) + o.place, o, value);
  }
  return true;
}

/// A model's shape; `numbers` are those of the section `model`. Weights may be evaluated that no
/// task has: with every embedding row a token, or a single one, or longer sequences.
inline bool read_shape(Shape& s, double vocab, double length, const double* numbers) {
  if (!read_options(s, "model", numbers)) return false;
  s.vocab = static_cast<int64_t>(vocab);
  s.length = static_cast<int64_t>(length);
  if (s.embeddings == 0) s.embeddings = s.vocab;
  return whole("task.vocab", vocab, 1, MAX_EMBEDDINGS) &&
         whole("task.length", length, 1, MAX_LENGTH * MAX_EMBEDDINGS / vocab) &&
         whole("model.embeddings", static_cast<double>(s.embeddings), vocab, MAX_EMBEDDINGS);
}

inline bool check_batch(const Training& t, int64_t train_count) {
  return whole("training.batch", static_cast<double>(t.batch), 1, static_cast<double>(train_count));
}

inline bool read_training(Training& t, const double* numbers, int64_t train_count) {
  return read_options(t, "training", numbers) && check_batch(t, train_count);
}

}  // namespace dynascope
