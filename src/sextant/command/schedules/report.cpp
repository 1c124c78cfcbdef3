// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/report.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct ReportCommand {
    std::vector<std::string> traces;
    std::string output, title;

    std::string title_or(const char* usual) const { return title.empty() ? usual : title; }
};

Record record_of(ReportCommand& command) {
    Record record;
    record
        .add("traces", command.traces, "TRACE...",
             "traces, pages (--report), or results of bench composite --json")
        .file()
        .positional()
        .required();
    declare_output(record, command.output, "OUT",
                   "the page (HTML), or a chart of benchmarks (SVG); - for standard output");
    record.add("title", command.title, "TEXT", "title of the page");
    return record;
}

Effects effects_of(ReportCommand& command) {
    return {{{"title"}, "a chart (SVG) has its own title", [&] {
                 return !command.output.ends_with(".svg");
             }}};
}

constexpr std::size_t most_traces = 16; // with more traces, lanes could not be distinguished

bool is_page(const std::string& path) {
    return path.ends_with(".html") || path.ends_with(".htm");
}

constexpr Bytes largest_page = Bytes{1} << 28;

bool is_of_benchmark(const std::string& path) {
    std::string head(256, ' ');
    format::SourceFile(path).read(std::as_writable_bytes(std::span(head)));
    return is_composite_bench(head);
}

/// Writes charts of compositing time over ranks and pixels, from benchmarks with several numbers of
/// ranks.
int show_growth(const ReportCommand& command) {
    const std::vector<std::string>& paths = command.traces;
    std::vector<GrowthPoint> points;
    report::Page page;
    for (const std::string& path : paths) {
        if (!is_of_benchmark(path))
            throw InvalidTask(fmt::format("{} is not a result of bench composite --json, but {} is",
                                          path, paths.front()));
        const std::vector<GrowthPoint> more = read_growth(read_text(path, largest_page), path);
        points.insert(points.end(), more.begin(), more.end());
        page.facts.push_back({"Results", path});
    }
    page.figures = growth_charts(points);
    if (page.figures.empty())
        throw InvalidData(fmt::format(
            "{}: expected positive CPU times for two or more different numbers of ranks or pixels",
            paths.front()));
    page.title = command.title_or("Sextant: scaling of compositing");
    write_text(command.output,
               command.output.ends_with(".svg") ? page.figures.front().svg : report::render(page));
    return 0;
}

int join_pages(const ReportCommand& command) {
    std::vector<report::Document> pages;
    for (const std::string& path : command.traces) {
        if (!is_page(path))
            throw InvalidTask(fmt::format("{} is not a page (.html), but the first file is", path));
        pages.push_back(report::read_document(path, read_text(path, largest_page)));
    }
    write_text(command.output,
               to_html(report::joined(command.title_or("Sextant: several runs"), pages)));
    return 0;
}

int run_report(const ReportCommand& command, const Call&) {
    const std::vector<std::string>& paths = command.traces;
    if (paths.size() > most_traces) {
        throw InvalidTask(fmt::format("{} files: expected at most {}", paths.size(), most_traces));
    }
    const std::string& output = command.output;
    check_outputs({&output, 1}, paths);
    if (is_of_benchmark(paths.front()))
        return show_growth(command);
    if (output.ends_with(".svg"))
        throw InvalidTask(fmt::format(
            "{}: runs are compared on a page, expected a name that ends in .html", output));
    if (is_page(paths.front()))
        return join_pages(command);
    std::vector<report::Recording> recordings;
    for (const std::string& path : paths)
        recordings.push_back(report::read_trace(path));
    report::Page page = report::comparison(command.title_or("Sextant: runs compared"), recordings);
    page.subtitle = report::counted(static_cast<std::int64_t>(paths.size()), "trace");
    for (std::size_t i = 0; i < paths.size(); ++i)
        page.facts.push_back({fmt::format("Trace {}", i + 1), paths[i]});
    page.facts.push_back({"Made", fmt::format("{}, {}", host(), date())});
    write_text(output, report::render(page));
    return 0;
}

} // namespace

Operation report_operation() {
    return declare_command<ReportCommand>(
        "report", "compare runs, predictions and simulations on one page",
        "  sextant composite part*.exr -o frame.exr --trace measured.json\n"
        "  sextant simulate --ranks 8 --platform crossbar-12 --trace simulated.json\n"
        "  sextant report measured.json simulated.json -o page.html\n"
        "  sextant report composite.html series.html -o both.html\n"
        "  sextant report on_2_ranks.json on_4.json on_8.json -o growth.html",
        run_report, RunOn::one_rank);
}

