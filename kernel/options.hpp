// The table of options: name, kind, default, limits, what it is for; and where the kernel keeps it.
//
// The defaults are the paper's. What spans several options is checked by the hosts (config.py).
#pragma once

#include <cstddef>
#include <cstdint>

#include "catalog.hpp"

namespace dynascope {

struct Shape {
  int64_t vocab;       // p: tokens of the task
  int64_t embeddings;  // rows of E and output classes, at least p
  int64_t length;      // N
  int64_t dim;         // d
  int64_t hidden;      // h
  bool bias;
  int activation, norm;
  double norm_eps, norm_tau;
};

// Always inline: this header is compiled for every instruction set, and a copy made for AVX-512
// must not be the one that another build calls.
#define ALWAYS_INLINE __attribute__((always_inline))

/// The size of an axis; 1 for none. `relevant` matters to measures only.
ALWAYS_INLINE constexpr int64_t size_of(Axis axis, const Shape& s, int64_t relevant = 0) {
  switch (axis) {
    case Axis::EMBEDDINGS: return s.embeddings;
    case Axis::LENGTH: return s.length;
    case Axis::DIM: return s.dim;
    case Axis::HIDDEN: return s.hidden;
    case Axis::RELEVANT: return relevant;
    case Axis::FOUR: return 4;
    default: return 1;
  }
}
ALWAYS_INLINE constexpr bool present(const ParameterRow& row, const Shape& s) {
  return s.bias || !row.bias;
}

/// Numbers in packed weights: parameters one after the other, row-major; up to one of them, or all.
ALWAYS_INLINE constexpr int64_t packed_size(const Shape& s, int before = PARAMETERS) {
  int64_t size = 0;
  for (int p = 0; p < before; ++p) {
    const ParameterRow& row = PARAMETER_ROWS[p];
    if (present(row, s)) size += size_of(row.rows, s) * size_of(row.columns, s);
  }
  return size;
}

struct Training {
  int optimizer, schedule;
  double lr, momentum, beta1, beta2, eps, weight_decay;
  double clip;             // greatest gradient norm; 0: no limit
  double mlp_lr_discount;  // the feed-forward's learning rate is divided by it
  double lr_final;         // the cosine ends here
  int64_t warmup;          // steps
  int64_t batch;
  int64_t epochs;      // the cosine's length; training may stop earlier or go on
  double query_limit;  // greatest |q|; 0: none
  bool unit_rows[2];   // rows of E, of P put to unit length after each step
  bool nesterov;
  double sam;  // radius within which the gradient is taken at the worst place; 0: at the weights
  double muon_momentum;
};

enum class Kind {
  WHOLE,      // int64_t
  REAL,       // double
  FLAG,       // bool
  WORD,       // int: one of a list
  WORDS,      // bool for each of a list: any of them
  POSITIONS,  // how many leading positions, or a list; for hosts only, as are the next two
  SPAN,       // two whole numbers, the first the smaller
  PARTS,      // parameters or parts of them
  CLAMPS      // what is held at fixed values for some epochs
};

struct Option {
  const char* name;  // with its section: "training.lr"
  Kind kind;
  const char *standard, *meaning;  // the default, as JSON
  double low = 0, high = 0;        // of whole and real numbers
  bool above = false;              // `low` itself is not allowed (nor is `high` ever, of reals)
  WordList choice = {nullptr, 0};
  bool optional = false;            // may be none, which the kernel keeps as 0
  int place = -1;                   // in Shape or Training, by its section; -1: hosts only
  const char* as_before = nullptr;  // JSON; null: an option of the first format

