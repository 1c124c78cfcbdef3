// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <span>
#include <vector>

// An image in the memory of one process, processed by threads where it is, in strips of rows. The
// results have the same bits as those of Labelling and Filtering, for any number of threads.
namespace sextant::distributed {

/// Labels an image.
///
/// Input     samples of the whole image; callbacks to follow and cancel the work, which are called
///           between strips: progress by the thread that is member 0 of the team, the other by all.
/// Output    labels as of kernel::Labeller; if `components` is not null, the components; if `nan`
/// is
///           not null, the number of samples that are NaN.
/// Requires  as kernel::Labeller (InvalidTask); at most 2³¹ − 1 components before strips are joined
///           (InvalidTask, before labels are written).
/// Returns   the number of components.
/// Cost      as kernel::Labeller, divided among the threads, and joining strips: O(width) each.
kernel::Label label_in_memory(const kernel::ValueView& image, kernel::Connection connection,
                              const kernel::LabelPlane& labels, Team& team,
                              const RunControl& control,
                              std::vector<kernel::Component>* components = nullptr,
                              Elements* nan = nullptr);

/// Numbers of values that are infinite or NaN.
struct NotFinite {
    Elements infinite = 0, nan = 0;

    void add(const float* values, Elements count);
};

/// Filters an image. Input, Output and Requires as for kernel::FilterBank, with the whole image as
/// the tile, and callbacks as above, but cancellation is checked every few rows. Returns the number
/// of samples that are NaN. `results`, unless null: adds the results that are not finite.
/// Cost      as kernel::FilterBank, divided among the threads; the rows within reach of a strip are
///           filtered horizontally once more.
Elements filter_in_memory(const kernel::SampleView& image, const Filter& filter,
                          std::span<const kernel::Plane> outputs, Team& team,
                          const RunControl& control, NotFinite* results = nullptr);

} // namespace sextant::distributed
