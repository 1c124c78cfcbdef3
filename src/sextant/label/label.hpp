// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/effects.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/bodies.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

/// The number of a component, from 1; 0 is the background.
using ComponentNumber = std::uint64_t;

/// The columns of tables of components and regions.
enum class LabelColumns : std::uint8_t {
    usual, ///< sizes in images, all in volumes
    sizes, ///< sizes, boxes, centroids, and intensity measures if there are intensities
    all    ///< also axes, faces or perimeters, and whether components touch the border
};

/// Options for labelling images and volumes. All but `threads` must be the same on every rank.
struct LabelOptions {
    /// Connectivity: 4 or 8 (default) in images; 6, 18 or 26 (default) in volumes.
    std::optional<kernel::Neighbours> neighbours = {};
    bool by_value = false; ///< connect only samples of equal value
    bool measure = false;  ///< measure each component
    LabelColumns columns = LabelColumns::usual;
    /// First fill holes: background components that do not reach the border become foreground. The
    /// background is connected by the dual neighbourhood (4 for 8, 8 for 4; 6 for 18 and 26, 26 for
    /// 6). Cannot be combined with by_value.
    bool fill_holes = false;
    Elements min_size = 0;     ///< components with fewer samples become background
    Elements keep_largest = 0; ///< keep only this many of the largest components; 0: all
    /// Memory limit for samples and labels of all ranks together. Larger images and volumes are
    /// labelled in strips of rows or slabs of planes; a larger image in tiles is an error.
    Bytes memory = Bytes{1} << 30;
    int threads = 1; ///< of each rank
    /// Label an image in tiles, one per rank, whose components are merged by a message pattern.
    /// Tiles are used if a grid, or a pattern other than "auto", is given.
    std::optional<Tiles> grid = {};
    distributed::MergingOptions merging = {};
    /// A folder that all ranks can access, for runs in several slabs. Each rank keeps its results
    /// there in a file, and the same run continues from these files after an interruption. The
    /// caller removes the folder when all results are stored. "": keep results in memory.
    std::string checkpoint = {};
    /// Identifies the content of the input, to recognise the same run; lines "name: value".
    std::string identity = {};
    /// Use 64-bit labels if there are more components than this.
    Elements most_narrow = 4294967295;

    /// True if only sizes, boxes, centroids and intensities are measured.
    bool measures_sizes(bool is_image) const {
        return in_tiles() || columns == LabelColumns::sizes ||
               (columns == LabelColumns::usual && is_image);
    }
    /// True if components may be removed because of their own size.
    bool chooses_by_size() const { return min_size > 0; }
    /// True if components of this size are not removed because of their own size.
    bool keeps_size(Elements samples) const { return samples >= min_size; }
    bool in_tiles() const { return grid.has_value() || merging.pattern != "auto"; }
};
/// A record of all options except the last three.
Record record_of(LabelOptions& options);
Effects effects_of(const LabelOptions& options);
/// The same record without the options for tiles.
Record record_in_slabs(LabelOptions& options);
/// The options of Labelling::measure, except `threads`.
Record record_in_measure(LabelOptions& options);
/// The number of neighbours of a sample of an image or volume: 4, 8, 6, 18 or 26.
int neighbours_of(const LabelOptions& options, bool is_image);

/// The result of labelling. The same on every rank unless stated otherwise.
struct LabelResult {
    kernel::VolumeShape shape; ///< the planes of an image are its rows (shape.of_rows)
    Elements components = 0;
    Elements holes = 0;   ///< holes that were filled
    Elements removed = 0; ///< components that became background
    Elements slabs = 1;   ///< number of slabs of this rank; of an image, strips of rows
    Elements slab_planes = 0;
    Elements kept = 0;  ///< slabs of this rank that were read once, because their runs were kept
    std::string reason; ///< explains the size of slabs, and how many were kept
    int label_bits = 32;
    bool resumable = false;      ///< results are kept in a checkpoint
    Elements resumed = 0;        ///< slabs of this rank taken from the checkpoint
    Elements nan = 0;            ///< NaN samples, which are background
    Bytes sent = 0;              ///< by this rank, for joining components
    Seconds read = 0, label = 0; ///< on this rank
    Seconds write = 0;           ///< for numbering samples and storing labels
    /// Times predicted from the first slab.
    Seconds predicted_read = 0, predicted_label = 0;
    /// The measures of all components, on rank 0, unless a sink receives them.
    std::vector<kernel::Body> table;

    // In tiles:
    std::optional<Grid> grid;                 ///< tiles of the image
    distributed::MergingPlan plan;            ///< on ranks other than 0, only the configuration
    MergingTrace merging;                     ///< if `timeline` is set
    std::optional<distributed::Image> labels; ///< of type kernel::Label; only for an image in tiles
};
/// A record of the result without the table, the labels and the trace.
Record record_of(const LabelResult& result);

/// 32-bit or 64-bit labels of successive planes, or of rows of an image.
using LabelPlanes = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>>;

/// Receives the results of Labelling. An exception ends the run on all ranks. The planes of an
/// image are its rows.
class LabelSink {
  public:
    LabelSink() = default;
    virtual ~LabelSink() = default;
    LabelSink(const LabelSink&) = delete;
    LabelSink& operator=(const LabelSink&) = delete;

