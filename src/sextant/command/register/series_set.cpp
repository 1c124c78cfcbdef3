// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/register/series_set.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace fs = std::filesystem;

namespace {

using nlohmann::ordered_json;

std::string path_of_outcome(const std::string& output) {
    return (fs::path(output) / "checkpoint.done").string();
}

/// Replaces characters that shells and systems treat specially.
std::string as_name(std::string text) {
    std::ranges::replace_if(
        text,
        [](char letter) { return std::string_view("/\\*?[]%:").find(letter) != std::string::npos; },
        '_');
    return text;
}

/// Returns the name of the folder that contains a file.
std::string folder_name(const format::SeriesName& name) {
    const fs::path path = fs::absolute(name.path).lexically_normal();
    return as_name(path.parent_path().filename().string());
}

std::string name_of(const format::SeriesName& name) {
    fs::path path = fs::absolute(name.path).lexically_normal();
    if (!path.has_filename()) // ends with a slash
        path = path.parent_path();
    std::string stem = path.stem().string();
    const std::size_t wildcard = stem.find_first_of("*?[%");
    if (wildcard != std::string::npos) // of a pattern, the part before it
        stem.resize(stem.find_last_not_of("_-. ", wildcard - 1) + 1);
    stem = stem.empty() || wildcard == 0 ? folder_name(name) : as_name(stem);
    return name.detail.empty()
               ? stem
               : stem + as_name(name.detail.front() == '/' ? name.detail : "/" + name.detail);
}

/// The outcome of a series: an entry of "runs" in docs/json.md.
ordered_json outcome_of(const SeriesTask& task, const std::string& run, const std::string& error) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? ordered_json() : ordered_json(text);
    };
    std::error_code unknown;
    return {{"series", task.series},
            {"output", task.output},
            {"page", or_null(fs::exists(task.page, unknown) ? task.page : "")},
            {"error", or_null(error)},
            {"run", run.empty() ? ordered_json() : ordered_json::parse(run)}};
}

bool is_registered(const ordered_json& outcome) {
    return outcome["error"].is_null();
}

/// The cells of a series in the text and on the page.
struct Row {
    std::string frames, drift, flags, resolution, advice;
};

Row row_of(const ordered_json& outcome) {
    if (!is_registered(outcome))
        return {"", "", "", "", outcome["error"].get<std::string>()};
    const ordered_json& run = outcome["run"];
    std::vector<std::string> flags;
    for (const auto& flag : run["flags"])
        flags.push_back(fmt::format("{} {}", flag["flag"].get<std::string>(),
                                    flag["frames"].get<std::int64_t>()));
    const double resolved = run["resolution"]["resolved"].get<double>();
    return {fmt::format("{} of {}", run["registered"].get<std::int64_t>(),
                        run["frames"].get<std::int64_t>()),
            fmt::format("{:.2f} px", run["largest_displacement"].get<double>()),
            flags.empty() ? "none" : fmt::format("{}", fmt::join(flags, ", ")),
            resolved > 0 ? fmt::format("{:.3g} px", 1 / resolved) : "none",
            run["advice"].empty() ? "" : run["advice"][0].get<std::string>()};
}

/// Returns the reference from a page to a file, relative to the folder of the page.
std::string reference_to(const std::string& path, const std::string& page) {
    const fs::path folder =
        page == standard_output ? fs::current_path() : fs::absolute(page).parent_path();
    std::string reference;
    for (const char letter : fs::proximate(path, folder).string())
        reference += std::string_view("%#?").find(letter) == std::string::npos
                         ? std::string(1, letter)
                         : fmt::format("%{:02X}", static_cast<int>(letter));
    return report::escape(reference);
}

using Outcomes = std::vector<ordered_json>;

std::string counts_of(const Outcomes& outcomes) {
    return fmt::format("{} of {} series registered", std::ranges::count_if(outcomes, is_registered),
                       outcomes.size());
}

std::string lines_of(const Outcomes& outcomes) {
    std::string text = counts_of(outcomes) + "\n";
    for (const ordered_json& outcome : outcomes) {
        const Row row = row_of(outcome);
        text += outcome["output"].get<std::string>() + ": ";
        if (is_registered(outcome))
            text += fmt::format("{} frames, displaced by up to {}, flags: {}, resolution {}{}",
                                row.frames, row.drift, row.flags, row.resolution,
                                row.advice.empty() ? "" : "; ");
        text += row.advice + "\n";
    }
    return text;
}

std::string json_of(const Outcomes& outcomes, const std::string& output) {
    Record record = results_of("register");
    record.add_result("output", output);
    record.include(provenance_of_run({}));
    ordered_json object = ordered_json::parse(to_json(record));
    object["runs"] = outcomes;
    return sextant::to_text(object);
}

