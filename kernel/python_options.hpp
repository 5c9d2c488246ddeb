// Options of Python as the kernel keeps them; the table says what each is (options.hpp).
#pragma once

#include "python_arrays.hpp"
#include "python_bind.hpp"

namespace dynascope {

/// An option as the number that read_options takes.
inline double option_number(const Option& o, nb::handle value) {
  if (value.is_none()) return __builtin_nan("");
  if (o.kind == Kind::WORD || o.kind == Kind::WORDS) {
    double bits = 0;
    for (int i = 0; i < o.choice.count; ++i) {
      const nb::str word(o.choice.first[i]);
      if (o.kind == Kind::WORD && value.equal(word)) return i;
      if (o.kind == Kind::WORDS && nb::cast<bool>(value.attr("__contains__")(word))) bits += 1 << i;
    }
    if (o.kind == Kind::WORDS) return bits;
    refuse((std::string(o.name) + ": unknown word").c_str());
  }
  return nb::cast<double>(nb::float_(value));
}

/// The numbers of a section, from a dict of its options.
inline std::vector<double> option_numbers(const char* section, const nb::dict& options) {
  std::vector<double> numbers;
  for (const Option& o : OPTIONS)
    if (kept_in(o, section)) {
      const char* name = std::strchr(o.name, '.') + 1;
      expect(options.contains(name), o.name);
      numbers.push_back(option_number(o, options[name]));
    }
  return numbers;
}

inline void bind_options(Module& m) {
  Class<Shape>(m, "Shape")
      .def(
          "__init__",
          [](Shape* s, double vocab, double length, const nb::dict& model) {
            new (s) Shape{};
            must(read_shape(*s, vocab, length, option_numbers("model", model).data()));
          },
          nb::kw_only(), "vocab"_a, "length"_a, "model"_a);
  Class<Training>(m, "Training")
      .def("__init__",
           [](Training* t, const nb::dict& training) {
             new (t) Training{};
             must(read_options(*t, "training", option_numbers("training", training).data()));
           })
      .def(
          "learning_rate",
          [](const Training& t, int64_t step, int64_t total) {
            return engine<double>().learning_rate(t, step, total);
          },
          "step"_a, "total"_a)
      .def(
          "unbias",
          [](const Training& t, int64_t steps) {
            double both[2];
            engine<double>().unbias(both, t, steps);
            return nb::make_tuple(both[0], both[1]);
          },
          "steps"_a);
}

}  // namespace dynascope