    /// If positive, each rank passes its own planes, which begin at multiples of this number;
    /// otherwise rank 0 passes the planes of all ranks. The same on every rank.
    virtual Elements planes_per_part() const { return 0; }
    /// With `measure`, called on rank 0 before begin(): the measures of successive components,
    /// starting with component `first`.
    virtual void rows(ComponentNumber first, std::span<const kernel::Body> bodies) {
        (void)first, (void)bodies;
    }
    /// Called instead of rows() if only sizes are measured. The default passes them to rows().
    virtual void sizes(ComponentNumber first, std::span<const kernel::RegionSize> sizes);
    /// Called when all components are known. This rank will pass the planes from `first` up to but
    /// not including `end`. Returns how many of them are already stored; these are not passed.
    /// Collective: if it fails, it throws on every rank (agree()).
    virtual Elements begin(const LabelResult& result, Elements first, Elements end) = 0;
    /// Called after begin(), if there is only one rank and labels have 32 bits. Returns memory into
    /// which the labels of all planes are written instead of being passed, or null.
    virtual kernel::LabelPlane memory() { return {}; }
    /// Receives whole planes of labels in order, starting at `plane`.
    virtual void planes(Elements plane, const LabelPlanes& labels) = 0;
};

/// Receives whole rows of labels of an image, starting at row `first`.
using LabelRows = std::function<void(Elements first, std::span<const kernel::Label> rows)>;

/// An image or a volume to label. Keeps a reference.
class LabelInput {
  public:
    /// An image, opened with ReadAs::values.
    LabelInput(RowSource& image) : source_(&image) {} // NOLINT: so that callers can pass a source
    /// A volume, whose planes are the frames of a series.
    LabelInput(FrameSource& volume) : source_(&volume) {} // NOLINT
    /// An image: a frame of a series.
    LabelInput(FrameSource& series, std::int64_t frame) : source_(&series), frame_(frame) {}
    /// An image or a volume in memory, which is not copied. Signed samples are passed as their bit
    /// patterns; `stored` is their type.
    LabelInput(const kernel::ValueView& array, Sample stored, bool is_image)
        : source_(&array), stored_(stored), is_image_(is_image) {}

    bool is_image() const {
        return is_image_ || frame_ || std::holds_alternative<RowSource*>(source_);
    }
    Sample sample() const; ///< the type of the samples in the file or array
    std::string path() const;
    RowSource* rows() const;
    const auto& source() const { return source_; }
    const std::optional<std::int64_t>& frame() const { return frame_; }

  private:
    std::variant<RowSource*, FrameSource*, const kernel::ValueView*> source_;
    std::optional<std::int64_t> frame_;
    Sample stored_ = Sample::u8;
    bool is_image_ = false;
};

/// The regions of a labelled image or volume, by ascending label; empty on ranks other than 0.
/// Body::value has the same bits as the label in the input; negative labels of signed types come
/// first.
struct LabelRegions {
    kernel::VolumeShape shape;
    std::vector<kernel::Body> table;
    Seconds read = 0, label = 0; ///< on this rank
};
/// The label of a region with this Body::value, except of type u64.
std::int64_t signed_label(std::uint64_t value, Sample type);

/// Labels the connected components of an image or a volume. Each rank labels successive rows or
/// planes, in slabs. If memory cannot hold all slabs, they are read twice, because components are
/// complete only after the last slab. The threads of a rank share the planes of a slab. An image
/// can also be labelled in tiles, one per rank, whose components are merged by a message pattern
/// (LabelOptions::grid).
///
/// Input     an image or a grey volume, which every rank reads from its own source. With `measure`,
///           also intensities, an input of the same shape, or null.
/// Output    labels 1, 2, … in the order of the components' first samples, row by row and plane by
///           plane; 0 is the background, where samples are 0 or NaN.
/// Throws    InvalidTask for an unknown pattern (constructor). On every rank AgreedFailure, if
///           options differ or have no effect, shapes differ, the memory cannot hold a plane or row
///           per rank, a rank cannot read or write, the checkpoint belongs to another run, or 2³¹
///           components or more touch borders between parts of slabs; Cancelled.
/// Collective.
/// Cost      kernel::Labeller for each slab, twice, and two or three times more to fill holes.
///           Memory on each rank: a slab, and about 40 bytes (with `measure` 250) for each
///           component that touches a border between the parts of slabs. Measures of other
///           components are kept in the checkpoint, if there is one; with `keep_largest`, only
///           those of the largest so far. Rank r sends its last plane to rank r + 1, and pairs of
///           touching components to all ranks. In tiles, as label_components().
/// Deterministic  the same labels and measures for every memory, number of ranks and threads, grid
///           and pattern.
class Labelling {
  public:
    /// The constructor is not collective.
    explicit Labelling(Communicator communicator, LabelOptions options = {},
                       RunControl control = {});

    LabelResult run(const LabelInput& input, const LabelInput* intensity, LabelSink& sink) const;
    /// Passes the labels of an image to `write` on rank 0; measures are in the result. Labels have
    /// 32 bits: throws AgreedFailure if there are 2³¹ components or more.
    LabelResult run(RowSource& image, const LabelRows& write) const;
    /// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
    LabelResult run(const distributed::Image& image) const;

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Measures the regions of a labelled image or volume: all samples of the same value, connected
    /// or not. Only the options memory, threads and columns have an effect.
    ///
    /// Input     integer labels; intensities or null, as run() takes them.
    /// Throws    the same as run(). Collective.
    /// Cost      as run(), but samples are read once; memory for a slab and for the measures of all
    ///           regions.
    LabelRegions measure(const LabelInput& labels, const LabelInput* intensity) const;

  private:
    LabelResult run_in_slabs(const LabelInput& input, const LabelInput* intensity,
                             LabelSink& sink) const;

    Communicator communicator_;
    LabelOptions options_;
    RunControl control_;
};

} // namespace sextant
