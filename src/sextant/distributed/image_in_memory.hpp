// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/window_filter.hpp"

#include <span>
#include <vector>

// An image in the memory of one process, processed by threads where it is, in strips of rows. The
// results have the same bits as those of Filtering, for any number of threads.
namespace sextant::distributed {

/// Numbers of values that are infinite or NaN.
struct NotFinite {
    Elements infinite = 0, nan = 0;

    void add(const float* values, Elements count);
};

/// Filters an image.
///
/// Input     as for kernel::FilterBank, with the whole image as the tile; callbacks: progress is
///           called between strips by the thread that is member 0 of the team, and cancellation is
///           checked every few rows by all. `results`, unless null: adds the results that are not
///           finite.
/// Output, Requires  as for kernel::FilterBank.
/// Returns   the number of samples that are NaN.
/// Cost      as kernel::FilterBank, divided among the threads; the rows within reach of a strip are
///           filtered horizontally once more.
Elements filter_in_memory(const kernel::SampleView& image, const Filter& filter,
                          std::span<const kernel::Plane> outputs, Team& team,
                          const RunControl& control, NotFinite* results = nullptr);

} // namespace sextant::distributed
