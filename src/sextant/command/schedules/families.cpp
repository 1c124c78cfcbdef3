// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/families.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/schedule_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

std::span<const Family> families() {
    static const Family all[] = {compositing_family(), scan_family(), series_family(),
                                 collective_family(),  halo_family(), merging_family()};
    return all;
}

/// Returns true for compositing, the only family with tunings and a root.
bool is_compositing(const Family& family) {
    return family.configurations_for != nullptr;
}

/// Throws InvalidTask if a parameter of collectives is set for an algorithm that does not have it.
void check_parameters(const ScheduleRequest& request) {
    const auto check = [&](std::string_view parameter, const std::optional<double>& value) {
        if (!value)
            return;
        std::vector<std::string_view> names;
        for (const collective::Algorithm& row : collective::catalogue()) {
            if (row.parameter == parameter)
                names.push_back(row.name);
        }
        const bool is_one = std::find(names.begin(), names.end(), request.algorithm) != names.end();
        if (request.family != "collective" || !is_one) {
            throw InvalidTask(
                fmt::format("--{} is a parameter of the collective algorithms {}, not of {}",
                            parameter, fmt::join(names, " and "),
                            request.algorithm.empty() ? request.family : request.algorithm));
        }
    };
    check("gamma", request.gamma);
    check("alpha", request.alpha);
}

/// Finds the family and checks the request. Throws InvalidTask for unknown names, and for
/// parameters that do not apply to the family.
const Family& checked_family(const ScheduleRequest& request) {
    const Family& family = find_by_name<Family>("family", request.family, families());
    if (!request.algorithm.empty()) {
        find_by_name<FamilyAlgorithm>(fmt::format("{} algorithm", family.name), request.algorithm,
                                      family.algorithms);
    }
    check_parameters(request);
    if (is_compositing(family))
        return family;
    if (request.tuning != compositing::Tuning{}) {
        throw InvalidTask(
            fmt::format("{} has no parameters: radices and windows are parameters of compositing",
                        family.name));
    }
    if (request.root != compositing::Task::distributed) {
        throw InvalidTask(
            fmt::format("{} has no image to collect; only compositing has one", family.name));
    }
    return family;
}

NamedSchedule read_schedule(const std::string& path) {
    constexpr Bytes most_bytes = Bytes{1} << 26;
    ScheduleFile file = parse_schedule(read_text(path, most_bytes), path);
    Elements elements = 0;
    for (const Program& program : file.schedule) {
        for (const BufferSpec& buffer : program.buffers)
            elements = std::max(elements, buffer.size);
    }
    Claim claim = claim_of(file);
    const std::string name = std::filesystem::path(path).stem();
    const auto ranks = static_cast<int>(file.schedule.size());
    const auto program = [schedule = std::make_shared<const Schedule>(std::move(file.schedule))](
                             int rank) { return (*schedule)[static_cast<std::size_t>(rank)]; };
    return {name, name,       {ranks, program}, std::move(claim),
            {},   file.claim, file.commutative, elements};
}

bool is_meant(const Configuration& configuration, const ScheduleRequest& request) {
    return request.algorithm.empty() || request.algorithm == configuration.algorithm;
}

} // namespace

Record record_of(ScheduleRequest& request) {
    constexpr int most_ranks = 1 << 17;
    std::vector<std::string_view> names;
    for (const Family& family : families())
        names.push_back(family.name);
    Record record;
    record
        .add("family", request.family, "FAMILY|FILE.json",
             fmt::format("{}", fmt::join(names, ", ")))
        .positional();
    record.add("algorithm", request.algorithm, "NAME",
               "algorithm; default: the first of the family, with default parameters");
    compositing::declare_tuning(record, request.tuning.radices, request.tuning.window);
    record
        .add("interlace", request.tuning.interlace, "N",
             "assign pixels to ranks cyclically, in blocks of N")
        .between(1, most_count)
        .none_is(0);
    record
        .add("gamma", request.gamma, "F",
             "logp-lev-rec: fraction that a leader keeps; default: 0.75, gather: 0.6")
        .between(.01, .99);
    record
        .add("alpha", request.alpha, "F",
             "2-lev-rec: divide p ranks into p^alpha parts; default: one part per row")
        .between(.01, .99);
    record.add("ranks", request.ranks, "N", "number of ranks").between(1, most_ranks);
    record.add("elements", request.elements, "N", "number of pixels or values")
        .between(1, most_count);
    return record;
}

bool is_file(const ScheduleRequest& request) {
    return request.family.ends_with(".json");
}

Effects effects_of(const ScheduleRequest& request, std::vector<std::string_view> others) {
    others.insert(others.end(), {"algorithm", "radices", "window", "interlace", "gamma", "alpha",
                                 "ranks", "elements"});
    return {{std::move(others), "the file contains the whole schedule",
             [&request] { return !is_file(request); }}};
}

std::vector<FamilyAlgorithm> family_algorithms() {
    std::vector<FamilyAlgorithm> all;
    for (const Family& family : families())
        all.insert(all.end(), family.algorithms.begin(), family.algorithms.end());
    return all;
}

std::vector<Configuration> configurations_of(const ScheduleRequest& request) {
    if (is_file(request))
        return {{"", [](const ScheduleRequest& file) { return read_schedule(file.family); }}};
    const Family& family = checked_family(request);
    std::vector<Configuration> all =
        family.configurations_for ? family.configurations_for(request) : family.configurations;
    std::erase_if(all, [&](const Configuration& each) { return !is_meant(each, request); });
    return all;
}

NamedSchedule make_schedule(const ScheduleRequest& request) {
    if (is_file(request))
        return read_schedule(request.family);
    const Family& family = checked_family(request);
    const auto configuration =
        std::find_if(family.configurations.begin(), family.configurations.end(),
                     [&](const Configuration& each) { return is_meant(each, request); });
    NamedSchedule made =
        family.usual ? family.usual(request).make(request) : configuration->make(request);
    made.elements = request.elements;
    return made;
}

Programs all_programs(const ScheduleRequest& request, std::string_view title,
                      std::function<Program(int rank)> program) {
    const auto made_since_first = [ranks = request.ranks, title = std::string(title),
                                   program = std::move(program),
                                   messages = std::int64_t{0}](int rank) mutable {
        Program made = program(rank);
        messages = rank == 0 ? 0 : messages;
        messages += std::ranges::count(made.steps, Verb::send, &Step::verb);
        if (messages <= most_messages)
            return made;
        throw InvalidTask(
            fmt::format("{} on {} ranks has more than {} messages, too many to hold at once; use "
                        "fewer ranks, or an algorithm with fewer messages",
                        title, ranks, report::grouped(most_messages)));
    };
    return {request.ranks, made_since_first};
}

} // namespace sextant::command
