// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/contour_tracing.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/strip_contours.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/label/line_simplification.hpp"
#include "sextant/tiles/tile_borders.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant {

using distributed::MergingPlan;
using distributed::PointOrder;

namespace {

/// Converts thresholds to and from "LOW,HIGH". Both values must be within the range of the field;
/// the thresholds may be optional.
template <class Thresholds>
Codec codec_of(Thresholds& thresholds) {
    return {[&thresholds] {
                const std::optional<kernel::EdgeThresholds> given = thresholds;
                return given ? fmt::format("{},{}", given->low, given->high) : "";
            },
            [&thresholds](const Field& field, std::string_view text) {
                const std::size_t comma = std::min(text.find(','), text.size());
                const auto low = parsed_number<double>(text.substr(0, comma));
                const auto high =
                    parsed_number<double>(text.substr(std::min(comma + 1, text.size())));
                if (!low || !high || *low < field.least || *high > field.most)
                    return fmt::format("two numbers, LOW,HIGH, from {} to {:g}", field.least,
                                       field.most);
                thresholds = kernel::EdgeThresholds{*low, *high};
                return std::string();
            }};
}

} // namespace

Record record_of(ContoursOptions& options) {
    constexpr double most_threshold = 1e38; // bounds thresholds to the range of floats
    Record record;
    record.add("sigma", options.sigma, "PIXELS", "scale of the gradient in pixels, 0.5 to 1000")
        .between(kernel::smallest_sigma, kernel::largest_sigma);
    record
        .add("quantiles", codec_of(options.quantiles), "LOW,HIGH",
             "hysteresis thresholds as quantiles of gradient magnitudes")
        .between(0, 1);
    record
        .add("thresholds", codec_of(options.thresholds), "LOW,HIGH",
             "hysteresis thresholds as gradient magnitudes, in grey values per pixel")
        .between(0, most_threshold);
    record.add("directions", options.directions, "the image is a direction map (docs/contours.md)");
    record.add("min_length", options.min_length, "POINTS", "omit contours with fewer points")
        .between(1, most_count);
    record
        .add("simplify", options.simplify, "PIXELS",
             "approximate contours by straight segments within this distance")
        .between(0, kernel::most_tolerance);
    record.add_memory("memory", options.memory,
                      "memory limit for image and results; larger images are streamed");
    record
        .add("scratch", options.scratch, "PATH",
             "folder for scratch files if the image exceeds the memory limit")
        .file()
        .by_rank();
    record.add("grid", options.grid, "columns and rows of tiles; default: nearly square");
    return record.include(record_of(options.merging));
}

Effects effects_of(const ContoursOptions& options) {
    Effects effects = effects_of(options.merging);
    effects.push_back({{"sigma", "quantiles", "thresholds"},
                       "a direction map has no gradients",
                       [&] { return !options.directions; }});
    effects.push_back({{"quantiles"}, "{thresholds} replaces the quantiles", [&] {
                           return !options.thresholds;
                       }});
    return effects;
}

Record record_of(const ContoursResult& result) {
    const auto json_of = [](const std::optional<distributed::MergingPlan>& plan) {
        return plan ? distributed::json_of(*plan) : Json();
    };
    const auto& edges = result.thresholds;
    return {{"width", result.grid.width},
            {"height", result.grid.height},
            {"thresholds", edges ? Json{{"low", edges->low}, {"high", edges->high}} : Json()},
            {"contours", result.contours},
            {"points", result.points},
            {"closed", result.closed},
            {"written", result.written},
            {"junctions", result.junctions.junctions},
            {"cut", result.junctions.cut},
            {"strips", result.strips},
            {"columns", result.grid.columns},
            {"rows", result.grid.rows},
            {"plan", json_of(result.plan)},
            {"hysteresis", json_of(result.hysteresis)},
            {"seconds",
             {{"read", result.read},
              {"edges", result.edges},
              {"rank", result.ranking},
              {"simplify", result.simplification},
              {"write", result.write}}}};
}

