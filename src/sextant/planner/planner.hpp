// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/choose.hpp"
#include "sextant/planner/plan.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sextant::planner {

/// Whether messages leave out what was not drawn: as predicted to be faster, or as asked for.
enum class Sparse { automatic, on, off };

/// What is composited, and where ranks lie.
struct Work {
    std::string operator_name, element_name; ///< "over", "f32"
    Bytes element_size = 0;
    bool folds_at_once = false;  ///< as in model::Question
    std::vector<int> nodes = {}; ///< by rank; empty: each on its own
    machine::Link within_node = machine::Link::same_node;
    std::string model = {}; ///< empty: the richest that the profile feeds
    double density = 1;     ///< what part of an image something was drawn in
    Sparse sparse = Sparse::automatic;
};

/// Whether to leave out what was not drawn where nothing is predicted: by a rule, where messages
/// move and little enough was drawn, on one node very little.
bool sparse_by_rule(const Work& work);

/// Plans compositing on one machine, and remembers: the same question is answered in microseconds.
/// May be asked by several threads.
class Planner {
  public:
    /// With `wires`, where they are known, messages that meet on links are reckoned with.
    explicit Planner(machine::Profile machine, std::optional<machine::Wires> wires = {})
        : machine_(std::move(machine)), wires_(std::move(wires)) {}

    const machine::Profile& machine() const { return machine_; }

    /// The way to do a task that is predicted to be the fastest, among those that have what is
    /// asked of the tuning. A task of no images, or one, has nothing to predict.
    /// Throws    InvalidTask, model::CannotExpress.
    Plan plan(const compositing::Task& task, const Work& work,
              const compositing::Tuning& asked = {});

    /// What one way is predicted to take; nothing where the model has no words for it.
    std::optional<Seconds> seconds(const compositing::Task& task, const compositing::Way& way,
                                   const Work& work) const;

    /// The same, with what each rank would do when.
    std::optional<model::Prediction>
    prediction(const compositing::Task& task, const compositing::Way& way, const Work& work) const;

  private:
    std::optional<model::Prediction> predict(const compositing::Task& task,
                                             const compositing::Way& way,
                                             const Setting& setting) const;
    Setting setting(const Work& work, bool sparse) const;
    Plan predict(const compositing::Task& task, const Work& work,
                 const compositing::Tuning& asked) const;
    Plan predict(const compositing::Task& task, const Work& work, const compositing::Tuning& asked,
                 bool sparse) const;

    const machine::Profile machine_;
    const std::optional<machine::Wires> wires_;
    std::mutex mutex_;
    std::map<std::string, Plan> known_;
};

} // namespace sextant::planner
