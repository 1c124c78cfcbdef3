// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/plan.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// Whether pieces of a picture are dealt in rows (compositing/interlace.hpp): where that is
/// reckoned to pay, or as asked for.
enum class Interlace { automatic, on, off };

/// What part of each of so many equal bands of a rank's images something was drawn in.
inline constexpr int drawn_bands = 64;
using DrawnBands = std::array<double, drawn_bands>;

/// What the rank that moves most sends and receives, in images, where messages leave out what was
/// not drawn: by Direct-Send, whose parts are those of most. Where several images meet they are
/// taken to lie independently of each other.
/// Input     `drawn` by position.
double busiest_traffic(const compositing::Task& task, std::span<const DrawnBands> drawn,
                       bool interlaced);

/// Whether the busiest rank of a collected picture moves so much less interlaced that it is worth
/// it. Not of one that stays distributed: who asks for pieces wants them as they lie.
bool interlacing_pays(const compositing::Task& task, std::span<const DrawnBands> drawn);

/// Of how many pixels the blocks are that are dealt: rows, some where they are short.
Elements interlaced_block(Elements row);

/// Whether a machine without a profile is probed. SEXTANT_PROBE=off forbids it in any case.
enum class Probing {
    off,  ///< planned for as a built-in machine
    kept, ///< by a probe that was kept, if there is one
    now   ///< else measured
};

/// The planner of a process, and what its user should know of the profile it plans with.
struct UsualPlanner {
    std::shared_ptr<Planner> planner;
    std::string path; ///< of the profile; empty: built in
    std::vector<std::string> warnings;
};

/// A planner for a transport ("threads" or "mpi") with the profile `asked` for, a file; where that
/// is empty, with that of $SEXTANT_MACHINE; else with the one that `sextant calibrate` wrote for
/// this user; else with a built-in one. Made once a process and file, so that it remembers.
/// Throws    InvalidFile, of a file that was named. A damaged one that was not is passed over with
///           a warning.
UsualPlanner usual_planner(std::string_view transport, const std::string& asked = "");

/// The usual planner's plan; where its profile has no words for the task, as for ranks on several
/// nodes where one was measured, that of a built-in machine, with a warning.
Plan plan_or_built_in(const UsualPlanner& usual, const compositing::Task& task, const Work& work,
                      const compositing::Tuning& asked, std::vector<std::string>& warnings);

} // namespace sextant::planner
