// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/work_costs.hpp"

#include "sextant/model/message.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sextant::model {

WorkCosts::WorkCosts(const Question& question)
    : question_(question),
      operator_(question.machine.find_operator(question.operator_name, question.element_name)) {
    for (const KernelUse& use : question.kernels)
        kernels_.push_back(question.machine.find_kernel(use.name, question.element_name));
}

/// Returns the time of a pass with the node's other cores idle, divided by its time with all cores
/// busy. The ratio was measured with two operands and is used for any number of operands.
double WorkCosts::alone_share(Elements elements) const {
    const double together = machine::at_pass(operator_->passes, elements, 2).median;
    const double alone = machine::at_pass(operator_->alone, elements, 2).median;
    return together > 0 ? std::min(1.0, alone / together) : 1;
}

Span WorkCosts::fold(Elements elements, int operands, bool alone) {
    if (!operator_)
        return {};
    if (!operator_->passes.empty()) {
        alone = alone && !operator_->alone.empty();
        const auto [found, added] = folds_.try_emplace({elements, operands, alone});
        if (added) {
            const Span together(machine::at_pass(operator_->passes, elements, operands));
            found->second = together * (alone ? alone_share(elements) : 1);
        }
        return found->second;
    }
    const double applications = static_cast<double>(elements) * (operands - 1);
    return Span(*operator_->seconds_per_element) * applications;
}

/// A pass over k operands applies the operator k − 1 times per element, and all passes together
/// apply it `operands` − 1 times. Pass time is linear between measured operand counts. Therefore
/// both the cost per application and the cost of the last pass are lowest at a measured count or at
/// an end of the range.
WorkCosts::LeastFold WorkCosts::least_fold(Elements elements, int operands) {
    LeastFold least{fold(elements, operands, true).median, fold(elements, operands, true).median};
    const auto consider = [&](int k) {
        if (k < 2 || k >= operands)
            return;
        const Seconds pass = fold(elements, k, true).median;
        least.all = std::min(least.all, pass * (operands - 1) / (k - 1));
        least.last = std::min(least.last, pass);
    };
    if (question_.folds_at_once)
        return least;
    consider(2);
    if (operator_) {
        for (const machine::Pass& pass : operator_->passes)
            consider(pass.operands);
    }
    return least;
}

/// Uses the measured passes of the kernel, or else its cost per element.
Span WorkCosts::compute(int kernel, Elements elements) const {
    const auto k = static_cast<std::size_t>(kernel);
    const machine::Work* const work = k < kernels_.size() ? kernels_[k] : nullptr;
    if (!work)
        return {};
    if (!work->passes.empty())
        return Span(machine::at_pass(work->passes, elements, question_.kernels[k].operands));
    return Span(*work->seconds_per_element) * static_cast<double>(elements);
}

/// Uses the copy rate whose block length is nearest in ratio; a block length of 0 in the profile
/// means contiguous.
Span WorkCosts::copy(Bytes bytes, Bytes block) const {
    const auto& rates = question_.machine.copies;
    if (rates.empty())
        return {};
    const auto distance = [&](const machine::CopyRate& rate) {
        const Bytes length = rate.block == 0 ? bytes : rate.block;
        return std::abs(std::log2(static_cast<double>(std::max<Bytes>(1, length)) /
                                  static_cast<double>(std::max<Bytes>(1, block))));
    };
    const auto nearest = std::min_element(
        rates.begin(), rates.end(), [&](auto& a, auto& b) { return distance(a) < distance(b); });
    return Span(nearest->seconds_per_byte) * static_cast<double>(bytes);
}

Span WorkCosts::of(const Program& program, const Step& step) const {
    if (step.verb == Verb::compute)
        return compute(step.kernel, program.elements_of(step));
    const Region &to = step.to, &from = program.regions_of(step)[0];
    const auto piece = [](const Region& r) { return r.contiguous() ? r.elements() : r.length; };
    const Bytes size = program.element_size(to.buffer, question_.element_size);
    return copy(size * to.elements(), size * std::min(piece(to), piece(from)));
}

