// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contours_run.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/contour/frontier.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/margins.hpp"
#include "sextant/format/line_catalogue.hpp"
#include "sextant/operation/direction_map.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/overview.hpp"
#include "sextant/operation/tiled.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

LowHigh low_high(std::string_view option, const std::string& text) {
    std::istringstream numbers(text);
    LowHigh made;
    char comma = 0;
    if (!(numbers >> made.low >> comma >> made.high) || comma != ',' || !(numbers >> std::ws).eof())
        throw InvalidTask(fmt::format("--{} {}: expected two numbers, LOW,HIGH", option, text));
    return made;
}

ContoursRun::ContoursRun(const Values& values, Communicator communicator)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0) {}

void ContoursRun::run() {
    agree(communicator_, [&] { open(); });
    std::optional<distributed::Image> image;
    timed(summary_.read, [&] { image = read(); });
    progress_.say("edges");
    timed(summary_.edges, [&] { image = directions_of(*image); });
    progress_.say("contours");
    LinearPart part;
    timed(summary_.rank, [&] { part = rank_contours(*image); });
    timed(summary_.write, [&] { write(part); });
    agree(communicator_, [&] {
        if (tells())
            report();
    });
}

/// All that can be known to go wrong before anything is computed. Only rank 0 writes.
void ContoursRun::open() {
    summary_.image = values_.text("image");
    summary_.output = values_.text("output");
    summary_.min_length = values_.integer("min-length");
    summary_.ranks = communicator_.size();
    summary_.transport = communicator_.shares_memory() ? "threads" : mpi_of_build();
    if (values_.has("thresholds"))
        low_high("thresholds", values_.text("thresholds"));
    low_high("quantiles", values_.text("quantiles"));
    format::line_format_of(summary_.output);
    check_pattern(values_);
    source_ = open_image(values_);
    summary_.warnings = source_->header().remarks;
    summary_.grid = grid_of(values_, source_->shape(), communicator_.size());
    std::vector<std::string> outputs = {summary_.output};
    for (const char* name : {"json", "report"}) {
        if (values_.has(name))
            outputs.push_back(values_.text(name));
    }
    if (tells())
        check_outputs(outputs);
}

distributed::Image ContoursRun::read() {
    std::optional<distributed::Image> image;
    agree(communicator_, [&] {
        image = distributed::read_tiles(communicator_, summary_.grid, *source_);
        if (values_.flag("directions"))
            image = directions_from(*image, summary_.image);
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
                               summary_.hysteresis =
                                   planned_merging(communicator_, values_, image.grid(), entries,
                                                   sizeof(contour::BorderPixel));
                               return *summary_.hysteresis->pattern;
                           });
}

kernel::EdgeThresholds ContoursRun::thresholds_of(const distributed::Image& image) {
    if (values_.has("thresholds")) {
        const LowHigh given = low_high("thresholds", values_.text("thresholds"));
        return {given.low, given.high};
    }
    const LowHigh shares = low_high("quantiles", values_.text("quantiles"));
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
    summary_.plan =
        planned_merging(communicator_, values_, grid,
                        static_cast<Elements>(ranking.entries().size()), sizeof(contour::Crossing));
    MergingRecord record;
    const bool shows = values_.has("report");
    const ContoursOfTile contours = merge_contours(
        communicator_, grid, ranking, *summary_.plan.pattern, shows ? &record : nullptr);
    if (shows)
        summary_.merging = gather_merging(communicator_, record);
    return linearize(communicator_, grid, ranking, contours, summary_.min_length);
}

/// A junction is counted by the tile that it lies in, a link that is cut by that of its point.
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
        format::line_format_of(summary_.output).write(summary_.output, lines);
        if (values_.has("report"))
            summary_.shown = outlined(lines);
    });
}

void ContoursRun::report() {
    progress_.clear();
    for (const std::string& warning : summary_.warnings)
        std::fputs(fmt::format("sextant: warning: {}\n", warning).c_str(), stderr);
    if (values_.has("json"))
        write_text(values_.text("json"), to_json(summary_) + "\n");
    if (values_.has("report")) {
        summary_.shown.png = overview_of(*source_).png();
        write_text(values_.text("report"), to_page(summary_));
    }
    if (values_.text("json") != standard_output && values_.text("report") != standard_output)
        std::fputs(to_text(summary_).c_str(), stdout);
}

} // namespace sextant::operation
