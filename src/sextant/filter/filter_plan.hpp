// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/planner/choose.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::distributed {

/// A filter job, with those parts of the configuration that are fixed.
struct FilterTask {
    Filters filters = {};
    ImageShape image = {}; ///< shape of the image, or of each plane of a volume
    ElementFormat element = gray_f32;
    int ranks = 1;              ///< maximum number of ranks
    bool shares_memory = false; ///< true if ranks share memory, such as threads of one process
    /// "read": each rank reads its own tile. "scatter", "broadcast" or the name of a collective:
    /// rank 0 reads the image and distributes it. "any": the fastest of these if the profile has
    /// file rates, otherwise "read".
    std::string distribute = "any";
    std::optional<Tiles> grid = {}; ///< one tile per rank; if not set, chosen by the planner
    Elements depth = 0;             ///< planes of a volume; 0 for an image
    int threads = 1;                ///< of each rank

    bool is_volume() const { return depth > 0; }
    kernel::Dimensions dimensions() const {
        return is_volume() ? kernel::Dimensions::three : kernel::Dimensions::two;
    }
    /// The rows of the image, or planes of the volume, that are divided into windows.
    Elements length() const { return is_volume() ? depth : image.height; }
    const std::vector<std::string>& features() const { return filters.back().features; }
};

/// Returns the width of the margin on each side of the image or volume that the filters read with a
/// border that wraps around; 0 for other borders.
halo::Margin wrapped_margin(const FilterTask& task);

/// Returns the task for an image that is extended by the wrapped margin. The margin repeats the
/// samples of the opposite side, so that no tile needs samples of a distant tile; results in the
/// margin are discarded. A task with another border is returned unchanged.
FilterTask padded(FilterTask task);

/// A plan with the number of rows, or of planes of a volume, held in memory at a time. Its
/// alternatives are predicted for the whole image at once, including reading if the profile has
/// file rates.
struct FilterPlan : planner::Plan<filtering::Configuration> {
    Elements window = 0;                   ///< number of rows or planes in memory at a time
    Bytes memory = 0;                      ///< memory of all ranks for the window and its planes
    struct Predicted : planner::Expected { ///< predicted time of distribution, filters and gather
        std::optional<Seconds> read = {}, write = {}; ///< set if the profile has file rates
    };
    std::optional<Predicted> predicted = {}; ///< prediction for all windows
};

/// Chooses among the configurations that the task leaves open (filter_configurations.hpp) by
/// predicting each as one schedule. It first compares plans for all ranks, half of them, a quarter
/// and so on, with every collective; then numbers of ranks ever closer to the best, with the best
/// collectives. With several filters, sequences of filters are then moved to other grids with the
/// same number of ranks, as long as this is faster. If `distribute` is "any" and the profile has
/// file rates, reading is included.
///
/// Input     `setting`: the machine, the nodes of ranks and the model; elements are floats. `rows`:
///           the number of rows or planes to predict, from which the time of all is extrapolated; 0
///           for all, or for 256 planes of a larger volume.
/// Throws    model::CannotExpress, InvalidTask.
FilterPlan plan_filter(const FilterTask& task, const planner::Setting& setting, Elements rows = 0);

/// Returns the default plan without predictions: strips of rows or slabs of planes, collected as
/// they are computed.
FilterPlan strips_plan(const FilterTask& task, const std::string& reason);

/// Returns the plan chosen by prediction, or strips if the machine's profile cannot express the
/// programs.
FilterPlan default_filter_plan(const FilterTask& task, const planner::Setting& setting,
                               Elements rows = 0);

/// Throws InvalidTask if the plan has more ranks or rows than the task, names a collective that
/// cannot distribute or collect, or changes tiles before a nonexistent filter.
void check(const FilterPlan& plan, const FilterTask& task);

/// Returns the memory of all ranks for windows of `rows` rows, or planes of a volume, including the
/// memory of kernels for volumes. If ranks share memory, planes that are sent directly to rank 0
/// are computed there and count once.
Bytes memory_of(const filtering::Configuration& configuration, const FilterTask& task,
                Elements rows);

/// Sets the window to the largest number of rows or planes for which all ranks together hold at
/// most `budget` bytes of the image and its planes. Sets `memory` to the memory used.
/// Throws    InvalidTask if a single row or plane needs more.
void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget);

/// Sets the predicted time of all windows, extrapolated from one window in the middle of the image.
/// Sets nothing if the profile cannot express the program or has no time for the filter kernel.
void predict_windows(FilterPlan& plan, const FilterTask& task, const planner::Setting& setting);

/// Returns the default plan with the largest windows that the budget allows, and its prediction. If
/// a volume exceeds the budget, the plan may use tiles chosen for windows of few planes, or a
/// single rank if several ranks need too much memory.
/// Throws    InvalidTask if a single row or plane needs more.
FilterPlan plan_windows(const FilterTask& task, const planner::Setting& setting, Bytes budget);

/// Conversion to and from JSON (docs/json.md). The task passed to a reader may be unpadded. The
/// readers throw InvalidFile if the JSON is invalid, or if the plan has more ranks than the task or
/// changes tiles before a nonexistent filter.
std::string to_json(const FilterPlan& plan);
Json json_of(const FilterPlan& plan);
FilterPlan parse_filter_plan(const std::string& text, const std::string& path,
                             const FilterTask& task);
FilterPlan read_filter_plan(const std::string& path, const FilterTask& task);

/// The name of the filter kernel in profiles.
inline constexpr std::string_view filter_kernel = "gaussian-derivatives";

} // namespace sextant::distributed