std::vector<std::string> WorkCosts::remarks(const Schedule& schedule) const {
    const auto has = [&](Verb verb) {
        return std::any_of(schedule.begin(), schedule.end(), [&](const Program& program) {
            return std::any_of(program.steps.begin(), program.steps.end(),
                               [&](const Step& step) { return step.verb == verb; });
        });
    };
    std::vector<std::string> remarks;
    if (!operator_ && has(Verb::fold)) {
        remarks.push_back(fmt::format(
            "folds are predicted to take no time: the profile of {} has no operator '{}' on {}",
            question_.machine.name, question_.operator_name, question_.element_name));
    }
    const bool known = std::all_of(kernels_.begin(), kernels_.end(), [](auto* k) { return k; });
    if (has(Verb::compute) && (kernels_.empty() || !known)) {
        remarks.push_back(
            fmt::format("kernels that are not in the profile of {} are predicted to take no time",
                        question_.machine.name));
    }
    if (question_.machine.copies.empty() && has(Verb::copy)) {
        remarks.push_back(
            fmt::format("copies are predicted to take no time: the profile of {} has no copy rate",
                        question_.machine.name));
    }
    return remarks;
}

FoldingRanks::FoldingRanks(const Question& question) : question_(question) {
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        std::set<int> rounds;
        for (const Step& each : question.schedule[static_cast<std::size_t>(rank)].steps) {
            if (each.verb == Verb::fold)
                rounds.insert(each.round);
        }
        for (const int round : rounds)
            ++count_[{node_of(question, rank), round}];
    }
}

bool FoldingRanks::is_alone(int rank, int round) const {
    return count_.at({node_of(question_, rank), round}) == 1;
}

namespace {

/// Returns the node of each rank, with nodes renumbered from 0.
std::vector<int> numbered(std::span<const int> nodes, int ranks, bool threads) {
    std::vector<int> numbers;
    std::map<int, int> known;
    for (int rank = 0; rank < ranks; ++rank) {
        const int node = !nodes.empty() ? nodes[static_cast<std::size_t>(rank)]
                         : threads      ? 0
                                        : rank;
        numbers.push_back(known.try_emplace(node, static_cast<int>(known.size())).first->second);
    }
    return numbers;
}

} // namespace

Oversubscription crowd_of(const machine::Profile& machine, std::span<const int> nodes, int ranks,
                          machine::Link within_node) {
    Oversubscription crowd{0, machine.cores};
    std::vector<int> count(static_cast<std::size_t>(ranks));
    for (const int node : numbered(nodes, ranks, within_node == machine::Link::same_process))
        crowd.ranks = std::max(crowd.ranks, ++count[static_cast<std::size_t>(node)]);
    return crowd;
}

CoreQueue::CoreQueue(const Question& question) {
    const machine::Link within =
        shares_memory(question) ? machine::Link::same_process : machine::Link::same_node;
    const auto ranks = static_cast<int>(question.schedule.size());
    const Oversubscription crowd = crowd_of(question.machine, question.nodes, ranks, within);
    if (!crowd.takes_turns())
        return;
    node_ = numbered(question.nodes, ranks, within == machine::Link::same_process);
    nodes_.assign(static_cast<std::size_t>(ranks), Node(static_cast<std::size_t>(crowd.cores)));
}

/// Of the cores that are free when the rank is ready, chooses the one that became free last, so
/// that the others stay available for earlier work. If no core is free, chooses the one that
/// becomes free first.
Span CoreQueue::begin(int rank, const Span& ready, const Span& cost) {
    if (node_.empty())
        return ready;
    Node& cores = nodes_[static_cast<std::size_t>(node_[static_cast<std::size_t>(rank)])];
    const auto better = [&](const Span& a, const Span& b) {
        const bool a_free = a.median <= ready.median, b_free = b.median <= ready.median;
        if (a_free != b_free)
            return a_free;
        return a_free ? a.median > b.median : a.median < b.median;
    };
    Span& core = *std::min_element(cores.begin(), cores.end(), better);
    const Span begin = later(ready, core);
    core = begin + cost;
    return begin;
}

} // namespace sextant::model