std::string page_of(const Outcomes& outcomes, const std::string& output, const std::string& page) {
    report::Table table{{{"Series", ""},
                         "Frames",
                         "Drift",
                         {"Flags", "words"},
                         "Resolution",
                         {"What to try", "words"}}};
    for (const ordered_json& outcome : outcomes) {
        const Row row = row_of(outcome);
        std::string name = report::escape(outcome["series"].get<std::string>());
        if (!outcome["page"].is_null())
            name = fmt::format("<a href=\"{}\">{}</a>",
                               reference_to(outcome["page"].get<std::string>(), page), name);
        table.rows.push_back(
            {name, row.frames, row.drift, report::escape(row.flags), row.resolution,
             report::escape((is_registered(outcome) ? "" : "not registered: ") + row.advice)});
    }
    report::Page all;
    all.title = "Sextant: " + output;
    all.subtitle = counts_of(outcomes);
    all.shown = {{"Series", report::to_html(table)}};
    add_provenance(all.facts, {});
    return report::render(all);
}

/// Returns the outcome that an interrupted call stored; empty if there is none with this identity,
/// or if another call has written the results since.
std::optional<ordered_json> stored_outcome(const std::string& output, const std::string& identity) {
    const std::string path = path_of_outcome(output);
    std::error_code unknown;
    const auto written = fs::last_write_time(fs::path(output) / "transforms.json", unknown);
    if (unknown || !fs::is_regular_file(path, unknown) ||
        fs::last_write_time(path, unknown) < written)
        return std::nullopt;
    const std::string text = read_text(path, JsonLimits{}.bytes);
    if (!ordered_json::accept(text))
        return std::nullopt;
    ordered_json stored = ordered_json::parse(text);
    if (!stored.is_object() || stored.value("identity", "") != identity)
        return std::nullopt;
    return stored["outcome"];
}

/// Registers a series, unless an interrupted call has done so. Returns the outcome on rank 0.
/// Collective.
ordered_json registered(const Communicator& ranks, const SeriesTask& task, bool restart,
                        const std::string& label, bool shows_progress) {
    const bool first = ranks.rank() == 0;
    std::string identity;
    std::optional<ordered_json> outcome;
    try {
        agree(ranks, [&] {
            if (!first)
                return;
            identity = task.identity();
            if (!restart)
                outcome = stored_outcome(task.output, identity);
        });
        if (ranks.all_gather(static_cast<int>(outcome.has_value())).front() != 0) {
            if (first)
                print_note(label + "was registered before an interruption");
            return outcome.value_or(ordered_json());
        }
        const std::string run = task.run(ranks, label, shows_progress);
        agree(ranks, [&] {
            if (!first)
                return;
            outcome = outcome_of(task, run, "");
            const ordered_json stored = {{"identity", identity}, {"outcome", *outcome}};
            write_text(path_of_outcome(task.output), sextant::to_text(stored));
        });
    } catch (const AgreedFailure& failure) {
        if (first)
            print_note(label + failure.what());
        outcome = outcome_of(task, "", failure.what());
    }
    return outcome.value_or(ordered_json());
}

} // namespace

std::vector<std::string> folders_of_series(std::span<const std::string> series) {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> uses;
    for (const std::string& each : series)
        ++uses[names.emplace_back(name_of(format::split_series_name(each)))];
    std::map<std::string, std::string> taken; // the series of each name
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (uses[names[i]] > 1)
            names[i] = folder_name(format::split_series_name(series[i])) + "_" + names[i];
        const auto [other, is_new] = taken.emplace(names[i], series[i]);
        std::error_code unknown;
        if (!is_new && fs::equivalent(other->second, series[i], unknown))
            throw InvalidTask(fmt::format("{} is given twice", other->second));
        if (!is_new)
            throw InvalidTask(fmt::format("{} and {}: their results would have the same folder {}; "
                                          "register them with different outputs",
                                          other->second, series[i], names[i]));
    }
    return names;
}

bool register_all(const Communicator& ranks, std::span<const SeriesTask> tasks, bool restart,
                  const Reports& reports, const std::string& output) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const bool whole = tasks.size() >= size; // each rank registers whole series
    const Communicator group = whole ? ranks.split(ranks.rank(), 0) : ranks;
    ordered_json own = ordered_json::array();
    for (std::size_t i = whole ? rank : 0; i < tasks.size(); i += whole ? size : 1) {
        const std::string label =
            fmt::format("{} ({} of {}): ", tasks[i].series, i + 1, tasks.size());
        own.push_back(registered(group, tasks[i], restart, label, rank == 0));
    }
    std::vector<ordered_json> gathered;
    for (const std::string& text : all_gather_texts(ranks, sextant::to_text(own)))
        gathered.push_back(ordered_json::parse(text));
    Outcomes outcomes;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        outcomes.push_back(whole ? gathered[i % size][i / size] : gathered[0][i]);
    agree(ranks, [&] {
        if (rank != 0)
            return;
        JointCommit together;
        write_reports(reports, {}, json_of(outcomes, output), lines_of(outcomes),
                      reports.report.empty() ? "" : page_of(outcomes, output, reports.report));
        together.commit();
        std::error_code ignored;
        for (const SeriesTask& task : tasks)
            fs::remove(path_of_outcome(task.output), ignored);
    });
    return std::ranges::all_of(outcomes, is_registered);
}

} // namespace sextant::command
