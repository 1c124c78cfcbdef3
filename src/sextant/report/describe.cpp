// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/describe.hpp"

#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::report {

namespace {

std::string describe(const Region& region) {
    if (region.empty())
        return fmt::format("buffer {}: nothing", region.buffer);
    if (region.contiguous()) {
        return fmt::format("buffer {}: {} to {}", region.buffer, grouped(region.offset),
                           grouped(region.end() - 1));
    }
    return fmt::format("buffer {}: {} runs of {} from {}, one every {}", region.buffer,
                       grouped(region.count), grouped(region.length), grouped(region.offset),
                       grouped(region.stride));
}

std::string verb_in_words(const Step& step) {
    switch (step.verb) {
    case Verb::send:
        return fmt::format("send to rank {}", step.peer);
    case Verb::receive:
        return fmt::format("receive from rank {}", step.peer);
    case Verb::fold:
        return fmt::format("fold of {}", counted(step.count, "operand"));
    case Verb::compute:
        return fmt::format("compute by kernel {}", step.kernel);
    case Verb::copy:
        break;
    }
    return std::string(name(step.verb));
}

/// A line a region, each after `before`.
std::string listed(std::span<const Region> regions, std::string_view before) {
    constexpr std::size_t most_regions = 8;
    const std::size_t named = std::min(regions.size(), most_regions);
    std::string text;
    for (const Region& region : regions.first(named))
        text += fmt::format("\n    {}{}", before, describe(region));
    if (regions.size() > named) {
        text +=
            fmt::format("\n    and {}",
                        counted(static_cast<std::int64_t>(regions.size() - named), "more region"));
    }
    return text;
}

} // namespace

std::string describe(const Schedule& schedule, StepOfRank at) {
    const Program& program = schedule[static_cast<std::size_t>(at.rank)];
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    std::string text = fmt::format("rank {}, step {}: {}, round {}, group {}, {}", at.rank, at.step,
                                   verb_in_words(step), step.round, step.group,
                                   counted(program.elements_of(step), "element"));
    text += listed(program.regions_of(step), "");
    text += listed(program.made_by(step), "into ");
    if (has_destination(step.verb))
        text += fmt::format("\n    into {}", describe(step.to));
    return text;
}

} // namespace sextant::report
