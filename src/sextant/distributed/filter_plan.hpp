// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/window_filter.hpp"
#include "sextant/machine/file_costs.hpp"
#include "sextant/planner/choose.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::distributed {

/// What is filtered, and what of the way to do it is given.
struct FilterTask {
    Filters filters;
    ImageShape image;
    ElementFormat element = gray_f32;
    int ranks = 1;              ///< at most
    bool shares_memory = false; ///< ranks are threads of one process
    /// "read": each rank reads its tile; "scatter", "broadcast" or a collective: rank 0 does, and
    /// distributes; "any": whichever of these is the fastest, where the profile knows what reading
    /// takes, else "read".
    std::string distribute = "any";
    int columns = 0, rows = 0; ///< of tiles; 0: to be chosen

    const std::vector<std::string>& features() const { return filters.back().features; }
};

/// How: ranks and their tiles, how the image comes to them and planes to rank 0, and how many rows
/// are held at a time.
struct FilterPlan {
    filtering::Way way;
    Elements window = 0; ///< rows
    Bytes memory = 0;    ///< of all ranks, for windows and what is made of them
    std::string reason;
    std::string machine, model; ///< that predicted; empty where nothing was
    struct Predicted {
        Seconds seconds = 0, low = 0, high = 0; ///< of distribution, filters and gather
        std::optional<Seconds> read, write;     ///< where the profile knows what that takes
    };
    std::optional<Predicted> predicted; ///< of all windows
    struct Alternative {
        filtering::Way way;
        /// Of the image at once, predicted; with reading, where the profile knows what that takes.
        std::optional<Seconds> seconds;
        std::string remark;
    };
    std::vector<Alternative> alternatives; ///< the fastest first
};

/// As candidates are called, and plans are told: "2x2 tiles, then 1x4 from filter 3 on, each rank
/// reads its own, ...".
std::string text_of(const filtering::Way& way);

/// The ways that the task leaves open (filter_ways.hpp), predicted, each as one schedule. First all
/// ranks, half, a quarter and so on, with every collective; then numbers on either side of the
/// best, ever closer, with the collectives of the best. Of several filters, on the grids of as many
/// ranks as the best, other tiles for a stretch of filters, again and again as long as that is
/// faster. Where anything may bring the image to the ranks, and the profile knows what reading
/// takes, all ways are weighed with reading.
///
/// Input     the machine, where ranks lie and by which model: `setting`, whose elements are floats.
/// Throws    model::CannotExpress, InvalidTask.
FilterPlan plan_filter(const FilterTask& task, const planner::Setting& setting);

/// Strips of rows, collected as they are made: what is done where nothing can be predicted.
FilterPlan strips_plan(const FilterTask& task, const std::string& reason);

/// By prediction, or strips where the machine's profile has no words for it.
FilterPlan usual_filter_plan(const FilterTask& task, const planner::Setting& setting);

/// What all ranks hold for windows of so many rows. Where they share memory, planes that go
/// straight to rank 0 are made there.
Bytes memory_of(const filtering::Way& way, const FilterTask& task, Elements rows);

/// Sets the window so that all ranks together hold at most `budget` bytes of the image and of what
/// is made of it, and how much that is.
/// Throws    InvalidTask where a single row takes more.
void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget);

/// Sets what all windows are predicted to take, as so many of one in the middle of the image;
/// nothing where the profile has no words for it, or does not know what filters take.
void predict_windows(FilterPlan& plan, const FilterTask& task, const planner::Setting& setting);

/// As it is saved and read again, or told. Throws InvalidFile, also for a plan of more ranks, or
/// for tiles dealt out anew before a filter that there is not.
std::string to_json(const FilterPlan& plan);
FilterPlan parse_filter_plan(const std::string& text, const std::string& path,
                             const FilterTask& task);
FilterPlan read_filter_plan(const std::string& path, const FilterTask& task);

/// The kernel of filters, as profiles call it.
inline constexpr std::string_view filter_kernel = "gaussian-derivatives";

/// What profiles call the kernels of a task's program.
std::vector<model::KernelUse> kernels_of(const FilterTask& task);

/// The program on so many rows in the middle of the image.
filtering::WindowTask rows_of(const FilterTask& task, const filtering::Way& way, Elements rows);

/// The same for the planner.
Candidate candidate_of(const FilterTask& task, const filtering::Way& way, Elements rows);

/// What reading these rows takes; nothing where the profile does not know.
std::optional<Seconds> reading(const FilterTask& task, const filtering::Way& way, Elements rows,
                               const machine::FileCosts& files);

} // namespace sextant::distributed
