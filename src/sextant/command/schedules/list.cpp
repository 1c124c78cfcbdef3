// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/core/record.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/line_formats.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/model/model.hpp"
#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

struct ListCommand {
    std::string what = "all", json;
};

Record record_of(ListCommand& command) {
    Record record;
    record.add("what", command.what, "WHAT", "what to list")
        .positional()
        .one_of({"all", "algorithms", "scans", "operators", "models", "formats"});
    declare_json(record, command.json);
    return record;
}

struct Row {
    std::string name, summary, detail;
};

struct Section {
    std::string name;
    std::vector<Row> rows;
};

/// Returns the costs of a circuit in its native form: "span/work 4/49 at 16, 7/573 at 100 ranks".
std::string costs(const scan::Algorithm& algorithm, const scan::Tuning& tuning) {
    std::vector<std::string> at;
    for (const int ranks : {16, 100}) {
        const scan::Task task{ranks, 1, scan::forms_of(algorithm).front()};
        const Circuit read = circuit(sextant::make_schedule(
            ranks, [&](int rank) { return scan::program(algorithm, task, tuning, rank); }));
        at.push_back(fmt::format("{}/{} at {}", read.span, read.work, ranks));
    }
    return fmt::format("span/work {} ranks", fmt::join(at, ", "));
}

Section scans() {
    Section section{"scans", {}};
    for (const scan::Algorithm& row : scan::catalogue()) {
        for (const scan::Tuning& tuning : row.tunings()) {
            section.rows.push_back({scan::to_text(row, tuning), std::string(row.summary),
                                    fmt::format("{}; {}; {}", scan::name(row.native),
                                                costs(row, tuning), row.source)});
        }
    }
    for (const scan::Strategy& row : scan::strategies()) {
        section.rows.push_back(
            {std::string(row.name), std::string(row.summary),
             fmt::format("strategy for scanning a series, with any circuit in this list; {}",
                         row.source)});
    }
    for (const scan::NamedBoundaries& row : scan::all_boundaries()) {
        section.rows.push_back(
            {std::string(row.name), std::string(row.summary),
             "boundaries between the blocks of a rank's threads (reduce-then-scan only)"});
    }
    return section;
}

std::vector<Section> sections() {
    Section algorithms{"algorithms", {}}, operators{"operators", {}}, formats{"formats", {}},
        models{"models", {}};
    for (const FamilyAlgorithm& row : family_algorithms()) {
        if (row.family == "scan" || row.family == "series")
            continue; // scans and series have their own sections
        algorithms.rows.push_back(
            {std::string(row.name), std::string(row.summary),
             fmt::format("{}; ranks: {}; {}", row.family, row.takes, row.source)});
    }
    for (const kernel::Family& row : kernel::catalogue()) {
        operators.rows.push_back({std::string(row.name), std::string(row.summary),
                                  fmt::format("on {}{}", kernel::formats_of(row),
                                              row.commutative ? "; commutative" : "")});
    }
    for (const auto& row : format::catalogue()) {
        formats.rows.push_back({std::string(row.extension),
                                fmt::format("{}: {}", row.name, row.summary),
                                row.write ? "read and written" : "read only"});
    }
    for (const format::FrameFormat& row : format::frame_catalogue()) {
        formats.rows.push_back(
            {std::string(row.extensions), fmt::format("{}, frames: {}", row.name, row.summary),
             row.written.empty() ? "read only"
                                 : fmt::format("read; written with {} samples", row.written)});
    }
    for (const format::LineFormat& row : format::line_catalogue()) {
        formats.rows.push_back({std::string(row.extension),
                                fmt::format("{}, contours: {}", row.name, row.summary), "written"});
    }
    for (const model::Model& row : model::catalogue()) {
        models.rows.push_back(
            {std::string(row.name), std::string(row.summary), std::string(row.source)});
    }
    return {algorithms, scans(), operators, models, formats};
}

std::size_t widest_name(const std::vector<Section>& sections) {
    std::size_t width = 0;
    for (const Section& section : sections) {
        for (const Row& row : section.rows)
            width = std::max(width, row.name.size());
    }
    return width;
}

int run_list(const ListCommand& command, const Call&) {
    check_outputs(files_named({command.json}));
    const std::vector<Section> all = sections();
    const std::size_t width = widest_name(all);
    Record json = results_of("list");
    std::string text;
    for (const Section& section : all) {
        if (command.what != "all" && command.what != section.name)
            continue;
        text += section.name + "\n";
        Json rows = Json::array();
        for (const Row& row : section.rows) {
            rows.add({{"name", row.name}, {"summary", row.summary}, {"detail", row.detail}});
            text += fmt::format("  {:<{}} {}\n  {:<{}} {}\n", row.name, width, row.summary, "",
                                width, row.detail);
        }
        json.add_result(section.name, rows);
    }
    write_reports({command.json, ""}, {}, to_json(json), text, "");
    return 0;
}

} // namespace

Operation list_operation() {
    return declare_command<ListCommand>("list",
                                        "list algorithms, operators, cost models and file formats",
                                        "  sextant list algorithms", run_list, RunOn::one_rank);
}

} // namespace sextant::command
