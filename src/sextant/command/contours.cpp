// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/contours.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/distributed/strip_contours.hpp"
#include "sextant/distributed/tile_borders.hpp"
#include "sextant/format/line_formats.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

int run_contours(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        ContoursRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    return {{.name = "image",
             .type = Type::file,
             .value = "IMAGE",
             .help = "a gray image, or a series with --frame (docs/frames.md)",
             .positional = true,
             .required = true},
            {.name = "output",
             .type = Type::file,
             .value = "OUT",
             .help = "points of contours in order: .geojson, .svg, .csv or .npy",
             .letter = 'o',
             .required = true},
            {.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "scale of the gradient, .5 to 1000",
             .least = kernel::smallest_sigma,
             .most = kernel::largest_sigma},
            {.name = "quantiles",
             .value = "LOW,HIGH",
             .fallback = ".8,.95",
             .help = "edges begin above HIGH of all gradients, and go on above LOW"},
            {.name = "thresholds",
             .value = "LOW,HIGH",
             .help = "the same as lengths of gradients, in samples a pixel"},
            {.name = "directions",
             .type = Type::flag,
             .help = "the image is a map of directions (docs/contours.md)"},
            {.name = "min-length",
             .type = Type::integer,
             .value = "POINTS",
             .fallback = "1",
             .help = "shorter contours are left out",
             .least = 1,
             .most = most_count},
            memory_parameter("4096", "for the image and what is made of it; larger ones stream"),
            frame_parameter(),
            channel_parameter(),
            slice_parameter(),
            external_parameter(),
            ranks_parameter(),
            grid_parameter(),
            pattern_parameter(),
            machine_parameter(),
            no_probe_parameter(),
            report_parameter(),
            json_parameter()};
}

} // namespace

Operation contours_operation() {
    return {"contours", "edges of an image as contours, each point in order, in tiles over ranks",
            "  sextant contours coast.png -o coast.svg --sigma 2 --min-length 20\n"
            "  mpirun -n 2 sextant contours codes.npy -o ranks.npy --directions",
            parameters(), run_contours};
}

namespace {

/// Memory per pixel, if every pixel is an edge point, as a direction map may have it: the points
/// that are moved, three times; ranks; and codes.
constexpr Bytes bytes_a_pixel = 100;
/// Memory per column: the codes around a strip that is thinned.
constexpr Bytes bytes_beside_strips = 160;
/// One part in this many of the memory is for sorting points; the rest is for strips.
constexpr Bytes share_of_order = 4;

/// The largest gradient threshold; samples are floats.
constexpr double most_threshold = 1e38;

kernel::EdgeThresholds thresholds_given(const Values& values) {
    const LowHigh given = low_high("thresholds", values.text("thresholds"), most_threshold);
    return {given.low, given.high};
}

} // namespace

LowHigh low_high(std::string_view option, const std::string& text, double most) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view all = text;
    const auto low = parsed_number<double>(all.substr(0, comma));
    const auto high = parsed_number<double>(all.substr(std::min(comma + 1, all.size())));
    if (!low || !high || *low < 0 || *high > most)
        throw InvalidTask(fmt::format("--{} {}: expected two numbers, LOW,HIGH, from 0 to {:g}",
                                      option, shortened(text), most));
    return {*low, *high};
}

ContoursRun::ContoursRun(const Values& values, Communicator communicator)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0) {}

void ContoursRun::run() {
    agree(communicator_, [&] { open(); });
    if (summary_.strips == 1)
        run_in_memory();
    else
        run_in_strips();
    agree(communicator_, [&] {
        if (tells())
            report();
    });
}

void ContoursRun::run_in_memory() {
    std::optional<distributed::Image> image;
    timed(summary_.read, [&] { image = read(); });
    progress_.say("edges");
    timed(summary_.edges, [&] { image = directions_of(*image); });
    progress_.say("contours");
    LinearPart part;
    timed(summary_.rank, [&] { part = rank_contours(*image); });
    timed(summary_.write, [&] { write(part); });
}

