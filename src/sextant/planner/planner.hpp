// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/core/effects.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/compositing_plan.hpp"

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

/// When to skip empty pixels in messages: if predicted to be faster, always, or never.
enum class Sparse { automatic, on, off };

/// The operator, elements and ranks of a compositing task.
struct Work {
    std::string operator_name, element_name; ///< for example "over", "f32"
    Bytes element_size = 0;
    bool folds_at_once = false;  ///< as in model::Question
    std::vector<int> nodes = {}; ///< node by rank; empty: one node per rank
    machine::Link within_node = machine::Link::same_node;
    std::string model = {}; ///< empty: the most detailed model that the profile supports
    double density = 1;     ///< fraction of pixels in an image that are active
    Sparse sparse = Sparse::automatic;
};

/// Decides without a prediction whether messages skip empty pixels: true if messages move data and
/// the fraction of active pixels is below a limit, which is lower on one node.
bool sparse_by_rule(const Work& work);

/// Plans compositing on one machine. Plans are cached: a repeated request takes microseconds.
/// Thread-safe.
class Planner {
  public:
    /// `wires`: the links of the network, if known; predictions then include link contention.
    explicit Planner(machine::Profile machine, std::optional<machine::Wires> wires = {})
        : machine_(std::move(machine)), wires_(std::move(wires)) {}

    const machine::Profile& machine() const { return machine_; }
    /// The links of the network; null if unknown.
    const machine::Wires* wires() const { return wires_ ? &*wires_ : nullptr; }

    /// Returns the configuration predicted to be fastest among those that match `requested`. A task
    /// with at most one image needs no prediction.
    /// Throws    InvalidTask, model::CannotExpress.
    CompositingPlan plan(const compositing::Task& task, const Work& work,
                         const compositing::Tuning& requested = {});

    /// The predicted time of one configuration; empty if the model cannot describe it.
    std::optional<Seconds> seconds(const compositing::Task& task,
                                   const compositing::Configuration& configuration,
                                   const Work& work) const;

    /// The full prediction of one configuration, with the timeline of each rank; empty if the model
    /// cannot describe it.
    std::optional<model::Prediction> prediction(const compositing::Task& task,
                                                const compositing::Configuration& configuration,
                                                const Work& work) const;

  private:
    std::optional<model::Prediction> predict(const compositing::Task& task,
                                             const compositing::Configuration& configuration,
                                             const Setting& setting) const;
    Setting setting(const Work& work, bool sparse) const;
    CompositingPlan predict(const compositing::Task& task, const Work& work,
                            const compositing::Tuning& requested) const;
    CompositingPlan predict(const compositing::Task& task, const Work& work,
                            const compositing::Tuning& requested, bool sparse) const;

    const machine::Profile machine_;
    const std::optional<machine::Wires> wires_;
    std::mutex mutex_;
    std::map<std::string, CompositingPlan> known_;
};

/// When to distribute the rows of the image round-robin to the pieces (compositing/interlace.hpp):
/// if expected to pay off, always, or never.
enum class Interlace { automatic, on, off };

/// The active fraction in each of `drawn_bands` equal bands of a rank's images.
inline constexpr int drawn_bands = 64;
using DrawnBands = std::array<double, drawn_bands>;

/// Estimates the data that the busiest rank sends and receives, in units of one image, if messages
/// skip empty pixels. Computed for Direct-Send, because most algorithms partition images in the
/// same way. Overlapping images are assumed to be independent.
/// Input     `drawn`: one entry per position in the compositing order.
double busiest_traffic(const compositing::Task& task, std::span<const DrawnBands> drawn,
                       bool interlaced);

/// True if interlacing reduces the traffic of a collected image's busiest rank enough to pay off.
/// False for distributed results: their users expect contiguous pieces.
bool interlacing_pays(const compositing::Task& task, std::span<const DrawnBands> drawn);

/// The number of pixels in each block that is distributed round-robin: a row, or several if rows
/// are short.
Elements interlaced_block(Elements row);

/// When to probe a machine that has no profile. SEXTANT_PROBE=off always disables probing.
enum class Probing {
    off,  ///< plan for a built-in machine
    kept, ///< use a cached probe if there is one
    now   ///< use a cached probe, else measure now
};

/// Declares the profile to predict with and the probing as fields "machine" and "probe". The values
/// of rank 0 apply.
void declare_planning(Record& record, std::string& machine, Probing& probing);
Effects effects_of_planning(const std::string& machine);

/// The planner of a process, and notes for the user about its profile.
struct DefaultPlanner {
    std::shared_ptr<Planner> planner;
    std::string path; ///< path of the profile; empty: built in
    std::vector<std::string> warnings;
};

/// Returns the planner for a transport ("threads" or "mpi"). Its profile is the file `requested`;
/// else the file $SEXTANT_MACHINE; else the one that `sextant calibrate` wrote for this user; else
/// a built-in one. Created once per process and file, so that plans stay cached. Throws InvalidFile
/// if a file named by `requested` or $SEXTANT_MACHINE is invalid; a damaged default profile is
/// ignored with a warning.
DefaultPlanner default_planner(std::string_view transport, const std::string& requested = "");

/// Plans with the usual planner; if its profile cannot describe the task (for instance, ranks on
/// several nodes when only one was measured), plans for a built-in machine and adds a warning.
CompositingPlan plan_or_built_in(const DefaultPlanner& usual, const compositing::Task& task,
                                 const Work& work, const compositing::Tuning& requested,
                                 std::vector<std::string>& warnings);

} // namespace sextant::planner
