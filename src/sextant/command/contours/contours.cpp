// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/contours/contours.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/line_formats.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The options of `sextant contours`.
struct ContoursCommand {
    SourceChoice source;
    std::string output;
    ContoursOptions contours = {.merging = {.probing = planner::Probing::now}};
    std::optional<std::int64_t> ranks;
    Reports reports;
};

Record record_of(ContoursCommand& command) {
    Record record =
        record_of(command.source, "a grey image, or a series with --frame (docs/frames.md)");
    declare_output(record, command.output, "OUT",
                   "file of the ordered contours: .geojson, .svg, .csv or .npy");
    Record contours = record_of(command.contours);
    contours.without("scratch").without("timeline");
    offer_no_probe(contours, command.contours.merging.probing);
    record.include(std::move(contours));
    declare_ranks(record, command.ranks, "one per tile of --grid, or one per core");
    return record.include(record_of(command.reports));
}

Effects effects_of(ContoursCommand& command) {
    Effects effects = with_no_probe(sextant::effects_of(command.contours));
    effects.push_back(effect_of_merging(command.ranks, command.contours.grid));
    effects.push_back(effect_of_external({command.source.image}));
    return effects;
}

/// Facts about a run, to be printed or shown on its report page.
struct Summary {
    const ContoursCommand& command;
    std::string transport;
    int ranks = 1;
    ContoursResult result = {};
    GatheredMerging merging = {};       ///< set only for a report page
    report::OutlinedPicture shown = {}; ///< set only for a report page
    std::vector<std::string> warnings = {};
};

std::string merged_text(const std::optional<distributed::MergingPlan>& plan) {
    return plan ? fmt::format(", merged by {}", plan->text()) : "";
}

std::string edges_text(const Summary& summary) {
    const ContoursResult& result = summary.result;
    if (!result.thresholds)
        return "a direction map";
    return fmt::format("sigma {}, gradient thresholds {:.6g} (low) and {:.6g} (high){}",
                       summary.command.contours.sigma, result.thresholds->low,
                       result.thresholds->high, merged_text(result.hysteresis));
}

std::string simplified_text(const Summary& summary) {
    const std::optional<double>& tolerance = summary.command.contours.simplify;
    return tolerance ? fmt::format(", simplified to {} within {} px",
                                   report::counted(summary.result.written, "point"), *tolerance)
                     : "";
}

std::string found_text(const Summary& summary) {
    const ContoursResult& result = summary.result;
    return fmt::format("{} of {}, {} closed{}", report::counted(result.contours, "contour"),
                       report::counted(result.points, "point"), result.closed,
                       simplified_text(summary));
}

std::vector<report::Fact> facts_of(const Summary& summary) {
    const ContoursResult& result = summary.result;
    std::vector<report::Fact> facts = {
        {"Image", fmt::format("{}x{} pixels", result.grid.width, result.grid.height)},
        {"Found", found_text(summary)},
        {"Edges", edges_text(summary)},
        {"Links cut", fmt::format("{} at {}", report::grouped(result.junctions.cut),
                                  report::counted(result.junctions.junctions, "junction"))},
        {"Tiles", fmt::format("{}x{} on {}", result.grid.columns, result.grid.rows,
                              ranks_text(summary.ranks, summary.transport))}};
    if (result.plan) {
        facts.push_back({"Merged by", result.plan->text()});
        facts.push_back({"Why", result.plan->reason});
    } else {
        facts.push_back({"Strips", fmt::format("{}, merged one after another", result.strips)});
    }
    add_provenance(facts, summary.warnings);
    return facts;
}

std::vector<report::Phase> phases_of(const Summary& summary) {
    const ContoursResult& result = summary.result;
    std::vector<report::Phase> phases = {
        {"read", result.read}, {"edges", result.edges}, {"rank", result.ranking}};
    if (summary.command.contours.simplify)
        phases.push_back({"simplify", result.simplification});
    phases.push_back({"write", result.write});
    return phases;
}

std::string to_page(const Summary& summary) {
    const ContoursResult& result = summary.result;
    report::Page page;
    page.title = "Sextant: " + summary.command.output;
    page.subtitle = fmt::format("{}: {}", summary.command.source.image, found_text(summary));
    page.shown = {outlines_section(summary.shown)};
    page.facts = facts_of(summary);
    page.phases = phases_of(summary);
    if (result.plan)
        page.sections = merging_sections(*result.plan, summary.merging);
    return report::render(page);
}

std::string to_text(const Summary& summary) {
    const ContoursResult& result = summary.result;
    std::string text =
        fmt::format("{}: {}; {} with {} cut links\n", summary.command.output, found_text(summary),
                    report::counted(result.junctions.junctions, "junction"),
                    report::grouped(result.junctions.cut));
    if (result.thresholds)
        text += fmt::format("edges {}\n", edges_text(summary));
    text += fmt::format(
        "{}x{} pixels in {}x{} tiles on {}, {}\n", result.grid.width, result.grid.height,
        result.grid.columns, result.grid.rows, ranks_text(summary.ranks, summary.transport),
        result.plan ? fmt::format("merged by {} ({})", result.plan->text(), result.plan->reason)
                    : fmt::format("in each of {} strips, which are merged one after another",
                                  result.strips));
    return text + phases_text(phases_of(summary));
}

