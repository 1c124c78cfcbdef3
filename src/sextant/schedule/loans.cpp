// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <optional>

namespace sextant {

namespace {

/// Where an operand begins in a message that was received into `regions`, if it lies within one.
std::optional<Elements> offset_in_message(std::span<const Region> regions, const Region& operand) {
    Elements before = 0;
    for (const Region& region : regions) {
        if (covers(region, operand) && operand.contiguous()) {
            return before + operand.offset - region.offset;
        }
        before += region.elements();
    }
    return std::nullopt;
}

/// The uses of a received message, or nothing where one of them forbids borrowing.
std::vector<Loans::Use> uses_of(const Program& program, const Dependences& dependences, int step) {
    std::vector<Loans::Use> uses;
    const Step& receive = program.steps[static_cast<std::size_t>(step)];
    for (const Dependences::Edge& edge : dependences.after(step)) {
        if (edge.region == Dependences::commit)
            continue; // overwrites what is not there: harmless
        if (program.steps[edge.step].verb != Verb::fold)
            return {};
        const auto region = static_cast<std::uint32_t>(edge.region);
        // Another writer means that some of what came has been replaced since.
        if (dependences.region_needs()[region] != 1)
            return {};
        const auto offset = offset_in_message(program.regions_of(receive), program.regions[region]);
        if (!offset)
            return {};
        uses.push_back({edge.step, region, *offset});
    }
    return uses;
}

/// The only step that needs what a fold makes, if that is a send of just that.
int taker_of(const Program& program, const Dependences& dependences, int fold) {
    int taker = -1;
    for (const Dependences::Edge& edge : dependences.after(fold)) {
        if (edge.region == Dependences::commit)
            continue; // overwrites what is no longer needed
        const Step& step = program.steps[edge.step];
        const auto region = static_cast<std::size_t>(edge.region);
        const bool takes_all =
            step.verb == Verb::send && step.count == 1 &&
            program.regions[region] == program.steps[static_cast<std::size_t>(fold)].to &&
            dependences.region_needs()[region] == 1;
        if (taker >= 0 || !takes_all)
            return -1;
        taker = static_cast<int>(edge.step);
    }
    return taker;
}

} // namespace

Loans::Loans(const Program& program, const Dependences& dependences)
    : lendable_(program.steps.size()),
      takers_(program.steps.size(), -1),
      first_(program.steps.size() + 1) {
    const auto& kept = dependences.result_writers();
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const int step = static_cast<int>(i);
        const Verb verb = program.steps[i].verb;
        lendable_[i] = verb == Verb::send && dependences.after(step).empty();
        const bool in_result =
            std::find(kept.begin(), kept.end(), static_cast<std::uint32_t>(i)) != kept.end();
        if (verb == Verb::receive && !in_result) {
            const std::vector<Use> uses = uses_of(program, dependences, step);
            uses_.insert(uses_.end(), uses.begin(), uses.end());
        }
        if (verb == Verb::fold && !in_result)
            takers_[i] = taker_of(program, dependences, step);
        first_[i + 1] = static_cast<std::uint32_t>(uses_.size());
    }
}

} // namespace sextant
