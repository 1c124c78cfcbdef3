// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using machine::NamedValue;
using machine::Profile;
using machine::Value;

struct MachineCommand {
    std::string what;
    std::vector<std::string> files;
    std::string json;
};

Record record_of(MachineCommand& command) {
    Record record;
    record.add("what", command.what, "WHAT", "show or check a profile, or compare two profiles")
        .positional()
        .required()
        .one_of({"show", "check", "diff"});
    record
        .add("files", command.files, "FILE",
             "a profile, or the name of an installed one; diff requires two")
        .file()
        .positional()
        .required();
    declare_json(record, command.json);
    return record;
}

void write(const MachineCommand& command, const std::string& json, const std::string& text) {
    write_reports({command.json, ""}, {}, json, text, "");
}

/// A table of values by row and column; cells may be empty.
class Table {
  public:
    Table(std::string title, std::string rows) : title_(std::move(title)), rows_(std::move(rows)) {}

    void put(std::int64_t row, std::int64_t order, const std::string& column, const Value& value) {
        columns_[order] = column;
        cells_[row][order] = value;
    }

    std::string text() const {
        if (cells_.empty())
            return "";
        std::string text = fmt::format("\n{}\n{:>12}", title_, rows_);
        for (const auto& [order, column] : columns_)
            text += fmt::format(" {:>12}", column);
        text += "\n";
        for (const auto& [row, values] : cells_) {
            text += fmt::format("{:>12}", report::grouped(row));
            for (const auto& [order, column] : columns_) {
                const auto found = values.find(order);
                text += fmt::format(" {:>12}", found == values.end() ? "" : shown(found->second));
            }
            text += "\n";
        }
        return text;
    }

  private:
    static std::string shown(const Value& value) {
        const double half = std::max(value.high - value.median, value.median - value.low);
        return (half > .05 * value.median ? "~" : "") + report::to_text(value.median);
    }

    std::string title_, rows_;
    std::map<std::int64_t, std::string> columns_;
    std::map<std::int64_t, std::map<std::int64_t, Value>> cells_;
};

void put_curve(Table& table, const machine::Curve& curve) {
    const bool lent = curve.strategy == machine::Strategy::lending;
    const int order = static_cast<int>(curve.path) + (lent ? 10 : 0);
    const std::string column = lent ? "zero-copy" : std::string(name(curve.path));
    for (const machine::Point& point : curve.points)
        table.put(point.bytes, order, column, point.seconds);
}

std::string messages(const machine::LinkCosts& link) {
    Table whole(fmt::format("messages, {}, contiguous", name(link.link)), "bytes");
    std::string strided;
    for (const machine::Curve& curve : link.curves) {
        if (curve.layout == machine::Layout::cc) {
            put_curve(whole, curve);
            continue;
        }
        if (curve.path != machine::Path::full)
            continue;
        Table table(fmt::format("times of whole messages, {}, layout {}, {}, by block length",
                                name(link.link), name(curve.layout), name(curve.strategy)),
                    "bytes");
        for (const machine::Point& point : curve.points) {
            if (point.bytes > 0)
                table.put(point.bytes, point.block, fmt::format("{} B", point.block),
                          point.seconds);
        }
        strided += table.text();
    }
    std::string text = whole.text();
    if (!link.switches.empty()) {
        text += "protocol changes above";
        for (const Bytes bytes : link.switches)
            text += fmt::format(" {} B", report::grouped(bytes));
        text += "\n";
    }
    return text + strided;
}

std::string passes(const machine::Work& work) {
    const auto rows = [&](const std::vector<machine::Pass>& passes, const char* when) {
        Table table(fmt::format("times of passes of {} on {}{}, by number of operands", work.name,
                                work.element, when),
                    "elements");
        for (const machine::Pass& pass : passes)
            table.put(pass.elements, pass.operands, std::to_string(pass.operands), pass.seconds);
        return table.text();
    };
    std::string text = rows(work.passes, "");
    if (!work.alone.empty())
        text += rows(work.alone, ", while other cores are idle");
    if (work.seconds_per_element) {
        text += fmt::format("\n{} on {}: {} per element and operand\n", work.name, work.element,
                            report::to_text(work.seconds_per_element->median));
    }
    return text;
}

void put_line(std::string& text, const char* what, const std::string& value) {
    if (!value.empty())
        text += fmt::format("{:<11} {}\n", what, value);
}

