// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/schedule_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/record.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

constexpr std::string_view verbs[] = {"send", "receive", "fold", "copy", "compute"};
constexpr int most_number = 1 << 20; // of rounds, groups, kernels and bytes per element

Record record_of(BufferSpec& buffer) {
    using enum Role;
    const std::vector<Named<Role>> roles = {
        {"input", input}, {"in-out", in_out}, {"output", output}, {"scratch", scratch}};
    Record record;
    record.add("role", buffer.role, roles, "", "").required();
    record.add("size", buffer.size, "", "").between(0, ScheduleFile::most_elements).required();
    record.add("element", buffer.element, "", "").between(0, most_number).none_is(0);
    record.add("room", buffer.room, "", "").between(0, most_number).none_is(0);
    return record;
}

Json json_of(const Region& region) {
    Json numbers = Json::array({region.buffer, region.offset, region.length});
    if (region.count != 1 || region.stride != region.length) {
        numbers.add(region.stride);
        numbers.add(region.count);
    }
    return numbers;
}

Json json_of(std::span<const Region> regions) {
    Json all = Json::array();
    for (const Region& region : regions)
        all.add(json_of(region));
    return all;
}

Json json_of(const Program& program, const Step& step) {
    Json json = {{"verb", name(step.verb)}, {"regions", json_of(program.regions_of(step))}};
    if (is_message(step.verb))
        json.set("peer", step.peer);
    if (has_destination(step.verb))
        json.set("to", json_of(step.to));
    if (step.verb == Verb::compute) {
        json.set("kernel", step.kernel);
        json.set("outputs", json_of(program.made_by(step)));
        if (step.reads_in_place)
            json.set("reads_in_place", true);
    }
    if (step.round != 0)
        json.set("round", step.round);
    if (step.group != 0)
        json.set("group", step.group);
    return json;
}

/// One program per paragraph, one step per line.
std::string text_of(const Program& program) {
    std::vector<std::string> buffers, steps;
    for (BufferSpec buffer : program.buffers)
        buffers.push_back(Json(record_of(buffer)).text(-1));
    for (const Step& step : program.steps)
        steps.push_back("\n    " + json_of(program, step).text(-1));
    return fmt::format(
        "  {{\"buffers\": [{}],\n   {}\"steps\": [{}]{}}}", fmt::join(buffers, ", "),
        program.window > 0 ? fmt::format("\"window\": {}, ", program.window) : "",
        fmt::join(steps, ","),
        program.result.empty() ? "" : ",\n   \"result\": " + json_of(program.result).text(-1));
}

int number_or_0(const JsonField& object, const std::string& name) {
    const auto field = object.find(name);
    return field ? static_cast<int>(field->integer(0, most_number)) : 0;
}

Region region_of(const JsonField& json, const Program& program) {
    if (json.size() != 3 && json.size() != 5)
        json.refuse("[buffer, offset, length] or [buffer, offset, length, stride, count]");
    std::vector<std::int64_t> n;
    for (const JsonField& item : json.items())
        n.push_back(item.integer(0, ScheduleFile::most_elements));
    if (n[0] >= std::ssize(program.buffers))
        json[0].refuse(
            fmt::format("one of the {} buffers, numbered from 0", program.buffers.size()));
    const int buffer = static_cast<int>(n[0]);
    const Region region =
        n.size() == 3 ? block(buffer, n[1], n[2]) : Region{buffer, n[1], n[2], n[3], n[4]};
    const Elements held = program.buffers[static_cast<std::size_t>(buffer)].size;
    const Elements room = held - region.length - region.offset;
    // Divides, because the end of the region may overflow.
    if (room < 0 ||
        (region.count > 1 && region.stride > 0 && region.count - 1 > room / region.stride))
        json.fail(fmt::format("is {}, expected a region inside buffer {}, which has {} elements", n,
                              buffer, held));
    return region;
}

std::uint32_t add_regions(const std::optional<JsonField>& json, Program& program) {
    const std::size_t before = program.regions.size();
    for (const JsonField& region : json ? json->items() : std::vector<JsonField>())
        program.regions.push_back(region_of(region, program));
    return static_cast<std::uint32_t>(program.regions.size() - before);
}

Step step_of(const JsonField& json, Program& program) {
    Step step;
    step.verb = json.at("verb").one_of<Verb>(verbs);
    step.first = static_cast<std::uint32_t>(program.regions.size());
    if (is_message(step.verb)) {
        json.require_known({"verb", "peer", "regions", "round", "group"});
        step.peer = static_cast<int>(json.at("peer").integer(0, ScheduleFile::most_ranks - 1));
    } else if (has_destination(step.verb)) {
        json.require_known({"verb", "regions", "to", "round", "group"});
        step.to = region_of(json.at("to"), program);
    } else {
        json.require_known(
            {"verb", "kernel", "regions", "outputs", "reads_in_place", "round", "group"});
        step.kernel = static_cast<int>(json.at("kernel").integer(0, most_number));
        const auto in_place = json.find("reads_in_place");
        step.reads_in_place = in_place && in_place->boolean();
    }
    step.round = number_or_0(json, "round");
    step.group = number_or_0(json, "group");
    step.count = add_regions(json.at("regions"), program);
    step.made = add_regions(json.find("outputs"), program);
    return step;
}

/// What the programs of a file may still take; bounds the time and memory that they need later.
struct Allowance {
    double comparisons = 16.0 * (1 << 30);
    std::size_t dependences = std::size_t{1} << 24;
};

