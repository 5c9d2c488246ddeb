// The table of catalog.hpp and options.hpp as JSON: how hosts read it.
//
// Written piece by piece to a function of the caller's, so that WebAssembly needs no strings: it
// only hashes the text, to be sure that the client was generated from the same table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "options.hpp"

namespace dynascope {

template <class Put> class JsonWriter {
 public:
  explicit JsonWriter(Put put) : put_(put) {}

  void begin(const char* bracket) {
    comma();
    put_(bracket);
    first_ = true;
  }
  void end(const char* bracket) {
    put_(bracket);
    first_ = false;
  }
  void key(const char* name) {
    comma();
    quote(name);
    put_(":");
    first_ = true;
  }
  void text(const char* value) {
    comma();
    quote(value);
  }
  void raw(const char* json) {
    comma();
    put_(json ? json : "null");
  }
  void flag(bool value) { raw(value ? "true" : "false"); }
  /// A number that is whole, or has at most ten decimals.
  void number(double value) {
    if (value > 9.1e15) return raw("null");  // infinity: no limit
    comma();
    const auto whole = static_cast<uint64_t>(value);
    digits(whole, 1);
    const auto rest = static_cast<uint64_t>((value - static_cast<double>(whole)) * 1e10 + 0.5);
    if (rest == 0) return;
    put_(".");
    digits(rest, 10);
  }

  template <class Value> void field(const char* name, Value value) {
    key(name);
    if constexpr (std::is_same_v<Value, bool>) flag(value);
    else if constexpr (std::is_arithmetic_v<Value>) number(static_cast<double>(value));
    else text(value);
  }
  void list(const char* name, WordList words) {
    key(name);
    begin("[");
    for (int i = 0; i < words.count; ++i) text(words.first[i]);
    end("]");
  }

 private:
  Put put_;
  bool first_ = true;

  void comma() {
    if (!first_) put_(",");
    first_ = false;
  }
  void quote(const char* value) {  // the table has no character that JSON escapes
    put_("\"");
    put_(value);
    put_("\"");
  }
  void digits(uint64_t value, int least) {
    char buffer[24];
    int at = 23;
    buffer[at] = 0;
    for (; value > 0 || least > 0; value /= 10, --least)
      buffer[--at] = static_cast<char>('0' + value % 10);
    put_(buffer + at);
  }
};

constexpr const char* AXIS_NAMES[] = {"", "embeddings", "length", "dim", "hidden", "relevant", "4"};
constexpr const char* PART_NAMES[] = {"embedding", "attention", "feed_forward"};
constexpr const char* NEEDS_NAMES[] = {"", "test", "unseen", "gradients", "full_gradients"};
constexpr const char* METRIC_NAMES[] = {"plain", "second_moment", "nonlinear"};
constexpr const char* GROUPING_NAMES[] = {"multisets", "pairs"};
constexpr const char* KIND_NAMES[] = {"whole",     "real", "flag",  "word",  "words",
                                      "positions", "span", "parts", "clamps"};

template <class W> void write_shape(W& out, Axis rows, Axis columns) {
  out.key("shape");
  out.begin("[");
  for (Axis axis : {rows, columns})
    if (axis != Axis::NONE) out.text(AXIS_NAMES[static_cast<int>(axis)]);
  out.end("]");
}

template <class W> void write_option(W& out, const Option& o) {
  const bool bounded = o.kind == Kind::WHOLE || o.kind == Kind::REAL || o.kind == Kind::POSITIONS ||
                       o.kind == Kind::SPAN;
  out.begin("{");
  out.field("name", o.name);
  out.field("kind", KIND_NAMES[static_cast<int>(o.kind)]);
  out.field("optional", o.optional);
  if (bounded) {
    out.field("low", o.low);
    out.field("high", o.high);
  }
  if (o.kind == Kind::REAL) out.field("above", o.above);
  if (o.choice.count) out.list("words", o.choice);
  out.key("default");
  out.raw(o.standard);
  if (o.as_before) {
    out.key("as_before");
    out.raw(o.as_before);
  }
  out.field("kept", o.place >= 0);
  out.field("meaning", o.meaning);
  out.end("}");
}

template <class Row, size_t N, class W, class F>
void write_rows(W& out, const char* name, const Row (&rows)[N], F write) {
  out.key(name);
  out.begin("[");
  for (const Row& row : rows) write(row);
  out.end("]");
}

template <class Put> void write_catalog(Put put) {
  JsonWriter<Put> out(put);
  out.begin("{");
  write_rows(out, "parameters", PARAMETER_ROWS, [&](const ParameterRow& row) {
    out.begin("{");
    out.field("name", row.name);
    out.field("symbol", row.symbol);
    write_shape(out, row.rows, row.columns);
    out.field("part", PART_NAMES[static_cast<int>(row.part)]);
    out.field("bias", row.bias);
    out.end("}");
  });
  const auto shaped = [&](const ShapeRow& row) {
    out.begin("{");
    out.field("name", row.name);
    write_shape(out, row.rows, row.columns);
    out.field("meaning", row.meaning);
    out.end("}");
  };
  write_rows(out, "stages", STAGE_ROWS, shaped);
  write_rows(out, "measures", MEASURE_ROWS, shaped);
  const auto curve = [&](const CurveRow& row) {
    out.begin("{");
    out.field("name", row.name);
    out.field("each", row.each);
    out.field("needs", NEEDS_NAMES[static_cast<int>(row.needs)]);
    out.field("meaning", row.meaning);
    out.end("}");
  };
  write_rows(out, "curves", CURVE_ROWS, curve);
  write_rows(out, "step_curves", STEP_CURVE_ROWS, curve);
  write_rows(out, "activations", ACTIVATION_ROWS, [&](const ActivationRow& row) {
    out.begin("{");
    out.field("name", row.name);
    out.field("steepest", row.steepest);
    out.field("ramp", row.ramp);
    out.field("homogeneous", row.homogeneous);
    out.end("}");
  });
  write_rows(out, "rules", RULE_ROWS, [&](const RuleRow& row) {
    out.begin("{");
    out.field("name", row.name);
    out.list("slots", {row.slots, SLOTS});
    out.field("metric", METRIC_NAMES[static_cast<int>(row.metric)]);
    out.field("decoupled_decay", row.decoupled_decay);
    out.end("}");
  });
  write_rows(out, "schedules", SCHEDULE_ROWS, [&](const ScheduleRow& row) {
    out.begin("{");
    out.field("name", row.name);
    out.field("ends", row.ends);
    out.end("}");
  });
  out.key("tasks");
  out.begin("[");
  for (int kind = 0; kind < TASKS; ++kind) {
    out.begin("{");
    out.field("name", TASK_NAMES[kind]);
    out.field("grouping", GROUPING_NAMES[static_cast<int>(TASK_GROUPINGS[kind])]);
    out.end("}");
  }
  out.end("]");
  out.list("sum_kinds", words(SUM_KIND_NAMES));
  write_rows(out, "options", OPTIONS, [&](const Option& o) { write_option(out, o); });
  out.key("limits");
  out.begin("{");
  out.field("whole", MAX_WHOLE);
  out.field("pairs", MAX_PAIRS);
  out.field("sequences", MAX_SEQUENCES);
  out.field("embeddings", MAX_EMBEDDINGS);
  out.field("measured", MAX_MEASURED);
  out.field("summed", MAX_SUMMED);
  out.end("}");
  out.end("}");
}

/// FNV-1a of the text: the same for hosts that know the same table.
inline uint32_t catalog_hash() {
  uint32_t hash = 2166136261u;
  write_catalog([&](const char* text) {
    for (; *text; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  });
  return hash;
}

}  // namespace dynascope