/// Checks the parameters before any computation. Only rank 0 writes files.
void ContoursRun::open() {
    summary_.image = values_.text("image");
    summary_.output = values_.text("output");
    summary_.min_length = values_.integer("min-length");
    summary_.ranks = communicator_.size();
    summary_.transport = transport_of(communicator_);
    if (values_.flag("directions"))
        refuse_given(values_, {"sigma", "quantiles", "thresholds"},
                     "--directions has no gradients");
    if (values_.has("thresholds")) {
        refuse_given(values_, {"quantiles"}, "--thresholds says where edges begin");
        low_high("thresholds", values_.text("thresholds"), most_threshold);
    }
    low_high("quantiles", values_.text("quantiles"), 1);
    format::line_format_of(summary_.output);
    merging_request(values_).check();
    source_ = open_image(values_);
    summary_.warnings = source_->header().remarks;
    find_strips();
    if (!tells())
        return;
    const auto outputs = files_given(values_, {"output", "json", "report"});
    keep_inputs(files_read(values_), outputs);
    check_outputs(outputs);
}

/// Chooses strips that fit in memory; one strip if the whole image does.
void ContoursRun::find_strips() {
    const ImageShape image = source_->shape();
    const Bytes memory = values_.integer("memory") << 20;
    summary_.grid = grid_of(values_, image, communicator_.size());
    if (image.elements() * bytes_a_pixel <= memory)
        return;
    const Elements reach =
        values_.flag("directions") ? 0 : kernel::EdgeFinder(values_.number("sigma")).margin();
    const Bytes beside = image.width * (2 * reach * source_->element().size + bytes_beside_strips);
    const Elements rows =
        (memory - memory / share_of_order - beside) / (image.width * bytes_a_pixel);
    if (rows < 1)
        throw InvalidTask(fmt::format(
            "--memory {}: a row of {} pixels and those that are read "
            "around it take {} MiB",
            values_.integer("memory"), image.width,
            ((image.width * bytes_a_pixel + beside) * share_of_order / (share_of_order - 1) >> 20) +
                1));
    summary_.strips = (image.height + rows - 1) / rows;
    summary_.grid = grid_of(values_, {image.width, rows}, communicator_.size());
    summary_.grid.height = image.height;
    if (values_.text("pattern") != "auto")
        summary_.warnings.push_back(
            fmt::format("--pattern {} has no effect: {} strips are merged one after another",
                        values_.text("pattern"), summary_.strips));
}

distributed::Image ContoursRun::read() {
    std::optional<distributed::Image> image;
    agree(communicator_, [&] {
        image = distributed::read_tiles(communicator_, summary_.grid, *source_);
        if (values_.flag("directions"))
            image = distributed::directions_from(*image, summary_.image);
    });
    return *image;
}

distributed::Image ContoursRun::directions_of(const distributed::Image& image) {
    if (values_.flag("directions"))
        return image;
    summary_.sigma = values_.number("sigma");
    summary_.thresholds = thresholds_of(image);
    return edge_directions(image, summary_.sigma, *summary_.thresholds,
                           [&](Elements entries) -> const contour::Pattern& {
                               summary_.hysteresis = distributed::planned_merging(
                                   communicator_, merging_request(values_), image.grid(), entries,
                                   sizeof(contour::BorderPixel));
                               return *summary_.hysteresis->pattern;
                           });
}

kernel::EdgeThresholds ContoursRun::thresholds_of(const distributed::Image& image) {
    if (values_.has("thresholds"))
        return thresholds_given(values_);
    const LowHigh shares = low_high("quantiles", values_.text("quantiles"), 1);
    return quantiles_of(image, summary_.sigma, shares.low, shares.high);
}

LinearPart ContoursRun::rank_contours(const distributed::Image& directions) {
    const Grid& grid = directions.grid();
    kernel::ContourRanking ranking;
    const distributed::Padded padded = distributed::with_margin(directions, 2);
    agree(communicator_, [&] {
        ranking.apply({reinterpret_cast<const kernel::Direction*>(padded.pixels.data()),
                       padded.held.width, padded.held, directions.shape()},
                      directions.tile());
    });
    count(ranking);
    summary_.plan = distributed::planned_merging(communicator_, merging_request(values_), grid,
                                                 static_cast<Elements>(ranking.entries().size()),
                                                 sizeof(contour::Crossing));
    MergingRecord record;
    const bool shows = values_.has("report");
    std::optional<TraceClocks> clocks;
    if (shows)
        clocks.emplace(communicator_);
    const ContoursOfTile contours = merge_contours(
        communicator_, grid, ranking, *summary_.plan->pattern, shows ? &record : nullptr);
    if (shows)
        summary_.merging = gather_merging(communicator_, *clocks, record);
    return linearize(communicator_, grid, ranking, contours, summary_.min_length);
}