namespace {

/// Memory per pixel if every pixel is an edge point, as is possible in a direction map. It includes
/// three copies of each point while points are exchanged, the positions of points on their
/// contours, and the codes.
constexpr Bytes bytes_per_pixel = 100;
/// Memory per column: the codes of the margin around a strip during thinning.
constexpr Bytes bytes_beside_strips = 160;
/// Sorting points uses 1/parts_of_memory of the memory; strips use the rest.
constexpr Bytes parts_of_memory = 4;

/// Returns the memory for the samples and codes that are needed around a strip.
Bytes bytes_around(const RowSource& image, const ContoursOptions& options) {
    const Elements reach = options.directions ? 0 : kernel::EdgeFinder(options.sigma).margin();
    return image.shape().width * (2 * reach * image.element().size + bytes_beside_strips);
}

/// Returns the maximum number of rows of a strip. Throws InvalidTask if not even one fits in
/// memory.
Elements rows_of_strips(const RowSource& image, const ContoursOptions& options) {
    const Bytes row = image.shape().width * bytes_per_pixel, around = bytes_around(image, options);
    const Elements rows = (options.memory - options.memory / parts_of_memory - around) / row;
    constexpr Bytes mebibyte = 1 << 20;
    if (rows < 1)
        throw InvalidTask(
            fmt::format("memory {:g} MiB is too small: a row of {} pixels and the rows needed "
                        "around it take {} MiB",
                        static_cast<double>(options.memory) / mebibyte, image.shape().width,
                        (row + around) * parts_of_memory / (parts_of_memory - 1) / mebibyte + 1));
    return rows;
}

/// Returns the codes of a direction map.
distributed::Image directions_from(const distributed::Image& samples, const std::string& name) {
    std::optional<distributed::Image> directions;
    agree(samples.communicator(), [&] {
        directions.emplace(samples.communicator(), samples.grid(), direction_i8);
        distributed::convert_directions(
            distributed::sample_view(samples), name,
            reinterpret_cast<kernel::Direction*>(directions->bytes().data()));
    });
    return *std::move(directions);
}

/// Finds the edges of an image in memory.
distributed::Image find_edges(const distributed::Image& image, const ContoursOptions& options,
                              ContoursResult& result) {
    result.thresholds =
        options.thresholds
            ? *options.thresholds
            : quantiles_of(image, options.sigma, options.quantiles.low, options.quantiles.high);
    return edge_directions(
        image, options.sigma, *result.thresholds, [&](Elements entries) -> const contour::Pattern& {
            result.hysteresis =
                distributed::plan_merging(image.communicator(), options.merging, image.grid(),
                                          entries, sizeof(contour::BorderPixel));
            return *result.hysteresis->configuration;
        });
}

/// Traces the contours of a direction map in memory.
LinearPart trace(const distributed::Image& directions, const ContoursOptions& options,
                 ContoursResult& result) {
    const Communicator& communicator = directions.communicator();
    const Grid& grid = directions.grid();
    kernel::ContourRanking ranking;
    const distributed::Padded padded =
        distributed::with_margin(directions, distributed::ranking_margin);
    agree(communicator, [&] {
        ranking.apply({reinterpret_cast<const kernel::Direction*>(padded.pixels.data()),
                       padded.held.width, padded.held, directions.shape()},
                      directions.tile());
    });
    result.junctions = sum_over_ranks(communicator, {ranking.junctions(), ranking.cut()});
    result.plan = distributed::plan_merging(communicator, options.merging, grid,
                                            static_cast<Elements>(ranking.entries().size()),
                                            sizeof(contour::Crossing));
    if (options.merging.timeline)
        result.merging.emplace();
    const ContoursOfTile contours =
        merge_contours(communicator, grid, ranking, *result.plan->configuration,
                       result.merging ? &*result.merging : nullptr);
    return linearize(communicator, grid, ranking, contours, options.min_length);
}

/// Runs `part` on rank 0, which passes contours to the sink and counts them in the result. If any
/// rank was cancelled, the sink receives nothing.
void give(const Communicator& communicator, const RunControl& control, ContoursResult& result,
          const std::function<void()>& part) {
    struct Counts {
        Elements contours, points, closed, written;
    };
    agree(communicator, [&] { control.check(); });
    agree(communicator, [&] {
        if (communicator.rank() == 0)
            part();
    });
    const Counts counts = communicator.all_gather(
        Counts{result.contours, result.points, result.closed, result.written})[0];
    result.contours = counts.contours;
    result.points = counts.points;
    result.closed = counts.closed;
    result.written = counts.written;
}

/// Returns the contours with the points that simplification keeps.
ContourLines simplified(const ContourLines& lines, double tolerance) {
    ContourLines kept{lines.image, {}, {}};
    LinesInMemory reader(lines);
    kernel::simplify(
        reader, tolerance, [&](const ContourLine& line, Elements index, Elements pixel) {
            if (index == 0)
                kept.lines.push_back({static_cast<Elements>(kept.pixels.size()), 0, line.closed});
            ++kept.lines.back().points;
            kept.pixels.push_back(pixel);
        });
    return kept;
}

} // namespace

ContourTracing::ContourTracing(Communicator communicator, ContoursOptions options,
                               RunControl control)
    : communicator_(scope_later(communicator, "ContourTracing")),
      options_(std::move(options)),
      control_(std::move(control)) {
    const Record record = record_of(options_);
    record.check();
    check_effects(options_, record);
    if (options_.thresholds)
        kernel::require_thresholds(*options_.thresholds);
    require_edge_quantiles(options_.quantiles.low, options_.quantiles.high);
    options_.merging.check();
}

void ContourTracing::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