std::string to_json(const Summary& summary) {
    const ContoursCommand& command = summary.command;
    const bool traces_edges = summary.result.thresholds.has_value();
    Record record = results_of("contours");
    record.include({{"image", command.source.image}, {"output", command.output}})
        .include(record_of(summary.result))
        .include({{"sigma", traces_edges ? Json(command.contours.sigma) : Json()}}, "height")
        .include(
            {{"min_length", command.contours.min_length},
             {"simplify", command.contours.simplify ? Json(*command.contours.simplify) : Json()}},
            "thresholds")
        .include({{"ranks", summary.ranks}, {"transport", summary.transport}}, "strips")
        .include(provenance_of_run(summary.warnings));
    return sextant::to_json(record);
}

/// Traces contours on one rank. Only rank 0 writes files.
void trace_contours(const ContoursCommand& command, const Call& call,
                    const Communicator& communicator) {
    const bool writes = communicator.rank() == 0, shows = !command.reports.report.empty();
    Progress progress(writes);
    const auto show = [&](std::string_view part, std::int64_t done, std::int64_t all) {
        all == 1 ? progress.say(part) : progress.say(part, done, all);
    };
    Summary summary{command, transport_of(communicator), communicator.size()};
    ContoursOptions options = command.contours;
    options.scratch = command.output;
    options.merging.timeline = shows;
    std::unique_ptr<RowSource> image;
    std::optional<ContourTracing> tracing;
    agree(communicator, [&] {
        format::line_format_of(command.output);
        image = open_image(command.source);
        summary.warnings = image->header().remarks;
        tracing.emplace(communicator, options, RunControl{.progress = show});
        if (!writes)
            return;
        const auto outputs =
            files_named({command.output, command.reports.json, command.reports.report});
        check_outputs(outputs, files_read(command.source, options.merging.machine, outputs));
    });
    std::optional<TraceClocks> clocks;
    if (shows)
        clocks.emplace(communicator);
    JointCommit together;
    const auto trace = [&] {
        summary.result = tracing->run(*image, [&](LineReader& contours) {
            format::line_format_of(command.output).write(command.output, contours);
            if (!shows)
                return;
            contours.rewind();
            summary.shown = outlined(contours);
        });
    };
    naming_options(record_of(options), [&] { naming_data(command.source.image, trace); });
    if (summary.result.merging)
        summary.merging = gather_merging(communicator, *clocks, *summary.result.merging);
    for (const char* option : {"pattern", "machine", "no_probe"}) {
        if (summary.result.strips > 1 && call.has(option))
            summary.warnings.push_back(
                fmt::format("{} has no effect: {} strips are merged one after another",
                            call.options.find(option)->called(), summary.result.strips));
    }
    agree(communicator, [&] {
        if (!writes)
            return;
        progress.clear();
        if (shows)
            summary.shown.png = overview_of(*image).png();
        write_reports(command.reports, summary.warnings, to_json(summary), to_text(summary),
                      shows ? to_page(summary) : "");
        together.commit();
    });
}

int run_contours(const ContoursCommand& command, const Call& call) {
    launch_tiles(call, command.contours.grid, [&](const Communicator& communicator) {
        trace_contours(command, call, communicator);
    });
    return 0;
}

constexpr std::size_t most_outlines = 24;
constexpr Elements most_points = 2'000; // points per contour on a page: about 10 kB

/// Reads the points of the next contour. Keeps every n-th point and the last one.
report::Outline read_outline(LineReader& lines, const ContourLine& line) {
    const Elements every = (line.points + most_points - 1) / most_points;
    report::Outline outline{{}, line.points, line.closed};
    for (Elements k = 0; k < line.points; ++k) {
        const Elements pixel = lines.next_pixel();
        if (k % every == 0 || k == line.points - 1)
            outline.points.push_back({pixel % lines.image().width, pixel / lines.image().width});
    }
    return outline;
}

/// Inserts a contour into a list ordered by length, after others of the same length. Drops the
/// shortest contour if the list is too long.
void insert(std::vector<report::Outline>& longest, report::Outline&& outline) {
    const auto place = std::upper_bound(
        longest.begin(), longest.end(), outline.length,
        [](Elements length, const report::Outline& each) { return length > each.length; });
    longest.insert(place, std::move(outline));
    if (longest.size() > most_outlines)
        longest.pop_back();
}

} // namespace

Operation contours_operation() {
    return declare_command<ContoursCommand>(
        "contours", "find the edges of an image, and write them as ordered contours",
        "  sextant contours coast.png -o coast.svg --sigma 2 --min-length 20\n"
        "  mpirun -n 2 sextant contours codes.npy -o ranks.npy --directions",
        run_contours);
}

report::OutlinedPicture outlined(LineReader& lines) {
    report::OutlinedPicture picture{.title = "The longest contours",
                                    .width = lines.image().width,
                                    .height = lines.image().height};
    Elements count = 0;
    for (ContourLine line; lines.next(line); ++count)
        insert(picture.outlines, read_outline(lines, line));
    picture.caption = fmt::format("The longest {} of {}.", picture.outlines.size(),
                                  report::counted(count, "contour"));
    if (!picture.outlines.empty() && picture.outlines.front().length > most_points)
        picture.caption += fmt::format(" At most {} points of each are drawn.", most_points);
    return picture;
}

} // namespace sextant::command