/// Returns a profile as tables: contiguous messages by size, strided messages by size and block,
/// operator passes by elements and operands. Values whose interval is wider than ±5 % are marked
/// "~".
std::string tables_of(const Profile& profile) {
    std::string text = profile.name + "\n";
    put_line(text, "host", profile.host);
    put_line(text, "topology", profile.topology);
    put_line(text, "transport", profile.transport);
    put_line(text, "MPI",
             profile.mpi_version.empty() ? profile.mpi : profile.mpi + " " + profile.mpi_version);
    put_line(text, "measured", profile.origin.date);
    put_line(text, "method", profile.origin.method);
    put_line(text, "state", profile.state);
    if (profile.state_probe.median > 0)
        put_line(text, "64 KiB trip", report::to_text(profile.state_probe.median));
    for (const machine::LinkCosts& link : profile.links)
        text += messages(link);
    for (const machine::Work& work : profile.operators)
        text += passes(work);
    for (const machine::Work& work : profile.kernels)
        text += passes(work);
    Table copies("copies of 1 MiB within memory, by block length (0: contiguous)", "bytes");
    for (const machine::CopyRate& copy : profile.copies) {
        constexpr double mebibyte = 1 << 20;
        copies.put(copy.block, 0, "time", copy.seconds_per_byte.times(mebibyte));
    }
    return text + copies.text();
}

int show(const MachineCommand& command, const Profile& profile) {
    std::string json = machine::profile_text(profile);
    json.pop_back(); // removes the final newline
    write(command, json, tables_of(profile));
    return 0;
}

/// Returns the result of `machine check` as text.
std::string text_of_check(const std::string& path, const Profile& profile, const Profile& here,
                          const std::vector<std::string>& differences, bool probed) {
    if (differences.empty())
        return fmt::format(
            "{} describes this machine{}\n", path,
            probed ? " in its present state"
                   : "; its state was not probed, because only profiles of threads can be probed");
    std::string text = fmt::format("{} does not describe this machine:\n", path);
    for (const std::string& difference : differences)
        text += fmt::format("  {}\n", difference);
    const std::string again = fmt::format("sextant calibrate --transport {}",
                                          profile.transport == "mpi" ? "mpi" : "threads");
    // A profile measured on another machine remains valid for that machine.
    return text + (profile.host.empty() || profile.host == here.host
                       ? fmt::format("measure again: {} -o {}\n", again, path)
                       : fmt::format("measure this machine: {}\n", again));
}

int check(const MachineCommand& command, const Profile& profile) {
    const std::string& path = command.files[0];
    const Profile here =
        calibrate::describe_machine(profile.transport.empty() ? "threads" : profile.transport);
    std::vector<std::string> differences = calibrate::differences(profile, here);
    const bool probes = profile.transport == "threads" && differences.empty();
    if (probes) {
        const std::string state =
            calibrate::difference_of_state(profile, calibrate::probe_threads());
        if (!state.empty())
            differences.push_back(state);
    }
    const std::string json = to_json(results_of("machine check")
                                         .include({{"file", path},
                                                   {"holds", differences.empty()},
                                                   {"probed", probes},
                                                   {"differences", differences}}));
    write(command, json, text_of_check(path, profile, here, differences, probes));
    return differences.empty() ? 0 : 1;
}

/// A value that is in both profiles.
struct Twin {
    NamedValue a;
    machine::Value b;

    double ratio() const { return b.median / a.value.median; }
    double off() const { return std::abs(std::log(ratio())); }
    bool apart() const { return a.value.high < b.low || b.high < a.value.low; }
};

std::vector<Twin> twins_of(const Profile& a, const Profile& b) {
    std::map<std::pair<std::string, std::string>, machine::Value> others;
    for (const NamedValue& value : machine::values_of(b))
        others[{value.group, value.what}] = value.value;
    std::vector<Twin> twins;
    for (const NamedValue& value : machine::values_of(a)) {
        const auto found = others.find({value.group, value.what});
        if (found != others.end() && value.value.median > 0 && found->second.median > 0)
            twins.push_back({value, found->second});
    }
    return twins;
}

/// Returns the relative deviation of a ratio from 1: .031 for "within 3.1 %". `off` is |log ratio|.
double share_off(double off) {
    return std::exp(off) - 1;
}