Program program_of(const JsonField& json, Allowance& left) {
    json.require_known({"buffers", "steps", "window", "result"});
    Program program;
    for (const JsonField& buffer : json.at("buffers").items())
        read(record_of(program.buffers.emplace_back()), buffer);
    const JsonField steps = json.at("steps");
    if (steps.size() > ScheduleFile::most_steps)
        steps.refuse(fmt::format("at most {} steps", ScheduleFile::most_steps));
    for (std::size_t i = 0; i < steps.size(); ++i)
        program.steps.push_back(step_of(steps[i], program));
    program.window = number_or_0(json, "window");
    if (const auto result = json.find("result"))
        program.result = region_of(*result, program);
    auto runs = static_cast<double>(program.result.count);
    for (const Region& region : program.regions)
        runs += static_cast<double>(region.count);
    for (const Step& step : program.steps)
        runs += static_cast<double>(step.to.count);
    left.comparisons -= runs * static_cast<double>(program.regions.size() + program.steps.size());
    if (left.comparisons < 0)
        json.fail("has too many regions or runs of regions to compare them all");
    try {
        left.dependences -= Dependences(program, left.dependences).edges();
    } catch (const std::logic_error& error) {
        json.fail(fmt::format("is wrong: {}", error.what()));
    }
    return program;
}

/// The number of elements of each rank's input. Throws InvalidTask if a rank has several inputs.
std::vector<Elements> inputs_of(const ScheduleFile& file) {
    std::vector<Elements> inputs(file.schedule.size());
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
        for (const BufferSpec& buffer : file.schedule[rank].buffers) {
            const bool is_input = buffer.role == Role::input || buffer.role == Role::in_out;
            if (is_input && buffer.size > 0 && std::exchange(inputs[rank], buffer.size) > 0)
                throw InvalidTask(fmt::format("claim {}: rank {} has several inputs, expected one",
                                              name(*file.claim), rank));
        }
    }
    return inputs;
}

collective::Partition partition_of(const ScheduleFile& file, const std::vector<Elements>& inputs) {
    using enum CollectiveKind;
    const int ranks = static_cast<int>(inputs.size());
    std::vector<Elements> results;
    for (const Program& program : file.schedule)
        results.push_back(program.result.elements());
    switch (*file.claim) {
    case scatter:
    case reduce_scatter:
        return collective::Partition::blocks(std::move(results));
    case gather:
    case all_gather:
        return collective::Partition::blocks(inputs);
    case all_to_all:
        return near_square(ranks, inputs[0], ranks);
    default:
        return strips(ranks, inputs[0]);
    }
}

} // namespace

std::string json_of(const ScheduleFile& file) {
    std::vector<std::string> programs;
    for (const Program& program : file.schedule)
        programs.push_back(text_of(program));
    return fmt::format("{{\n \"version\": 1,\n{}{} \"programs\": [\n{}]\n}}\n",
                       file.claim ? fmt::format(" \"claim\": \"{}\",\n", name(*file.claim)) : "",
                       file.commutative ? " \"commutative\": true,\n" : "",
                       fmt::join(programs, ",\n"));
}

ScheduleFile parse_schedule(std::string_view text, const std::string& path) {
    ScheduleFile file;
    Allowance left;
    const JsonField json = JsonField::parse(text, path, "programs", [&](const JsonField& program) {
        if (file.schedule.size() == ScheduleFile::most_ranks)
            program.fail(fmt::format("is one too many, expected at most {} programs",
                                     ScheduleFile::most_ranks));
        file.schedule.push_back(program_of(program, left));
    });
    json.require_known({"version", "claim", "commutative", "programs"});
    json.at("version").require_version(1);
    if (file.schedule.empty())
        json.at("programs").refuse("a list of one program per rank");
    if (const auto claim = json.find("claim"))
        file.claim = claim->one_of<CollectiveKind>(collective_names);
    if (const auto commutative = json.find("commutative"))
        file.commutative = commutative->boolean();
    try {
        (void)match_messages(file.schedule);
        (void)claim_of(file);
    } catch (const std::logic_error& error) {
        throw InvalidFile(path, error.what());
    } catch (const InvalidTask& error) {
        throw InvalidFile(path, error.what());
    }
    return file;
}

Claim claim_of(const ScheduleFile& file) {
    if (!file.claim) {
        Claim claim;
        claim.order = Order::unchecked;
        claim.given = [](int rank, int, Elements e) { return Symbol{e, rank, rank + 1}; };
        claim.computed = [](int, const Program& program, const Step& step, const auto&) {
            const auto elements = static_cast<std::size_t>(program.elements_of(step));
            return std::vector<Symbol>(elements, {0, 0, 1});
        };
        return claim;
    }
    const std::vector<Elements> inputs = inputs_of(file);
    const collective::Partition data = partition_of(file, inputs);
    for (int rank = 0; rank < data.ranks(); ++rank) {
        const Elements expected = pixels_before(*file.claim, data, rank).elements();
        const Elements input = inputs[static_cast<std::size_t>(rank)];
        if (input != expected)
            throw InvalidTask(fmt::format("claim {}: the input of rank {} has {} elements, "
                                          "expected {}",
                                          name(*file.claim), rank, input, expected));
    }
    return collective::claim_of(*file.claim, data, file.commutative);
}

} // namespace sextant
