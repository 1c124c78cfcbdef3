// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/contour_lines.hpp"
#include "sextant/core/effects.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <optional>
#include <string>

namespace sextant {

/// Options of ContourTracing. They must be the same on all ranks.
struct ContoursOptions {
    /// True if the image is a map of directions: -1 no edge, -2 the head of a contour, 0 to 7 the
    /// direction of the next point, clockwise from the right. If false, edges are found first, with
    /// the next three options.
    bool directions = false;
    double sigma = 1; ///< scale of the gradient in pixels, .5 to 1000
    /// Hysteresis thresholds as quantiles of the gradient magnitudes of all pixels. Edges begin at
    /// magnitudes above the quantile `high`, and continue at magnitudes above the quantile `low`.
    kernel::EdgeThresholds quantiles = {.8, .95};
    /// Hysteresis thresholds as gradient magnitudes, in sample units per pixel; if set, `quantiles`
    /// has no effect.
    std::optional<kernel::EdgeThresholds> thresholds = {};
    Elements min_length = 1; ///< minimum number of points; shorter contours are left out
    /// Tolerance for approximating contours by straight segments, in pixels, 0 to 1,000,000
    /// (kernel/label/line_simplification.hpp); 0 removes only points within straight runs. If not
    /// set, every point is kept.
    std::optional<double> simplify = {};
    /// Memory of all ranks together. An image that would exceed this limit at 100 bytes per pixel
    /// (the worst case, in which every pixel is a point of a contour) is processed in strips of
    /// rows.
    Bytes memory = Bytes{4} << 30;
    /// A path in the folder for unnamed scratch files, which hold the data of strips that exceeds
    /// memory: "scratch/" or, for the folder of an output, "out/lines.svg". Error messages name
    /// this path. Used only on rank 0.
    std::string scratch = "./";
    std::optional<Tiles> grid = {}; ///< one tile per rank; if not set, nearly square tiles
    /// The pattern that merges tiles. Strips are merged one after another, without a pattern. With
    /// `merging.timeline`, the merging of contours is recorded.
    distributed::MergingOptions merging = {};
};

Record record_of(ContoursOptions& options);
Effects effects_of(const ContoursOptions& options);

/// The result of ContourTracing. The same on all ranks, except where stated.
struct ContoursResult {
    Grid grid;           ///< the tiles of the image, or of each strip
    Elements strips = 1; ///< number of strips; 1 if the image fits in memory
    std::optional<kernel::EdgeThresholds>
        thresholds;                                ///< thresholds used; not set for a direction map
    Elements contours = 0, points = 0, closed = 0; ///< without contours shorter than `min_length`
    Elements written = 0;                          ///< points left by `simplify`
    Junctions junctions;                           ///< with contours shorter than `min_length`
    /// Plans for merging contours and, in hysteresis, components of edges; not set for strips. Only
    /// rank 0 has reasons and alternatives.
    std::optional<distributed::MergingPlan> plan, hysteresis;
    /// Trace of merging contours on this rank; only with `merging.timeline` and a single strip.
    std::optional<MergingTrace> merging;
    /// Times of this rank. Contours are simplified on rank 0.
    Seconds read = 0, edges = 0, ranking = 0, simplification = 0, write = 0;
};

/// Returns a record of the result without the trace.
Record record_of(const ContoursResult& result);

/// Traces the contours of an image: its edges (Canny), or the lines of a direction map, each with
/// its points in order (docs/contours.md). The image is divided into tiles, one per rank. An image
/// that does not fit in memory is processed strip by strip, which gives the same contours.
///
/// Input     options, the same on all ranks.
/// Output    all contours on rank 0, and counts on all ranks.
/// Throws    the constructor: InvalidTask, naming the option, its value and what was expected.
///           run(): on every rank AgreedFailure if any rank fails or has different options;
///           Cancelled. In this case no contours have been passed to the sink, unless the sink
///           itself failed, and the communicator stays usable.
/// Collective  run(); the constructor is not.
/// Cost      in memory, the gradient is computed twice (once if thresholds are given), and 10 to
///           100 bytes are needed per pixel; in strips, the gradient is computed three times, every
///           strip is ranked twice, and rank 0 keeps up to 2 bytes per pixel and 56 per point on
///           disk. With `simplify`, up to 8 bytes per point and one bit per pixel more.
/// Deterministic  the same contours for any grid, pattern, number of ranks and memory.
class ContourTracing {
  public:
    explicit ContourTracing(Communicator communicator, ContoursOptions options = {},
                            RunControl control = {});

    /// Ends the use of this object on all ranks. Ranks that wait for this rank in run(), or call
    /// run() later, throw PeerFailed with this rank and `text`. An exception that destroys the
    /// object after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Input     the image; every rank reads its tile from its own source. `sink`: called once, on
    ///           rank 0; ignored on other ranks.
    ContoursResult run(RowSource& image, const LineSink& sink);
    /// Traces an image of gray_f32, gray_u8 or gray_u16 in tiles on this communicator. `grid` and
    /// `memory` have no effect.
    ContoursResult run(const distributed::Image& image, const LineSink& sink);

    /// Returns the edges of an image as a direction map of 8-bit integers, on rank 0. Options of
    /// contours and `memory` have no effect.
    /// Requires  an image that is not a direction map.
    Image edges(RowSource& image);

  private:
    void begin(const char* part) const;
    std::optional<distributed::Image> read_tiles(RowSource& image, const Grid& grid) const;
    void divide(const RowSource& image, ContoursResult& result) const;
    ContoursResult run_in_memory(distributed::Image image, const std::string& name,
                                 const LineSink& sink, ContoursResult result) const;
    ContoursResult run_in_strips(RowSource& image, const LineSink& sink,
                                 ContoursResult result) const;

    Communicator communicator_;
    ContoursOptions options_;
    RunControl control_;
};

} // namespace sextant
