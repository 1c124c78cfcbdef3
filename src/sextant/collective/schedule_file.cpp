// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/schedule_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/text.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

constexpr std::string_view verbs[] = {"send", "receive", "fold", "copy", "compute"};
constexpr std::string_view roles[] = {"input", "in-out", "output", "scratch"};
constexpr int most_number = 1 << 20; // of rounds, groups, kernels and bytes per element

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

Json json_of(const BufferSpec& buffer) {
    Json json = {{"role", roles[static_cast<std::size_t>(buffer.role)]}, {"size", buffer.size}};
    if (buffer.element > 0)
        json.set("element", buffer.element);
    if (buffer.room > 0)
        json.set("room", buffer.room);
    return json;
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
    for (const BufferSpec& buffer : program.buffers)
        buffers.push_back(json_of(buffer).text(-1));
    for (const Step& step : program.steps)
        steps.push_back("\n    " + json_of(program, step).text(-1));
    std::string text = fmt::format("  {{\"buffers\": [{}],\n   ", fmt::join(buffers, ", "));
    if (program.window > 0)
        text += fmt::format("\"window\": {}, ", program.window);
    text += fmt::format("\"steps\": [{}]", fmt::join(steps, ","));
    if (!program.result.empty())
        text += fmt::format(",\n   \"result\": {}", json_of(program.result).text(-1));
    return text + "}";
}

void allow(const JsonField& object, std::initializer_list<std::string_view> fields) {
    for (const std::string& name : object.names()) {
        if (std::find(fields.begin(), fields.end(), name) == fields.end())
            object.fail("has the " + unknown_name("field", printable(shortened(name)),
                                                  {fields.begin(), fields.size()}));
    }
}

int number_or_0(const JsonField& object, const std::string& name) {
    const auto field = object.find(name);
    return field ? static_cast<int>(field->integer(0, most_number)) : 0;
}

BufferSpec buffer_of(const JsonField& json) {
    allow(json, {"role", "size", "element", "room"});
    return {json.at("role").one_of<Role>(roles),
            json.at("size").integer(0, ScheduleFile::most_elements), number_or_0(json, "element"),
            number_or_0(json, "room")};
}

Region region_of(const JsonField& json, const Program& program) {
    const std::size_t size = json.size();
    if (size != 3 && size != 5)
        json.refuse("[buffer, offset, length] or [buffer, offset, length, stride, count]");
    std::vector<std::int64_t> n;
    for (const JsonField& item : json.items())
        n.push_back(item.integer(0, ScheduleFile::most_elements));
    if (n[0] >= std::ssize(program.buffers))
        json[0].refuse(
            fmt::format("one of the {} buffers, numbered from 0", program.buffers.size()));
    const Region region = size == 3 ? block(static_cast<int>(n[0]), n[1], n[2])
                                    : Region{static_cast<int>(n[0]), n[1], n[2], n[3], n[4]};
    const Elements held = program.buffers[static_cast<std::size_t>(n[0])].size;
    const Elements room = held - region.length - region.offset;
    // Divides, because the end of the region may overflow.
    if (room < 0 ||
        (region.count > 1 && region.stride > 0 && region.count - 1 > room / region.stride))
        json.fail(fmt::format("is {}, expected a region inside buffer {}, which has {} elements", n,
                              region.buffer, held));
    return region;
}

std::uint32_t add_regions(const std::optional<JsonField>& json, Program& program) {
    if (!json)
        return 0;
    for (std::size_t i = 0; i < json->size(); ++i)
        program.regions.push_back(region_of((*json)[i], program));
    return static_cast<std::uint32_t>(json->size());
}

