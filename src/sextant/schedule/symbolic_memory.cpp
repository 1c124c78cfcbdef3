// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/symbolic_memory.hpp"

#include "sextant/schedule/fault.hpp"

namespace sextant {

SymbolicMemory::SymbolicMemory(const Schedule& schedule, const Claim& claim)
    : schedule_(schedule), claim_(claim) {
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        auto& buffers = ranks_.emplace_back().buffers;
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
    auto& buffer = memory(rank).buffers[static_cast<std::size_t>(region.buffer)];
    for (Elements run = 0; run < region.count; ++run) {
        Cell* const first = buffer.data() + region.offset + run * region.stride;
        for (Cell* cell = first; cell != first + region.length; ++cell)
            visit(*cell);
    }
}

/// Calls `visit` with each element of a step's regions, in message order.
template <class Visit>
void SymbolicMemory::for_each_cell(StepOfRank at, Visit&& visit) {
    for (const Region& region : program(at.rank).regions_of(step(at)))
        for_each_cell(at.rank, region, visit);
}

std::int64_t SymbolicMemory::arrive(StepOfRank receive) {
    auto& arrivals = memory(receive.rank).arrivals;
    arrivals.push_back({receive.step});
    return static_cast<std::int64_t>(arrivals.size()) - 1;
}

const Symbol& SymbolicMemory::defined(StepOfRank at, const Cell& cell) const {
    if (cell.value().element == Symbol::undefined)
        throw fault(schedule_, at, "reads an element that nobody wrote");
    return cell.value();
}

const Symbol& SymbolicMemory::use(int rank, const Cell& cell) {
    if (cell.arrival >= 0)
        memory(rank).arrivals[static_cast<std::size_t>(cell.arrival)].used = true;
    return cell.value();
}

const Symbol& SymbolicMemory::read(StepOfRank at, const Cell& cell) {
    use(at.rank, cell);
    return defined(at, cell);
}

std::vector<Symbol> SymbolicMemory::read(StepOfRank at, const Region& region) {
    std::vector<Symbol> symbols;
    symbols.reserve(static_cast<std::size_t>(region.elements()));
    for_each_cell(at.rank, region, [&](const Cell& cell) { symbols.push_back(read(at, cell)); });
    return symbols;
}

std::vector<Symbol> SymbolicMemory::read(StepOfRank at) {
    std::vector<Symbol> symbols;
    for_each_cell(at, [&](const Cell& cell) { symbols.push_back(read(at, cell)); });
    return symbols;
}

void SymbolicMemory::write(StepOfRank fold, std::span<const Symbol> symbols) {
    auto symbol = symbols.begin();
    for_each_cell(fold.rank, step(fold).to, [&](Cell& cell) { cell = {*symbol++}; });
}

void SymbolicMemory::copy(StepOfRank copy) {
    std::vector<Cell> cells;
    for_each_cell(copy, [&](const Cell& cell) {
        cells.push_back({defined(copy, cell), nullptr, cell.arrival});
    });
    auto copied = cells.begin();
    for_each_cell(copy.rank, step(copy).to, [&](Cell& cell) { cell = *copied++; });
}

void SymbolicMemory::compute(StepOfRank compute) {
    const Program& own = program(compute.rank);
    const std::vector<Symbol> taken = read(compute);
    std::vector<Symbol> made;
    try {
        if (!claim_.computed)
            throw std::logic_error("nothing is said of what kernels mean");
        made = claim_.computed(compute.rank, own, step(compute), taken);
    } catch (const std::logic_error& error) {
        throw fault(schedule_, compute, error.what());
    }
    if (static_cast<Elements>(made.size()) != own.elements_of(step(compute)))
        throw fault(schedule_, compute, "makes another number of elements than its regions have");
    auto symbol = made.begin();
    for (const Region& region : own.made_by(step(compute)))
        for_each_cell(compute.rank, region, [&](Cell& cell) { cell = {*symbol++}; });
}

void SymbolicMemory::receive(StepOfRank receive, std::span<const Symbol> message) {
    auto symbol = message.begin();
    for_each_cell(receive, [&](Cell& cell) { cell = {*symbol++, nullptr, arrive(receive)}; });
}

void SymbolicMemory::lend(StepOfRank send, StepOfRank receive) {
    std::vector<const Cell*> lent;
    for_each_cell(send, [&](const Cell& cell) {
        read(send, cell);
        lent.push_back(&cell);
    });
    auto lender = lent.begin();
    for_each_cell(receive, [&](Cell& cell) { cell = {{}, *lender++, arrive(receive)}; });
}

std::vector<Symbol> SymbolicMemory::result(int rank) {
    const Region& region = program(rank).result;
    if (region.empty())
        return {};
    std::vector<Symbol> symbols;
    for_each_cell(rank, region, [&](const Cell& cell) { symbols.push_back(use(rank, cell)); });
    return symbols;
}

void SymbolicMemory::check_all_used(int rank) const {
    for (const Arrival& arrival : ranks_[static_cast<std::size_t>(rank)].arrivals) {
        if (arrival.used)
            continue;
        throw fault(schedule_, {rank, arrival.receive},
                    "dead transfer: what it brings is never used");
    }
}

} // namespace sextant