namespace {

constexpr std::size_t most_colours = 24; // the number of different colours

/// Returns a configuration's name without radices, which vary with the number of ranks.
std::string configuration_of(const JsonField& result) {
    std::string name = result.at("name").text();
    const std::string tuning = result.text_or_empty("tuning");
    const std::string transport = result.text_or_empty("transport");
    if (tuning.starts_with("window"))
        name += ", " + tuning;
    return transport.empty() ? name : name + ", " + transport;
}

/// A chart: the quantity on the horizontal axis, and the quantity that all its points have in
/// common.
struct View {
    const char* over;
    double (*place)(const GrowthPoint&);
    double (*common)(const GrowthPoint&);
    std::string (*subtitle)(double common);
};

std::string whole(double value) {
    return report::grouped(std::llround(value));
}

std::string seconds_to_text(double seconds) {
    return report::to_text(Seconds{seconds});
}

constexpr View views[] = {
    {"ranks", [](const GrowthPoint& point) { return static_cast<double>(point.ranks); },
     [](const GrowthPoint& point) { return point.pixels; },
     [](double pixels) { return whole(pixels) + " pixels"; }},
    {"pixels", [](const GrowthPoint& point) { return point.pixels; },
     [](const GrowthPoint& point) { return static_cast<double>(point.ranks); },
     [](double ranks) { return report::counted(std::llround(ranks), "rank"); }},
};

report::LogChart::Kind kind_of(const View& view, const std::string& configuration, double common,
                               const std::vector<GrowthPoint>& points) {
    report::LogChart::Kind kind{.name = configuration, .joined = true};
    for (const GrowthPoint& point : points) {
        if (point.configuration == configuration && view.common(point) == common)
            kind.points.push_back(
                {view.place(point), point.cpu,
                 fmt::format("{}: {}, {} {}", configuration, seconds_to_text(point.cpu),
                             whole(view.place(point)), view.over)});
    }
    return kind;
}

report::Figure chart_of(const View& view, double common,
                        const std::vector<std::string>& configurations,
                        const std::vector<GrowthPoint>& points) {
    report::LogChart chart{.title = fmt::format("Compositing over {}", view.over),
                           .subtitle = view.subtitle(common) + "; CPU time of all ranks together",
                           .x_name = view.over,
                           .y_name = "CPU time",
                           .x_text = whole,
                           .y_text = seconds_to_text};
    for (const std::string& configuration : configurations)
        chart.kinds.push_back(kind_of(view, configuration, common, points));
    return {report::log_chart(chart), ""};
}

std::set<double> values_of(double (*value)(const GrowthPoint&),
                           const std::vector<GrowthPoint>& points) {
    std::set<double> values;
    for (const GrowthPoint& point : points)
        values.insert(value(point));
    return values;
}

/// Returns the configurations in order of appearance, at most `most_colours`.
std::vector<std::string> gates_in(const std::vector<GrowthPoint>& points) {
    std::vector<std::string> configurations;
    for (const GrowthPoint& point : points) {
        if (std::find(configurations.begin(), configurations.end(), point.configuration) ==
            configurations.end())
            configurations.push_back(point.configuration);
    }
    configurations.resize(std::min(configurations.size(), most_colours));
    return configurations;
}

} // namespace

bool is_composite_bench(std::string_view text) {
    const std::size_t head = text.find("\"operation\"");
    const std::size_t name = text.find("\"bench composite\"");
    return head < 16 && name < 64;
}

std::vector<GrowthPoint> read_growth(const std::string& text, const std::string& path) {
    const JsonField file = JsonField::parse(text, path);
    const int ranks = static_cast<int>(file.at("ranks").integer(1, 1 << 30));
    std::vector<GrowthPoint> points;
    for (const JsonField& one : file.at("cases").items()) {
        constexpr std::int64_t most = 1 << 30;
        const double pixels = static_cast<double>(one.at("width").integer(1, most)) *
                              static_cast<double>(one.at("height").integer(1, most));
        std::set<std::string> seen; // only the first result, with default radices, is kept
        for (const JsonField& result : one.at("results").items()) {
            const bool of_mpi = result.at("baseline").boolean();
            if (of_mpi || result.at("sparse").boolean() ||
                !seen.insert(configuration_of(result)).second)
                continue;
            const JsonField median = result.at("cpu_seconds").at("median");
            points.push_back(
                {configuration_of(result), ranks, pixels, median.number(0, JsonField::most)});
        }
    }
    return points;
}

std::vector<report::Figure> growth_charts(const std::vector<GrowthPoint>& points) {
    const std::vector<std::string> configurations = gates_in(points);
    std::vector<report::Figure> charts;
    for (const View& view : views) {
        if (values_of(view.place, points).size() < 2)
            continue;
        const std::set<double> all = values_of(view.common, points);
        for (auto common = all.rbegin(); common != all.rend(); ++common) {
            report::Figure chart = chart_of(view, *common, configurations, points);
            if (!chart.svg.empty()) // empty if no CPU time is positive
                charts.push_back(std::move(chart));
        }
    }
    return charts;
}

} // namespace sextant::command
