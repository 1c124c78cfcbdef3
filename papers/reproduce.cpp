// SPDX-License-Identifier: BSD-3-Clause
#include "papers/reproduce.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "papers/experiments.hpp"
#include "papers/p3pc.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::papers {

namespace {

/// A number with three significant digits, or five if it is 1000 or more; "" for no_number.
std::string shown(double number) {
    if (std::isnan(number))
        return "";
    return fmt::format("{:.{}g}", number, number >= 1000 ? 5 : 3);
}

std::string line(const Row& row, bool has_numbers) {
    std::string text = fmt::format("| {} |", row.label);
    if (has_numbers)
        text += fmt::format(" {} |", row.theirs ? shown(*row.theirs) : "");
    for (const double ours : row.ours)
        text += fmt::format(" {} |", shown(ours));
    if (const auto found = ratio(row); has_numbers)
        text += found ? fmt::format(" {:.2f} | {} |", *found, verdict(row)) : " | |";
    return text + "\n";
}

/// The result as a Markdown table.
std::string table(const Experiment& experiment, const Result& result) {
    const bool has_numbers = std::any_of(result.rows.begin(), result.rows.end(),
                                         [](const Row& row) { return row.theirs.has_value(); });
    std::string text =
        fmt::format("| {} |{} {} |{}\n", result.unit, has_numbers ? " paper |" : "",
                    fmt::join(result.columns, " | "),
                    has_numbers ? fmt::format(" ours / paper | {} |", name(experiment.basis)) : "");
    const std::size_t columns = 1 + result.columns.size() + (has_numbers ? 3 : 0);
    text += "|";
    for (std::size_t i = 0; i < columns; ++i)
        text += i == 0 ? "---|" : "---:|";
    text += "\n";
    for (const Row& row : result.rows) {
        if (!row.only_in_json)
            text += line(row, has_numbers);
    }
    return text;
}

std::string_view verdict(const Claim& claim) {
    if (!claim.can_be_known)
        return "not judged";
    return claim.holds ? "holds" : "**does not hold**";
}

bool differs(const Result& result) {
    return std::any_of(result.rows.begin(), result.rows.end(),
                       [](const Row& row) { return verdict(row) == "differs"; }) ||
           std::any_of(result.claims.begin(), result.claims.end(),
                       [](const Claim& claim) { return claim.can_be_known && !claim.holds; });
}

std::string text_of(const Experiment& experiment, const Result& result) {
    std::string text = fmt::format("## {}, {}: {}\n\n{}.\n\n", experiment.paper, experiment.item,
                                   experiment.title, experiment.setting);
    if (!result.rows.empty())
        text += table(experiment, result);
    for (const Claim& claim : result.claims)
        text += fmt::format("\n- \"{}\": {} ({}).", claim.text, verdict(claim), claim.found);
    if (!result.claims.empty())
        text += "\n";
    if (differs(result) && !experiment.reasons.empty())
        text += fmt::format("\nWhy the results differ: {}.\n", experiment.reasons);
    return text + "\n";
}

nlohmann::ordered_json json_of(const Experiment& experiment, const Result& result) {
    nlohmann::ordered_json json{{"paper", experiment.paper},
                                {"item", experiment.item},
                                {"title", experiment.title},
                                {"setting", experiment.setting},
                                {"reasons", experiment.reasons},
                                {"basis", name(experiment.basis)},
                                {"unit", result.unit},
                                {"columns", result.columns},
                                {"rows", nlohmann::ordered_json::array()},
                                {"claims", nlohmann::ordered_json::array()}};
    for (const Row& row : result.rows) {
        nlohmann::ordered_json cell{{"label", row.label}, {"ours", row.ours}};
        if (const auto found = ratio(row)) {
            cell["theirs"] = *row.theirs;
            cell["ratio"] = *found;
            cell["verdict"] = verdict(row);
        }
        json["rows"].push_back(cell);
    }
    for (const Claim& claim : result.claims) {
        nlohmann::ordered_json judged{{"text", claim.text}, {"holds", claim.holds}};
        if (!claim.can_be_known)
            judged["holds"] = nullptr;
        judged["found"] = claim.found;
        json["claims"].push_back(judged);
    }
    return json;
}

/// The options of `sextant reproduce`.
struct ReproduceCommand {
    std::string paper = "all", json;
    bool whole = false;
    std::int64_t width = 0, height = 0;
    int ranks = 16;
    std::vector<std::int64_t> values;
};

/// The names of all papers.
std::vector<std::string_view> papers() {
    std::vector<std::string_view> names;
    for (const Experiment& experiment : all_experiments()) {
        if (names.empty() || names.back() != experiment.paper)
            names.push_back(experiment.paper);
    }
    return names;
}

bool is_paper(std::string_view name) {
    const std::vector<std::string_view> names = papers();
    return std::find(names.begin(), names.end(), name) != names.end();
}

Record record_of(ReproduceCommand& command) {
    Record record;
    record.add("paper", command.paper, "PAPER", fmt::format("{}", fmt::join(papers(), ", ")))
        .positional();
    record.add("whole", command.whole,
               "run all cases (minutes); default: a selection (about one minute)");
    record.add_size("size", command.width, command.height,
                    "p3pc: image size in pixels, for estimates of all grids of --ranks");
    record.add("ranks", command.ranks, "N", "number of ranks for --size").between(2, 1024);
    record.add("values", command.values, "N,...", "p3pc: estimate messages of N 4-byte values")
        .between(100, 1 << 30);
    command::declare_json(record, command.json).meaning =
        "write JSON, to standard output or to a file; default: Markdown";
    return record;
}

Effects effects_of(ReproduceCommand& command) {
    const auto has_sizes = [&] { return command.width > 0 || !command.values.empty(); };
    return {
        {{"size", "values"}, "it applies to paper p3pc", [&] { return command.paper == "p3pc"; }},
        {{"ranks"}, "it is used with --size", [&] { return command.width > 0; }},
        {{"whole"}, "all sizes given are estimated", [=] { return !has_sizes(); }}};
}

/// True if the user gives sizes to estimate instead of the paper's.
bool has_sizes(const command::Call& call) {
    return call.has("size") || call.has("values");
}

std::vector<DasEstimates> estimates_for(const ReproduceCommand& command,
                                        const command::Call& call) {
    std::vector<DasEstimates> estimates;
    if (call.has("values"))
        estimates.push_back(estimate_messages(command.values));
    if (call.has("size"))
        estimates.push_back(estimate_operations(command.width, command.height, command.ranks));
    return estimates;
}

constexpr Basis all_bases[] = {Basis::printed, Basis::fitted, Basis::own};

/// The number of verdicts on rows and on claims.
struct Tally {
    std::array<std::array<std::int64_t, 2>, std::size(all_bases)>
        rows{}; ///< by basis: rows that agree, rows that differ
    std::int64_t without_number = 0, hold = 0, fail = 0, not_judged = 0;

