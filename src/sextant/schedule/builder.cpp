// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/builder.hpp"

#include <stdexcept>
#include <utility>

namespace sextant {

Region ProgramBuilder::buffer(Role role, Elements size, Bytes element) {
    program_.buffers.push_back({role, size, element});
    return block(static_cast<int>(program_.buffers.size()) - 1, 0, size);
}

/// Those that hold something; how many there are.
std::uint32_t ProgramBuilder::append(std::span<const Region> regions) {
    const std::size_t before = program_.regions.size();
    for (const Region& region : regions) {
        if (!region.empty())
            program_.regions.push_back(region);
    }
    return static_cast<std::uint32_t>(program_.regions.size() - before);
}

void ProgramBuilder::add(Verb verb, int peer, std::span<const Region> regions, const Region& to) {
    const auto first = static_cast<std::uint32_t>(program_.regions.size());
    const std::uint32_t count = append(regions);
    if (count > 0)
        program_.steps.push_back({verb, round_, group_, peer, first, count, to});
}

void ProgramBuilder::send(int peer, std::span<const Region> regions) {
    add(Verb::send, peer, regions, {});
}

void ProgramBuilder::receive(int peer, std::span<const Region> regions) {
    add(Verb::receive, peer, regions, {});
}

void ProgramBuilder::copy(const Region& to, const Region& from) {
    if (to.elements() != from.elements())
        throw std::logic_error("copy: sizes differ");
    if (!(to == from))
        add(Verb::copy, -1, {&from, 1}, to);
}

void ProgramBuilder::fold(const Region& to, std::span<const Region> operands) {
    if (operands.empty())
        throw std::logic_error("fold: no operands");
    if (operands.size() == 1)
        return copy(to, operands[0]);
    for (const Region& operand : operands) {
        if (operand.count > 1 && operand.stride < operand.length)
            throw std::logic_error("fold: the runs of an operand overlap");
        if (operand.elements() != to.elements())
            throw std::logic_error("fold: sizes differ");
        if (!(operand == to) && overlap(operand, to)) {
            throw std::logic_error("fold: the destination overlaps an operand in part");
        }
    }
    add(Verb::fold, -1, operands, to);
}

void ProgramBuilder::compute(int kernel, std::span<const Region> read,
                             std::span<const Region> made) {
    for (const Region& region : made) {
        for (const Region& other : read) {
            if (overlap(region, other))
                throw std::logic_error("compute: makes what it reads");
        }
    }
    Step step;
    step.verb = Verb::compute;
    step.round = round_;
    step.group = group_;
    step.kernel = kernel;
    step.first = static_cast<std::uint32_t>(program_.regions.size());
    step.count = append(read);
    step.made = append(made);
    if (step.made > 0)
        program_.steps.push_back(step);
    else
        program_.regions.resize(step.first);
}

Program ProgramBuilder::finish(const Region& result) {
    program_.result = result;
    return std::move(program_);
}

} // namespace sextant
