// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/report.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/operation/bench/growth.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/report/comparison.hpp"
#include "sextant/report/joined.hpp"
#include "sextant/report/otf2.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/trace_file.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr std::size_t most_traces = 16; // of more, nobody could tell the lanes apart

bool is_page(const std::string& path) {
    return path.ends_with(".html") || path.ends_with(".htm");
}

constexpr Bytes largest_page = Bytes{1} << 28;

bool is_of_benchmark(const std::string& path) {
    std::string head(256, ' ');
    format::SourceFile(path).read(std::as_writable_bytes(std::span(head)));
    return is_composite_bench(head);
}

/// How compositing grows, from benchmarks at several numbers of ranks.
int show_growth(const Values& values, const std::vector<std::string>& paths) {
    std::vector<GrowthPoint> points;
    report::Page page;
    for (const std::string& path : paths) {
        if (!is_of_benchmark(path))
            throw InvalidTask(fmt::format("{} is no file of bench composite --json as {} is", path,
                                          paths.front()));
        const std::vector<GrowthPoint> more = read_growth(read_text(path, largest_page), path);
        points.insert(points.end(), more.begin(), more.end());
        page.facts.push_back({"Results", path});
    }
    page.figures = growth_charts(points);
    if (page.figures.empty())
        throw InvalidTask(fmt::format("{}: expected results of more than one number of ranks or "
                                      "pixels",
                                      paths.front()));
    page.title = values.has("title") ? values.text("title") : "Sextant: how compositing grows";
    const std::string output = values.text("output");
    write_text(output, output.ends_with(".svg") ? page.figures.front().svg : report::render(page));
    return 0;
}

int join_pages(const Values& values, const std::vector<std::string>& paths) {
    std::vector<report::Document> pages;
    for (const std::string& path : paths) {
        if (!is_page(path))
            throw InvalidTask(fmt::format("{} is no page (.html) as the others are", path));
        pages.push_back(report::read_document(path, read_text(path, largest_page)));
    }
    const std::string title = values.has("title") ? values.text("title") : "Sextant: several runs";
    write_text(values.text("output"), to_html(report::joined(title, pages)));
    return 0;
}

int run_report(const Values& values) {
    const std::vector<std::string> paths = values.texts("traces");
    if (paths.size() > most_traces) {
        throw InvalidTask(
            fmt::format("{} files: expected {} or fewer on a page", paths.size(), most_traces));
    }
    for (const std::string& path : paths) {
        if (report::is_otf2(path))
            throw InvalidTask(fmt::format("{}: OTF2 is only written; expected a trace in JSON "
                                          "(--trace FILE.json)",
                                          path));
    }
    const std::string output = values.text("output");
    keep_inputs(paths, {&output, 1});
    check_outputs({&output, 1});
    if (is_page(paths.front()))
        return join_pages(values, paths);
    if (is_of_benchmark(paths.front()))
        return show_growth(values, paths);
    std::vector<report::Recording> recordings;
    for (const std::string& path : paths)
        recordings.push_back(report::read_trace(path));
    report::Page page = report::comparison(
        values.has("title") ? values.text("title") : "Sextant: runs compared", recordings);
    page.subtitle = report::counted(static_cast<std::int64_t>(paths.size()), "trace");
    for (std::size_t i = 0; i < paths.size(); ++i)
        page.facts.push_back({fmt::format("Trace {}", i + 1), paths[i]});
    page.facts.push_back({"Made", fmt::format("{}, {}", host(), date())});
    write_text(output, report::render(page));
    return 0;
}

} // namespace

Operation report_operation() {
    return {"report",
            "runs, predictions and simulations on one page: of their traces, or of their pages",
            "  sextant composite part*.exr -o frame.exr --trace measured.json\n"
            "  sextant simulate --ranks 8 --platform crossbar-12 --trace simulated.json\n"
            "  sextant report measured.json simulated.json -o page.html\n"
            "  sextant report composite.html series.html -o both.html\n"
            "  sextant report on_2_ranks.json on_4.json on_8.json -o growth.html",
            {{.name = "traces",
              .type = Type::files,
              .value = "TRACE...",
              .help = "files of --trace, pages of --report, or of bench composite --json",
              .positional = true,
              .required = true},
             {.name = "output",
              .type = Type::file,
              .value = "OUT",
              .help = "the page (HTML), or of benchmarks a chart (SVG); - for standard output",
              .letter = 'o',
              .required = true},
             {.name = "title", .value = "TEXT", .help = "what stands above it"}},
            run_report,
            true};
}

} // namespace sextant::operation
