// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/kernel/filter_bank.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::distributed {

/// Which images are made of an image: names as kernel::find_feature takes them.
struct Filter {
    double sigma = 1;
    std::vector<std::string> features;
    kernel::BorderRule border;
};

/// Rows of an image that are filtered together, in tiles.
struct Window {
    ImageShape image; ///< the whole
    Elements first = 0, rows = 0;
    int columns = 1, rows_of_tiles = 1; ///< of the grid
    bool operator==(const Window&) const = default;
};

/// The program of a filter on a window, for models and pictures as well.
halo::Stencil stencil_of(const Window& window, const Filter& filter, const ElementFormat& element,
                         bool collects, bool overlaps = true);

/// A filter of windows of an image over ranks: memory and program are kept for as long as windows
/// have the same shape.
///
/// Every rank holds its tile and the pixels around it, and its part of the results; where they are
/// collected, rank 0 holds all of the window's.
class WindowFilter {
  public:
    /// Requires  a sigma and features that kernel::FilterBank takes, samples of gray_f32, gray_u8
    ///           or gray_u16 (InvalidTask).
    WindowFilter(Communicator communicator, Filter filter, ElementFormat element, bool collects);

    /// What a rank must be given before a run: rectangles of the image, one after another, and
    /// where each is to go.
    using Fill = std::function<void(const Tile& part, std::span<std::byte> to)>;

    /// Takes a window on. `planes`: where the results are to go, of `plane_elements()` floats for
    /// each feature; empty: memory of its own.
    /// Requires  a grid of as many tiles as there are ranks (InvalidTask).
    void prepare(const Window& window, std::span<float> planes = {});
    /// Asks `fill` for the pixels that no other rank sends.
    void fill(const Fill& fill);
    /// Filters. Collective; throws as Execution::run.
    void run() { execution_->run(); }

    /// What this rank's planes are of, within the image, after `prepare`.
    Tile kept() const;
    Elements plane_elements() const { return kept().elements(); }
    /// Plane k of the last run, row by row.
    std::span<const float> plane(int k) const;
    /// This rank's, in bytes, after `prepare`.
    Bytes memory() const;

  private:
    void open_execution();
    void bind_planes(std::span<float> planes);
    void compute(const Computation& computation);
    kernel::SampleView view(const Region& read, const Tile& part, const std::byte* image) const;

    const Communicator communicator_;
    const Filter filter_;
    const ElementFormat element_;
    const bool collects_;
    kernel::FilterBank bank_;
    Window window_;
    halo::Stencil stencil_;
    Memory image_, own_planes_;
    std::span<float> planes_;
    std::optional<Execution> execution_;
};

} // namespace sextant::distributed