/// Divides the image into strips that fit in memory, or one strip if the whole image fits, and
/// chooses their tiles.
void ContourTracing::divide(const RowSource& image, ContoursResult& result) const {
    const ImageShape shape = image.shape();
    Elements rows = shape.height;
    if (shape.elements() * bytes_per_pixel > options_.memory) {
        rows = rows_of_strips(image, options_);
        result.strips = (shape.height + rows - 1) / rows;
    }
    result.grid = grid_of(options_.grid, communicator_.size(), shape.width, rows);
    result.grid.height = shape.height;
}

ContoursResult ContourTracing::run(RowSource& image, const LineSink& sink) {
    const CancellationScope cancellable(control_, communicator_.size());
    require_same(communicator_, options_);
    ContoursResult result;
    agree(communicator_, [&] { divide(image, result); });
    if (result.strips > 1)
        return run_in_strips(image, sink, std::move(result));
    std::optional<distributed::Image> whole;
    timed(result.read, [&] { whole = read_tiles(image, result.grid); });
    return run_in_memory(*std::move(whole), image.path(), sink, std::move(result));
}

Image ContourTracing::edges(RowSource& image) {
    const CancellationScope cancellable(control_, communicator_.size());
    require_same(communicator_, options_);
    begin("read");
    ContoursResult result;
    agree(communicator_, [&] {
        const auto [width, height] = image.shape();
        result.grid = grid_of(options_.grid, communicator_.size(), width, height);
    });
    const std::optional<distributed::Image> tiles = read_tiles(image, result.grid);
    begin("edges");
    return distributed::gather(find_edges(*tiles, options_, result));
}

/// Begins a part of the work. Throws if any rank was cancelled.
void ContourTracing::begin(const char* part) const {
    agree(communicator_, [&] { control_.check(); });
    if (communicator_.rank() == 0)
        control_.report(part, 0, 1);
}

std::optional<distributed::Image> ContourTracing::read_tiles(RowSource& image,
                                                             const Grid& grid) const {
    std::optional<distributed::Image> tiles;
    agree(communicator_, [&] {
        control_.check();
        tiles = distributed::read_tiles(communicator_, grid, image);
    });
    return tiles;
}

ContoursResult ContourTracing::run(const distributed::Image& image, const LineSink& sink) {
    const CancellationScope cancellable(control_, communicator_.size());
    require_same(communicator_, options_);
    ContoursResult result;
    result.grid = image.grid();
    return run_in_memory(image, "direction map", sink, std::move(result));
}

ContoursResult ContourTracing::run_in_memory(distributed::Image image, const std::string& name,
                                             const LineSink& sink, ContoursResult result) const {
    begin("edges");
    timed(result.edges, [&] {
        image = options_.directions ? directions_from(image, name)
                                    : find_edges(image, options_, result);
    });
    begin("contours");
    LinearPart part;
    timed(result.ranking, [&] { part = trace(image, options_, result); });
    ContourLines lines;
    timed(result.ranking, [&] { lines = gather_lines(communicator_, result.grid, part); });
    give(communicator_, control_, result, [&] {
        result.contours = part.contours;
        result.points = part.points;
        result.closed = std::ranges::count_if(lines.lines, &ContourLine::closed);
        timed(result.simplification, [&] {
            if (options_.simplify)
                lines = simplified(lines, *options_.simplify);
        });
        result.written = static_cast<Elements>(lines.pixels.size());
        timed(result.write, [&] {
            LinesInMemory reader(lines);
            sink(reader);
        });
    });
    return result;
}

ContoursResult ContourTracing::run_in_strips(RowSource& image, const LineSink& sink,
                                             ContoursResult result) const {
    Grid grid = result.grid;
    grid.rows *= static_cast<int>(result.strips);
    const distributed::StripTiles tiles{grid, static_cast<int>(result.strips)};
    const distributed::StripWork work{communicator_, tiles, options_.scratch, control_};
    std::optional<distributed::BytePlane> edges;
    distributed::StripDirections directions = distributed::directions_in(work, image);
    if (!options_.directions) {
        timed(result.edges, [&] {
            result.thresholds =
                options_.thresholds
                    ? *options_.thresholds
                    : distributed::strip_quantiles(work, image, options_.sigma,
                                                   options_.quantiles.low, options_.quantiles.high);
            edges = distributed::strip_thinning(
                work, distributed::strip_edges(work, image, options_.sigma, *result.thresholds));
        });
        directions = distributed::directions_of(work, *edges);
    }
    std::optional<PointOrder> points; // only on rank 0
    timed(result.ranking, [&] {
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                points.emplace(options_.scratch, options_.memory / parts_of_memory);
        });
        result.junctions = distributed::rank_strips(work, directions, points ? &*points : nullptr);
    });
    give(communicator_, control_, result, [&] {
        timed(result.ranking, [&] { points->finish(options_.min_length); });
        result.contours = points->contours();
        result.points = points->points();
        result.closed = points->closed();
        timed(result.simplification, [&] {
            if (options_.simplify)
                points->simplify(image.shape(), *options_.simplify);
        });
        result.written = points->points();
        timed(result.write, [&] { sink(*points->reader(image.shape())); });
    });
    return result;
}

} // namespace sextant