    void add(const Experiment& experiment, const Result& result) {
        auto& own = rows[static_cast<std::size_t>(experiment.basis)];
        for (const Row& row : result.rows) {
            if (row.only_in_json)
                continue;
            const std::string_view found = verdict(row);
            own[0] += found == "agrees";
            own[1] += found == "differs";
            without_number += found.empty();
        }
        for (const Claim& claim : result.claims) {
            hold += claim.can_be_known && claim.holds;
            fail += claim.can_be_known && !claim.holds;
            not_judged += !claim.can_be_known;
        }
    }

    std::string row(const std::string& title) const {
        std::string text = fmt::format("| {} |", title);
        for (const auto& [agree, differ] : rows)
            text += agree + differ == 0 ? " |" : fmt::format(" {}, {} |", agree, differ);
        return text + fmt::format(" {} | {} | {} | {} |\n", without_number, hold, fail, not_judged);
    }
};

/// The summary table over all tables and figures.
class Summary {
  public:
    void add(const Experiment& experiment, const Result& result) {
        Tally tally;
        tally.add(experiment, result);
        rows_ += tally.row(fmt::format("{}, {}", experiment.paper, experiment.item));
        all_.add(experiment, result);
    }
    std::string text() const {
        std::string columns, line;
        for (const Basis basis : all_bases) {
            columns += fmt::format(" {} |", name(basis));
            line += "---:|";
        }
        return "## All tables and figures\n\n"
               "Each of the first columns has the number of rows that agree, and of rows that "
               "differ: "
               "with numbers or formulas that the paper prints; with numbers of a measurement to "
               "which values were fitted; and where both columns are evaluated from the same "
               "formulas or tables, so that they can hardly differ. The other columns count rows "
               "without a published number, and statements that hold, do not hold and are not "
               "judged.\n\n"
               "| |" +
               columns + " no number | hold | do not hold | not judged |\n|---|" + line +
               "---:|---:|---:|---:|\n" + rows_ + all_.row("all");
    }

  private:
    std::string rows_;
    Tally all_;
};

int run_reproduce(const ReproduceCommand& command, const command::Call& call) {
    if (command.paper != "all" && !is_paper(command.paper))
        throw InvalidTask(unknown_name("paper", command.paper, papers()));
    command::check_outputs(command::files_named({command.json}));
    const auto extent = command.whole ? Extent::whole : Extent::quick;
    auto all = nlohmann::ordered_json::array();
    Summary summary;
    const auto show = [&](const Experiment& experiment, const Result& result) {
        summary.add(experiment, result);
        if (!command.json.empty())
            all.push_back(json_of(experiment, result));
        else
            command::print_text(text_of(experiment, result));
        std::fflush(stdout);
    };
    for (const DasEstimates& estimates : estimates_for(command, call))
        show(estimates.heading, estimates.result);
    for (const Experiment& experiment : all_experiments()) {
        const bool chosen = command.paper == "all" || command.paper == experiment.paper;
        if (chosen && !has_sizes(call))
            show(experiment, result_of(experiment, extent));
    }
    if (!command.json.empty())
        command::write_text(command.json,
                            sextant::to_text(nlohmann::ordered_json{{"operation", "reproduce"},
                                                                    {"version", version()},
                                                                    {"host", host()},
                                                                    {"date", date()},
                                                                    {"results", all}},
                                             1) +
                                "\n");
    else
        command::print_text(summary.text());
    return 0;
}

} // namespace

command::Commands catalogue() {
    static const std::vector<command::Group> groups = {
        {"Papers",
         {command::declare_command<ReproduceCommand>(
             "reproduce",
             "compute the tables and figures of papers, and compare them with the published ones",
             "  sextant reproduce shift-based --whole > shift-based.md\n"
             "  sextant reproduce p3pc --size 1024x768 --ranks 12 --values 5000,20000",
             run_reproduce, command::RunOn::one_rank)}}};
    return {groups};
}

} // namespace sextant::papers