struct ProfileSummary {
    double median = 0, nine_in_ten = 0, ratio = 1;
    std::size_t values = 0, apart = 0;
};

ProfileSummary summary_of(const std::vector<Twin>& twins) {
    std::vector<double> off, ratios;
    ProfileSummary summary{0, 0, 1, twins.size(), 0};
    for (const Twin& twin : twins) {
        off.push_back(twin.off());
        ratios.push_back(twin.ratio());
        summary.apart += twin.apart() ? 1 : 0;
    }
    summary.median = share_off(median(off));
    summary.nine_in_ten = share_off(quantile(off, .9));
    summary.ratio = median(ratios);
    return summary;
}

std::string line_of(const std::string& what, const ProfileSummary& s) {
    return fmt::format("{:<38} {:>6} {:>8.3f} {:>8.1f} % {:>8.1f} % {:>6}\n", what, s.values,
                       s.ratio, 100 * s.median, 100 * s.nine_in_ten, s.apart);
}

Json json_of(const ProfileSummary& s) {
    return {{"values", s.values},
            {"median_ratio", s.ratio},
            {"median_off", s.median},
            {"nine_in_ten_off", s.nine_in_ten},
            {"intervals_apart", s.apart}};
}

std::string to_json(const std::vector<std::string>& paths, const std::vector<Twin>& twins) {
    Json cells;
    for (const Twin& twin : twins) {
        cells.add({{"group", twin.a.group},
                   {"what", twin.a.what},
                   {"seconds", Json::array({twin.a.value.median, twin.b.median})},
                   {"ratio", twin.ratio()},
                   {"apart", twin.apart()}});
    }
    return to_json(
        results_of("machine diff")
            .include({{"files", paths}, {"all", json_of(summary_of(twins))}, {"cells", cells}}));
}

int diff(const MachineCommand& command, const Profile& a, const Profile& b) {
    const std::vector<std::string>& paths = command.files;
    const std::vector<Twin> twins = twins_of(a, b);
    if (twins.empty()) {
        throw InvalidData(fmt::format("{} and {} have no value in common", paths[0], paths[1]));
    }
    std::map<std::string, std::vector<Twin>> groups;
    for (const Twin& twin : twins)
        groups[twin.a.group].push_back(twin);
    std::string text = fmt::format("{:<38} {:>6} {:>8} {:>10} {:>10} {:>6}\n", "", "values",
                                   "ratio", "deviation", "90th perc.", "apart");
    for (const auto& [group, some] : groups)
        text += line_of(group, summary_of(some));
    text += line_of("all", summary_of(twins));
    constexpr std::size_t shown = 10;
    std::vector<Twin> worst = twins;
    std::sort(worst.begin(), worst.end(),
              [](const Twin& x, const Twin& y) { return x.off() > y.off(); });
    worst.resize(std::min(shown, worst.size()));
    text += "\nlargest differences:\n";
    for (const Twin& twin : worst) {
        text += fmt::format("  {} {}: {} and {}, ratio {:.2f}\n", twin.a.group, twin.a.what,
                            report::to_text(twin.a.value.median), report::to_text(twin.b.median),
                            twin.ratio());
    }
    write(command, to_json(paths, twins), text);
    return 0;
}

int run_machine(const MachineCommand& command, const Call&) {
    std::vector<std::string> files = command.files;
    const std::size_t wanted = command.what == "diff" ? 2 : 1;
    if (files.size() != wanted) {
        throw InvalidTask(fmt::format("machine {}: expected {}, got {}", command.what,
                                      wanted == 1 ? "one file" : "two files", files.size()));
    }
    for (std::string& file : files)
        file = machine::shared_file(machine::machines, file);
    const std::vector<std::string> outputs = files_named({command.json});
    check_outputs(outputs, files);
    const Profile first = machine::read_profile(files[0]);
    if (command.what == "show")
        return show(command, first);
    if (command.what == "check")
        return check(command, first);
    return diff(command, first, machine::read_profile(files[1]));
}

} // namespace

Operation machine_operation() {
    return declare_command<MachineCommand>("machine", "show, check or compare profiles of machines",
                                           "  sextant machine show das\n"
                                           "  sextant machine check mpi.json\n"
                                           "  sextant machine diff yesterday.json today.json",
                                           run_machine, RunOn::one_rank);
}

} // namespace sextant::command