Step step_of(const JsonField& json, Program& program) {
    Step step;
    step.verb = json.at("verb").one_of<Verb>(verbs);
    step.first = static_cast<std::uint32_t>(program.regions.size());
    if (is_message(step.verb)) {
        allow(json, {"verb", "peer", "regions", "round", "group"});
        step.peer = static_cast<int>(json.at("peer").integer(0, ScheduleFile::most_ranks - 1));
    } else if (has_destination(step.verb)) {
        allow(json, {"verb", "regions", "to", "round", "group"});
        step.to = region_of(json.at("to"), program);
    } else {
        allow(json, {"verb", "kernel", "regions", "outputs", "reads_in_place", "round", "group"});
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

/// Parses programs, and bounds the time and memory that all of them need later.
class Reader {
  public:
    explicit Reader(const std::string& path) : path_(path) {}

    Program program_of(const JsonField& json) {
        allow(json, {"buffers", "steps", "window", "result"});
        Program program;
        for (const JsonField& buffer : json.at("buffers").items())
            program.buffers.push_back(buffer_of(buffer));
        const JsonField steps = json.at("steps");
        if (steps.size() > ScheduleFile::most_steps)
            steps.refuse(fmt::format("at most {} steps", ScheduleFile::most_steps));
        for (std::size_t i = 0; i < steps.size(); ++i)
            program.steps.push_back(step_of(steps[i], program));
        program.window = number_or_0(json, "window");
        if (const auto result = json.find("result"))
            program.result = region_of(*result, program);
        check(json, program);
        return program;
    }

    /// Checks peers, once the number of ranks is known.
    void check_peers(const Schedule& schedule) const {
        const int ranks = static_cast<int>(schedule.size());
        for (int rank = 0; rank < ranks; ++rank) {
            const std::vector<Step>& steps = schedule[static_cast<std::size_t>(rank)].steps;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const int peer = steps[i].peer;
                if (is_message(steps[i].verb) && (peer >= ranks || peer == rank))
                    throw InvalidFile(
                        path_, fmt::format("programs[{}].steps[{}].peer is {}, expected another "
                                           "rank from 0 to {}",
                                           rank, i, peer, ranks - 1));
            }
        }
        try {
            (void)match_messages(schedule);
        } catch (const std::logic_error& error) {
            throw InvalidFile(path_, error.what());
        }
    }

  private:
    void check(const JsonField& json, const Program& program) {
        double runs = static_cast<double>(program.result.count);
        for (const Region& region : program.regions)
            runs += static_cast<double>(region.count);
        for (const Step& step : program.steps)
            runs += static_cast<double>(step.to.count);
        comparisons_ += runs * static_cast<double>(program.regions.size() + program.steps.size());
        if (comparisons_ > most_comparisons)
            json.fail("has too many regions or runs of regions to compare them all");
        try {
            dependences_ += Dependences(program, most_dependences - dependences_).edges();
        } catch (const std::logic_error& error) {
            json.fail(fmt::format("is wrong: {}", error.what()));
        }
    }

    static constexpr double most_comparisons = 16.0 * (1 << 30);
    static constexpr std::size_t most_dependences = std::size_t{1} << 24;

    const std::string& path_;
    double comparisons_ = 0;
    std::size_t dependences_ = 0;
};

/// The number of elements of a rank's input. Throws InvalidTask if the rank has several inputs.
Elements input_of(const ScheduleFile& file, int rank) {
    Elements elements = 0;
    for (const BufferSpec& buffer : file.schedule[static_cast<std::size_t>(rank)].buffers) {
        if (buffer.size == 0 || (buffer.role != Role::input && buffer.role != Role::in_out))
            continue;
        if (std::exchange(elements, buffer.size) > 0)
            throw InvalidTask(fmt::format("claim {}: rank {} has several inputs, expected one",
                                          name(*file.claim), rank));
    }
    return elements;
}

collective::Partition partition_of(const ScheduleFile& file) {
    using enum CollectiveKind;
    const int ranks = static_cast<int>(file.schedule.size());
    std::vector<Elements> inputs, results;
    for (int rank = 0; rank < ranks; ++rank) {
        inputs.push_back(input_of(file, rank));
        results.push_back(file.schedule[static_cast<std::size_t>(rank)].result.elements());
    }
    switch (*file.claim) {
    case scatter:
    case reduce_scatter:
        return collective::Partition::blocks(std::move(results));
    case gather:
    case all_gather:
        return collective::Partition::blocks(std::move(inputs));
    case all_to_all:
        return near_square(ranks, inputs[0], ranks);
    default:
        return strips(ranks, inputs[0]);
    }
}

} // namespace

std::string json_of(const ScheduleFile& file) {
    std::string text = "{\n \"version\": 1,\n";
    if (file.claim)
        text += fmt::format(" \"claim\": \"{}\",\n", name(*file.claim));
    if (file.commutative)
        text += " \"commutative\": true,\n";
    std::vector<std::string> programs;
    for (const Program& program : file.schedule)
        programs.push_back(text_of(program));
    return text + fmt::format(" \"programs\": [\n{}]\n}}\n", fmt::join(programs, ",\n"));
}

ScheduleFile parse_schedule(std::string_view text, const std::string& path) {
    ScheduleFile file;
    Reader reader(path);
    const JsonField json = JsonField::parse(text, path, "programs", [&](const JsonField& program) {
        if (file.schedule.size() == ScheduleFile::most_ranks)
            program.fail(fmt::format("is one too many, expected at most {} programs",
                                     ScheduleFile::most_ranks));
        file.schedule.push_back(reader.program_of(program));
    });
    allow(json, {"version", "claim", "commutative", "programs"});
    json.at("version").require_version(1);
    if (file.schedule.empty())
        json.at("programs").refuse("a list of one program per rank");
    if (const auto claim = json.find("claim"))
        file.claim = claim->one_of<CollectiveKind>(collective_names);
    if (const auto commutative = json.find("commutative"))
        file.commutative = commutative->boolean();
    reader.check_peers(file.schedule);
    try {
        (void)claim_of(file);
    } catch (const InvalidTask& error) {
        throw InvalidFile(path, error.what());
    }
    return file;
}

Claim claim_of(const ScheduleFile& file) {
    if (file.claim) {
        const collective::Partition data = partition_of(file);
        for (int rank = 0; rank < data.ranks(); ++rank) {
            const Elements expected = pixels_before(*file.claim, data, rank).elements();
            if (input_of(file, rank) != expected)
                throw InvalidTask(fmt::format("claim {}: the input of rank {} has {} elements, "
                                              "expected {}",
                                              name(*file.claim), rank, input_of(file, rank),
                                              expected));
        }
        return collective::claim_of(*file.claim, data, file.commutative);
    }
    Claim claim;
    claim.order = Order::unchecked;
    claim.given = [](int rank, int, Elements e) { return Symbol{e, rank, rank + 1}; };
    claim.computed = [](int, const Program& program, const Step& step, const auto&) {
        return std::vector<Symbol>(static_cast<std::size_t>(program.elements_of(step)), {0, 0, 1});
    };
    return claim;
}

} // namespace sextant
