// The kernel's tasks as a Python class.
#pragma once

#include <algorithm>

#include "group_name.hpp"
#include "python_arrays.hpp"
#include "python_bind.hpp"

namespace dynascope {

inline int kind_of(const std::string& name) {
  for (int kind = 0; kind < TASKS; ++kind)
    if (name == TASK_NAMES[kind]) return kind;
  throw std::invalid_argument("name: expected one of the kernel's tasks.");
}

/// A task with its own copy of the positions.
class PyTask {
 public:
  PyTask(const std::string& name, int64_t length, int64_t vocab,
         const std::vector<int32_t>& positions)
      : kind_(kind_of(name)), length_(length), vocab_(vocab), positions_(positions) {
    if (const char* problem = problem_of(spec())) throw std::invalid_argument(problem);
  }
  TaskSpec spec() const {
    return {kind_, length_, vocab_, positions_.data(), static_cast<int64_t>(positions_.size())};
  }

 private:
  int kind_;
  int64_t length_, vocab_;
  std::vector<int32_t> positions_;
};

inline void check_rows(const Array<int32_t>& tokens, int64_t width, int64_t vocab) {
  expect(tokens.ndim() == 2 && static_cast<int64_t>(tokens.shape(1)) == width,
         "tokens must be a table with a column for each position");
  for (size_t i = 0; i < tokens.size(); ++i)
    expect(tokens.data()[i] >= 0 && tokens.data()[i] < vocab, "a token is out of range");
}

inline Numpy<int32_t> targets(const PyTask& task, const Array<int32_t>& tokens) {
  const TaskSpec t = task.spec();
  check_rows(tokens, t.length, t.vocab);
  auto found = make_array<int32_t>({tokens.shape(0)});
  build().task->targets(found.data(), tokens.data(), static_cast<int64_t>(tokens.shape(0)), t);
  return found;
}

/// What stands for the group of each prefix.
inline Numpy<int32_t> canonical(const PyTask& task, const Array<int32_t>& prefixes) {
  const TaskSpec t = task.spec();
  check_rows(prefixes, t.relevant, t.vocab);
  auto found = make_array<int32_t>({prefixes.shape(0), prefixes.shape(1)});
  std::copy(prefixes.data(), prefixes.data() + prefixes.size(), found.data());
  for (size_t i = 0; i < prefixes.shape(0); ++i)
    build().task->make_canonical(t.kind, found.data() + i * prefixes.shape(1), t.relevant);
  return found;
}

inline std::vector<std::string> group_names(const PyTask& task, const Array<int32_t>& prefixes) {
  const auto found = canonical(task, prefixes);
  std::vector<std::string> names;
  for (size_t i = 0; i < prefixes.shape(0); ++i)
    names.emplace_back(GroupName(task.spec(), found.data() + i * prefixes.shape(1)).text);
  return names;
}

/// [relevant, relevant]: whether exchanging two relevant tokens is a symmetry.
inline Numpy<bool> exchangeable(const PyTask& task) {
  const TaskSpec t = task.spec();
  const auto k = static_cast<size_t>(t.relevant);
  auto found = make_array<bool>({k, k});
  for (size_t i = 0; i < k * k; ++i)
    found.data()[i] = build().task->exchangeable(t.kind, static_cast<int64_t>(i / k),
                                                 static_cast<int64_t>(i % k));
  return found;
}

inline Numpy<double> class_shares(const PyTask& task) {
  const TaskSpec t = task.spec();
  auto shares = make_array<double>({static_cast<size_t>(t.vocab)});
  nb::gil_scoped_release release;
  const Memory memory = allocate(build().task->class_shares_bytes(t));
  build().task->class_shares(shares.data(), t, memory.get());
  return shares;
}

/// prefixes, groups, suffixes, and whether they are a sample.
inline nb::tuple design(const PyTask& task) {
  const TaskSpec t = task.spec();
  const DesignSizes sizes = build().task->design_sizes(t);
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  auto prefixes = make_array<int32_t>({size(sizes.prefix_count), size(t.relevant)});
  auto groups = make_array<int32_t>({size(sizes.group_count) + 1});
  auto suffixes = make_array<int32_t>({size(sizes.suffix_count), size(t.length - t.relevant)});
  {
    nb::gil_scoped_release release;
    const Memory memory = allocate(build().task->design_bytes(t));
    build().task->design(prefixes.data(), groups.data(), suffixes.data(), t, memory.get());
  }
  return nb::make_tuple(prefixes, groups, suffixes, sizes.sampled);
}

inline void bind_tasks(Module& m) {
  Class<PyTask>(m, "TaskSpec")
      .def(nb::init<const std::string&, int64_t, int64_t, const std::vector<int32_t>&>(),
           nb::kw_only(), "name"_a, "length"_a, "vocab"_a, "positions"_a)
      .def_prop_ro("groups",
                   [](const PyTask& task) { return build().task->count_groups(task.spec()); })
      .def("targets", targets, "tokens"_a)
      .def("canonical", canonical, "prefixes"_a)
      .def("group_names", group_names, "prefixes"_a)
      .def("exchangeable", exchangeable)
      .def("class_shares", class_shares)
      .def("design", design);
}

}  // namespace dynascope