  constexpr Option from(double least, double most = __builtin_huge_val()) const {
    Option o = *this;
    o.low = least;
    o.high = most;
    return o;
  }
  constexpr Option more_than(double least) const {
    Option o = from(least);
    o.above = true;
    return o;
  }
  constexpr Option one_of(WordList list) const {
    Option o = *this;
    o.choice = list;
    return o;
  }
  constexpr Option or_none() const {
    Option o = *this;
    o.optional = true;
    return o;
  }
  constexpr Option kept_at(size_t offset) const {
    Option o = *this;
    o.place = static_cast<int>(offset);
    return o;
  }
  /// Added after the first format: what every run did before there was this option. It never
  /// changes, whatever becomes of the default: ids and replays of old runs hang on it.
  constexpr Option was(const char* value) const {
    Option o = *this;
    o.as_before = value;
    return o;
  }
};

constexpr Option option(const char* name, Kind kind, const char* standard, const char* meaning) {
  Option o{};
  o.name = name;
  o.kind = kind;
  o.standard = standard;
  o.meaning = meaning;
  return o;
}

#define AT_SHAPE(field) kept_at(offsetof(Shape, field))
#define AT_TRAINING(field) kept_at(offsetof(Training, field))

// clang-format off
constexpr Option OPTIONS[] = {
    option("task.length", Kind::WHOLE, "12", "tokens in a sequence").from(1, MAX_LENGTH),
    option("task.vocab", Kind::WHOLE, "2", "different tokens").from(2, MAX_VOCAB),
    option("task.relevant", Kind::POSITIONS, "5", "the positions that matter, 0-based and rising")
        .from(0, MAX_LENGTH),
    option("task.train_size", Kind::WHOLE, "2048", "sequences to train on").from(1, MAX_SEQUENCES),
    option("task.test_size", Kind::WHOLE, "2048", "sequences to test on").from(1, MAX_SEQUENCES),
    option("task.name", Kind::WORD, "\"modular-addition\"", "what the target is")
        .one_of(words(TASK_NAMES)).was("\"modular-addition\""),

    option("model.dim", Kind::WHOLE, "2", "length of an embedding").from(1, MAX_DIM).AT_SHAPE(dim),
    option("model.hidden", Kind::WHOLE, "32", "hidden units of the feed-forward")
        .from(1, MAX_HIDDEN).AT_SHAPE(hidden),
    option("model.bias", Kind::FLAG, "true", "whether the feed-forward has biases").AT_SHAPE(bias),
    option("model.activation", Kind::WORD, "\"gelu\"", "of the hidden units")
        .one_of(words(ACTIVATION_NAMES)).AT_SHAPE(activation),
    option("model.norm", Kind::WORD, "\"rms\"", "how vectors are normalised")
        .one_of(words(NORM_NAMES)).AT_SHAPE(norm),
    option("model.norm_eps", Kind::REAL, "1e-5", "added to the length in rms and unit")
        .from(0).AT_SHAPE(norm_eps),
    option("model.norm_tau", Kind::REAL, "1.0", "length from which on smooth equals rms")
        .from(MIN_TAU).AT_SHAPE(norm_tau),
    option("model.embeddings", Kind::WHOLE, "null",
           "rows of the token embedding; none: as many as tokens")
        .from(2, MAX_EMBEDDINGS).or_none().AT_SHAPE(embeddings),

    option("training.optimizer", Kind::WORD, "\"adam\"", "the rule that moves the weights")
        .one_of(words(RULE_NAMES)).AT_TRAINING(optimizer),
    option("training.lr", Kind::REAL, "3e-3", "learning rate").more_than(0).AT_TRAINING(lr),
    option("training.batch", Kind::WHOLE, "32", "sequences in a step")
        .from(1, MAX_SEQUENCES).AT_TRAINING(batch),
    option("training.epochs", Kind::WHOLE, "1000", "epochs to train")
        .from(0, MAX_EPOCHS).AT_TRAINING(epochs),
    option("training.mlp_lr_discount", Kind::REAL, "1.0",
           "divides the feed-forward's learning rate")
        .more_than(0).AT_TRAINING(mlp_lr_discount),
    option("training.frozen", Kind::PARTS, "[]",
           "parameters, or parts of them, that stay as they are"),
    option("training.momentum", Kind::REAL, "0.0", "of sgd").from(0, 1).AT_TRAINING(momentum),
    option("training.beta1", Kind::REAL, "0.9",
           "decay of the first moments").from(0, 1).AT_TRAINING(beta1),
    option("training.beta2", Kind::REAL, "0.999", "decay of the second moments")
        .from(0, 1).AT_TRAINING(beta2),
    option("training.eps", Kind::REAL, "1e-8", "added to the root of the second moments")
        .more_than(0).AT_TRAINING(eps),
    option("training.weight_decay", Kind::REAL, "0.0",
           "apart from the gradient in adamw, lion and muon, else part of it")
        .from(0).AT_TRAINING(weight_decay),
    option("training.clip", Kind::REAL, "null", "largest norm of the whole gradient; none: any")
        .more_than(0).or_none().AT_TRAINING(clip),
    option("training.schedule", Kind::WORD, "\"constant\"", "how the learning rate changes")
        .one_of(words(SCHEDULE_NAMES)).AT_TRAINING(schedule),
    option("training.warmup", Kind::WHOLE, "0", "steps over which the learning rate rises")
        .from(0, MAX_WHOLE).AT_TRAINING(warmup),
    option("training.lr_final", Kind::REAL, "0.0",
           "where cosine ends").from(0).AT_TRAINING(lr_final),
    option("training.query_limit", Kind::REAL, "null",
           "largest length of the query after a step; none: any")
        .more_than(0).or_none().AT_TRAINING(query_limit),
    option("training.unit_rows", Kind::WORDS, "[]",
           "embeddings whose rows are put back to length 1")
        .one_of(words(UNIT_ROW_NAMES)).AT_TRAINING(unit_rows),
    option("training.nesterov", Kind::FLAG, "false", "momentum of sgd that looks one step ahead")
        .AT_TRAINING(nesterov).was("false"),
    option("training.sam", Kind::REAL, "null",
           "how far uphill the gradient of a step is taken (SAM's rho); none: at the weights")
        .more_than(0).or_none().AT_TRAINING(sam).was("null"),
    option("training.muon_momentum", Kind::REAL, "0.95", "of the matrices that muon moves")
        .from(0, 1).AT_TRAINING(muon_momentum).was("0.95"),

    option("training.clamps", Kind::CLAMPS, "[]",
           "attention that is held at fixed weights for some epochs").was("[]"),

    option("record.weights_every", Kind::WHOLE, "1",
           "epochs between kept weights; 0: first and last")
        .from(0, MAX_EPOCHS),
    option("record.state_every", Kind::WHOLE, "50", "epochs between kept states; 0: the last")
        .from(0, MAX_EPOCHS),
    option("record.gradients", Kind::FLAG, "true", "gradient norms over the steps of each epoch"),
    option("record.full_gradients", Kind::FLAG, "false", "gradient norms on the whole train set"),
    option("record.unseen", Kind::FLAG, "false", "curves on sequences that the train set lacks"),
    option("record.steps", Kind::SPAN, "null",
           "first and last epoch between which every step is kept")
        .from(0, MAX_EPOCHS).or_none(),

    option("precision", Kind::WORD, "\"float32\"", "of all arithmetic and all records")
        .one_of(words(PRECISION_NAMES)),
};
// clang-format on
#undef AT_SHAPE
#undef AT_TRAINING

}  // namespace dynascope
