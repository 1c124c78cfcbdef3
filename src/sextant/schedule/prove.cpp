// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/prove.hpp"

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/symbolic_execution.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

namespace {

std::vector<Dependences> dependences_of(const Schedule& schedule) {
    std::vector<Dependences> all;
    all.reserve(schedule.size());
    for (const Program& program : schedule) {
        try {
            all.emplace_back(program);
        } catch (const std::logic_error& error) {
            throw std::logic_error(fmt::format("rank {}, {}", all.size(), error.what()));
        }
    }
    return all;
}

/// Adds one rank's costs to a proof.
void add_costs(const Program& program, Proof& proof) {
    int messages = 0;
    Elements moved = 0, applications = 0;
    for (const Step& step : program.steps) {
        if (step.verb == Verb::send)
            ++messages, moved += program.elements_of(step);
        if (step.verb == Verb::fold)
            applications += (step.count - 1) * step.to.elements();
    }
    proof.messages += messages;
    proof.most_messages = std::max(proof.most_messages, messages);
    proof.moved += moved;
    proof.most_moved = std::max(proof.most_moved, moved);
    proof.applications += applications;
    proof.most_applications = std::max(proof.most_applications, applications);
}

/// Returns a proof with only the costs filled in; symbolic execution fills in the rest.
Proof costs_of(const Schedule& schedule, const std::vector<Dependences>& dependences) {
    Proof proof;
    for (const Program& program : schedule)
        add_costs(program, proof);
    for (const Dependences& own : dependences)
        proof.edges += static_cast<std::int64_t>(own.edges());
    return proof;
}

void check_results(const Claim& claim, int ranks, SymbolicMemory& memory) {
    std::vector<std::vector<Symbol>> results;
    for (int rank = 0; rank < ranks; ++rank) {
        results.push_back(memory.result(rank));
        memory.check_all_used(rank);
        const std::string wrong = claim.wanted ? claim.wanted(rank, results.back()) : "";
        if (!wrong.empty())
            throw std::logic_error(fmt::format("rank {}, result: {}", rank, wrong));
    }
    const std::string wrong = claim.wanted_together ? claim.wanted_together(results) : "";
    if (!wrong.empty())
        throw std::logic_error("results: " + wrong);
}

} // namespace

Proof prove(const Schedule& schedule, const Claim& claim, Delivery delivery, unsigned seed) {
    Proof proof;
    try {
        const std::vector<Dependences> dependences = dependences_of(schedule);
        proof = costs_of(schedule, dependences);
        SymbolicMemory memory(schedule, claim);
        proof.depth = execute(schedule, dependences, delivery, seed, memory);
        check_results(claim, static_cast<int>(schedule.size()), memory);
    } catch (const std::logic_error& error) {
        proof.error = error.what();
    }
    return proof;
}

Proof prove(const Schedule& schedule, const Claim& claim) {
    Proof first;
    for (Delivery delivery : deliveries) {
        Proof proof = prove(schedule, claim, delivery);
        if (delivery == deliveries[0])
            first = proof;
        if (proof.holds())
            continue;
        first.error = std::string(name(delivery)) + " delivery: " + proof.error;
        break;
    }
    return first;
}

std::string_view name(Delivery delivery) {
    switch (delivery) {
    case Delivery::rendezvous:
        return "rendezvous";
    case Delivery::shuffled:
        return "shuffled";
    case Delivery::eager:
        return "eager";
    case Delivery::lent:
        return "lent";
    }
    return "";
}

} // namespace sextant
