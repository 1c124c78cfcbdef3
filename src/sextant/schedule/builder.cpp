// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/builder.hpp"

#include <stdexcept>
#include <utility>

namespace sextant {

Region ProgramBuilder::buffer(Role role, Elements size) {
    program_.buffers.push_back({role, size});
    return block(static_cast<int>(program_.buffers.size()) - 1, 0, size);
}

void ProgramBuilder::add(Verb verb, int peer, std::span<const Region> regions, const Region& to) {
    const auto first = static_cast<std::uint32_t>(program_.regions.size());
    for (const Region& region : regions) {
        if (!region.empty())
            program_.regions.push_back(region);
    }
    const auto count = static_cast<std::uint32_t>(program_.regions.size()) - first;
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

Program ProgramBuilder::finish(const Region& result) {
    program_.result = result;
    return std::move(program_);
}

} // namespace sextant