/// Each junction is counted by the tile that it lies in, each cut link by the tile of its point.
void ContoursRun::count(const kernel::ContourRanking& ranking) {
    struct Counts {
        Elements junctions, cut;
    };
    for (const Counts& of_rank :
         communicator_.all_gather(Counts{ranking.junctions(), ranking.cut()})) {
        summary_.junctions += of_rank.junctions;
        summary_.cut += of_rank.cut;
    }
}

void ContoursRun::write(const LinearPart& part) {
    summary_.contours = part.contours;
    summary_.points = part.points;
    const ContourLines lines = gather_lines(communicator_, summary_.grid, part);
    agree(communicator_, [&] {
        if (!tells())
            return;
        summary_.closed = std::count_if(lines.lines.begin(), lines.lines.end(),
                                        [](const ContourLine& line) { return line.closed; });
        write([&] { return std::make_unique<LinesInMemory>(lines); });
    });
}

distributed::StripTiles ContoursRun::strip_tiles() const {
    Grid grid = summary_.grid;
    grid.rows *= static_cast<int>(summary_.strips);
    return {grid, static_cast<int>(summary_.strips)};
}

kernel::EdgeThresholds ContoursRun::strip_thresholds(const distributed::StripWork& work) {
    if (values_.has("thresholds"))
        return thresholds_given(values_);
    const LowHigh shares = low_high("quantiles", values_.text("quantiles"), 1);
    return distributed::strip_quantiles(work, *source_, summary_.sigma, shares.low, shares.high);
}

distributed::BytePlane ContoursRun::strip_edges_of(const distributed::StripWork& work) {
    summary_.sigma = values_.number("sigma");
    summary_.thresholds = strip_thresholds(work);
    return distributed::strip_thinning(
        work, distributed::strip_edges(work, *source_, summary_.sigma, *summary_.thresholds));
}

void ContoursRun::run_in_strips() {
    const distributed::StripTiles tiles = strip_tiles();
    const distributed::StripWork work{communicator_, tiles, summary_.output, progress_};
    std::optional<distributed::BytePlane> edges;
    distributed::StripDirections directions = distributed::directions_in(work, *source_);
    if (!values_.flag("directions")) {
        timed(summary_.edges, [&] { edges = strip_edges_of(work); });
        directions = distributed::directions_of(work, *edges);
    }
    std::optional<distributed::PointOrder> points;
    timed(summary_.rank, [&] {
        agree(communicator_, [&] {
            if (tells())
                points.emplace(summary_.output, (values_.integer("memory") << 20) / share_of_order);
        });
        const distributed::Junctions found =
            distributed::rank_strips(work, directions, points ? &*points : nullptr);
        summary_.junctions = found.junctions;
        summary_.cut = found.cut;
    });
    timed(summary_.write, [&] {
        agree(communicator_, [&] {
            if (tells())
                write(*points);
        });
    });
}

void ContoursRun::write(distributed::PointOrder& points) {
    points.finish(summary_.min_length);
    summary_.contours = points.contours();
    summary_.points = points.points();
    summary_.closed = points.closed();
    write([&] { return points.reader(source_->shape()); });
}

void ContoursRun::write(const std::function<std::unique_ptr<LineReader>()>& lines) {
    format::line_format_of(summary_.output).write(summary_.output, *lines());
    if (values_.has("report"))
        summary_.shown = outlined(*lines());
}

void ContoursRun::report() {
    progress_.clear();
    if (values_.has("report"))
        summary_.shown.png = overview_of(*source_).png();
    tell_run(values_, summary_.warnings, to_json(summary_), to_text(summary_),
             values_.has("report") ? to_page(summary_) : "");
}

} // namespace sextant::command
