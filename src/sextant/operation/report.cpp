// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/report.hpp"

#include "sextant/core/error.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/report/comparison.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/trace_file.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr std::size_t most_traces = 16; // of more, nobody could tell the lanes apart

int run_report(const Values& values) {
    const std::vector<std::string> paths = values.texts("traces");
    if (paths.size() > most_traces) {
        throw InvalidTask(
            fmt::format("{} traces: expected {} or fewer on a page", paths.size(), most_traces));
    }
    const std::string output = values.text("output");
    check_outputs({&output, 1});
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
            "runs, predictions and simulations beside each other: a page of their traces",
            "  sextant composite *.exr -o frame.exr --trace measured.json\n"
            "  sextant simulate --ranks 8 --platform crossbar-12 --trace simulated.json\n"
            "  sextant report measured.json simulated.json -o page.html",
            {{.name = "traces",
              .type = Type::files,
              .value = "TRACE...",
              .help = "files that --trace wrote (docs/trace.md)",
              .positional = true,
              .required = true},
             {.name = "output",
              .type = Type::file,
              .value = "OUT",
              .help = "the page (HTML); - for standard output",
              .letter = 'o',
              .required = true},
             {.name = "title", .value = "TEXT", .help = "what stands above it"}},
            run_report,
            true};
}

} // namespace sextant::operation
