// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/symbolic_memory.hpp"

#include "sextant/schedule/fault.hpp"

namespace sextant {

SymbolicMemory::SymbolicMemory(const Schedule& schedule, const Claim& claim) : schedule_(schedule) {
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        auto& buffers = cells_.emplace_back();
        for (const BufferSpec& spec : program(rank).buffers) {
            const int number = static_cast<int>(buffers.size());
            auto& buffer = buffers.emplace_back(static_cast<std::size_t>(spec.size));
            if (spec.role != Role::input && spec.role != Role::in_out)
                continue;
            for (Elements e = 0; e < spec.size; ++e)
                buffer[static_cast<std::size_t>(e)].symbol = claim.given(rank, number, e);
        }
    }
}

/// Calls `visit` with each element of a region, in order.
template <class Visit>
void SymbolicMemory::for_each_cell(int rank, const Region& region, Visit&& visit) {
    auto& buffer = cells_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(region.buffer)];
    for (Elements run = 0; run < region.count; ++run) {
        Cell* const first = buffer.data() + region.offset + run * region.stride;
        for (Cell* cell = first; cell != first + region.length; ++cell)
            visit(*cell);
    }
}

/// Calls `visit` with each element of a message, on the side of a step.
template <class Visit>
void SymbolicMemory::for_each_cell(StepOfRank message, Visit&& visit) {
    for (const Region& region : program(message.rank).regions_of(step(message)))
        for_each_cell(message.rank, region, visit);
}

const Symbol& SymbolicMemory::read(StepOfRank at, Cell& cell) {
    const Symbol& symbol = cell.value();
    if (symbol.element == Symbol::undefined)
        throw fault(schedule_, at, "reads an element that nobody wrote");
    cell.unused_transfer = -1;
    return symbol;
}

std::vector<Symbol> SymbolicMemory::read(StepOfRank at, const Region& region) {
    std::vector<Symbol> symbols;
    symbols.reserve(static_cast<std::size_t>(region.elements()));
    for_each_cell(at.rank, region, [&](Cell& cell) { symbols.push_back(read(at, cell)); });
    return symbols;
}

std::vector<Symbol> SymbolicMemory::message(StepOfRank send) {
    std::vector<Symbol> symbols;
    symbols.reserve(static_cast<std::size_t>(program(send.rank).elements_of(step(send))));
    for_each_cell(send, [&](Cell& cell) { symbols.push_back(read(send, cell)); });
    return symbols;
}

void SymbolicMemory::write(StepOfRank at, Cell& cell, const Cell& value) {
    if (cell.unused_transfer >= 0)
        throw dead_transfer(at.rank, cell.unused_transfer);
    cell = value;
}

void SymbolicMemory::write(StepOfRank at, std::span<const Symbol> symbols) {
    auto symbol = symbols.begin();
    for_each_cell(at.rank, step(at).to, [&](Cell& cell) { write(at, cell, {*symbol++}); });
}

void SymbolicMemory::receive(StepOfRank receive, std::span<const Symbol> message) {
    auto symbol = message.begin();
    for_each_cell(receive, [&](Cell& cell) {
        write(receive, cell, {*symbol++, nullptr, receive.step});
    });
}

void SymbolicMemory::lend(StepOfRank send, StepOfRank receive) {
    std::vector<const Cell*> lent;
    for_each_cell(send, [&](Cell& cell) {
        read(send, cell);
        lent.push_back(&cell);
    });
    auto lender = lent.begin();
    for_each_cell(receive, [&](Cell& cell) {
        write(receive, cell, {{}, *lender++, receive.step});
    });
}

std::vector<Symbol> SymbolicMemory::result(int rank) {
    const Region& region = program(rank).result;
    if (region.empty())
        return {};
    std::vector<Symbol> symbols;
    for_each_cell(rank, region, [&](Cell& cell) {
        cell.unused_transfer = -1;
        symbols.push_back(cell.value());
    });
    return symbols;
}

void SymbolicMemory::check_all_used(int rank) const {
    for (const auto& buffer : cells_[static_cast<std::size_t>(rank)]) {
        for (const Cell& cell : buffer) {
            if (cell.unused_transfer >= 0)
                throw dead_transfer(rank, cell.unused_transfer);
        }
    }
}

std::logic_error SymbolicMemory::dead_transfer(int rank, int receive) const {
    return fault(schedule_, {rank, receive}, "dead transfer: what it brings is never used");
}

} // namespace sextant
