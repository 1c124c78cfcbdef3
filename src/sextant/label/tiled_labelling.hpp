// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Options for labelling connected components. They must be the same on every rank.
struct LabelOptions {
    kernel::Neighbours neighbours = kernel::Neighbours::eight;
    bool by_value = false; ///< connect only pixels of equal value
    bool measure = false;  ///< fill LabelResult::table
    /// Memory for the image and its labels, of all ranks together. A larger image is labelled in
    /// strips of rows.
    Bytes memory = Bytes{1} << 30;
    std::optional<Tiles> grid = {};           ///< tiles of the image or strip; none: nearly square
    distributed::MergingOptions merging = {}; ///< the pattern that merges tiles
};
Record record_of(LabelOptions& options);

/// The result of labelling an image. The same on every rank unless stated otherwise.
struct LabelResult {
    Elements components = 0;
    std::vector<kernel::Component> table;     ///< indexed by label − 1; on rank 0 with `measure`
    std::optional<distributed::Image> labels; ///< of type kernel::Label; only for an image in tiles
    Grid grid;                                ///< tiles of the image, or of a strip
    Elements strips = 1;                      ///< number of strips; 1 if the image fits in memory
    distributed::MergingPlan plan;            ///< on ranks other than 0, only the configuration
    MergingTrace merging; ///< this rank's trace for the first strip, if `timeline` is set
    Seconds read = 0, label = 0, write = 0; ///< times on this rank
    alignas(8) Elements nan = 0;            ///< samples that are NaN, and therefore background
};

/// Returns a record of the result without the table, the labels and the trace.
Record record_of(const LabelResult& result);

/// Receives whole rows of labels, starting at row `first`.
using LabelSink = std::function<void(Elements first, std::span<const kernel::Label> rows)>;

/// Labels the connected components of an image in tiles, one per rank. An image that exceeds the
/// memory is processed in strips of rows, each in tiles over all ranks, and components are joined
/// at the seams (kernel/label/strip_seams.hpp). Components are complete only after the last strip,
/// so strips are then read and labelled twice.
///
/// Input     an image that every rank can read, each from a source of its own, opened with
///           ReadAs::values; each rank reads the rows of its tiles. Or an image in tiles.
/// Output    labels 1, 2, … in the order of the components' first pixels, row by row; 0 marks the
///           background, where samples are 0 or NaN. Rank 0 passes all rows to `write`, in order.
/// Throws    InvalidTask for an unknown pattern (constructor). On every rank AgreedFailure, if
///           options differ between ranks, if the number of tiles is not that of ranks, if colours
///           with more than 16 bits per sample are to be connected by value, if the memory cannot
///           hold a row, if there are 2³¹ components or more, and if a rank cannot read or write;
///           Cancelled. No output remains except the rows passed to `write`.
/// Collective.
/// Cost      label_components() for each strip; while streaming, memory on rank 0 for a row and 4
///           bytes per component of each strip (76 bytes with `measure`).
/// Deterministic  the same labels for every grid, pattern, memory and number of ranks.
class Labelling {
  public:
    /// The constructor is not collective.
    explicit Labelling(Communicator communicator, LabelOptions options = {},
                       RunControl control = {});

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    LabelResult run(RowSource& image, const LabelSink& write) const;
    /// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
    LabelResult run(const distributed::Image& image) const;

  private:
    Communicator communicator_;
    LabelOptions options_;
    RunControl control_;
};

} // namespace sextant
