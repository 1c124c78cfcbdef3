// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/matching.hpp"

#include "sextant/core/equal_range.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

std::string where(int rank, int step) {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
}

[[noreturn]] void fail_with_counts(int from, std::size_t sends, int to, std::size_t receives) {
    throw std::logic_error("rank " + std::to_string(from) + " sends " + std::to_string(sends) +
                           " messages to rank " + std::to_string(to) + ", which receives " +
                           std::to_string(receives));
}

} // namespace

void MessageMatching::add(const Program& program) {
    const int rank = static_cast<int>(sends_.size());
    for (const auto& [verb, all] : {std::pair(Verb::send, &sends_), {Verb::receive, &receives_}}) {
        std::vector<Side>& own = all->emplace_back();
        own.reserve(static_cast<std::size_t>(
            std::ranges::count(program.steps, verb, [](const Step& step) { return step.verb; })));
        for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
            const Step& step = program.steps[static_cast<std::size_t>(i)];
            if (step.verb != verb)
                continue;
            if (step.peer < 0 || step.peer >= ranks_ || step.peer == rank) {
                throw std::logic_error(where(rank, i) +
                                       ": no such peer: " + std::to_string(step.peer) +
                                       ", expected another rank below " + std::to_string(ranks_));
            }
            const auto buffer = static_cast<std::size_t>(program.regions_of(step)[0].buffer);
            own.push_back(
                {step.peer, i, program.elements_of(step), program.buffers[buffer].element});
        }
        std::ranges::stable_sort(own, {}, &Side::peer);
    }
}

void MessageMatching::match(
    const std::function<void(StepOfRank send, StepOfRank receive)>& found) const {
    std::vector<std::size_t> next(receives_.size()); // by rank: the first receive from this sender
    std::size_t unmatched = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
        const std::vector<Side>& own = sends_[static_cast<std::size_t>(rank)];
        unmatched += receives_[static_cast<std::size_t>(rank)].size() - own.size();
        for (auto first = own.begin(); first != own.end();) {
            const auto peer = static_cast<std::size_t>(first->peer);
            const std::span all = std::span(receives_[peer]).subspan(next[peer]);
            const auto at_most = [&](int sender) {
                return std::ranges::find_if(all, [=](const Side& s) { return s.peer > sender; });
            };
            const std::span theirs(at_most(rank - 1), at_most(rank));
            next[peer] =
                static_cast<std::size_t>(theirs.data() + theirs.size() - receives_[peer].data());
            const auto last = std::find_if(
                first, own.end(), [&](const Side& side) { return side.peer != first->peer; });
            if (last - first != std::ssize(theirs)) {
                fail_with_counts(rank, static_cast<std::size_t>(last - first), first->peer,
                                 theirs.size());
            }
            for (const Side& receive : theirs) {
                const StepOfRank from{rank, first->step}, to{first->peer, receive.step};
                if (first->elements != receive.elements) {
                    throw std::logic_error(where(from.rank, from.step) + " sends " +
                                           std::to_string(first->elements) + " elements; " +
                                           where(to.rank, to.step) + " expects " +
                                           std::to_string(receive.elements));
                }
                if (first->element != receive.element) {
                    throw std::logic_error(where(from.rank, from.step) + " and " +
                                           where(to.rank, to.step) +
                                           " exchange elements of different sizes");
                }
                found(from, to);
                ++first;
            }
        }
    }
    for (int rank = 0; unmatched > 0 && rank < ranks_; ++rank) {
        const std::vector<Side>& own = receives_[static_cast<std::size_t>(rank)];
        for (const Side& receive : own) {
            if (equal_range(sends_[static_cast<std::size_t>(receive.peer)], rank, &Side::peer)
                    .empty()) {
                fail_with_counts(receive.peer, 0, rank,
                                 equal_range(own, receive.peer, &Side::peer).size());
            }
        }
    }
}

std::vector<std::vector<StepOfRank>> match_messages(const Schedule& schedule) {
    MessageMatching matching(static_cast<int>(schedule.size()));
    std::vector<std::vector<StepOfRank>> mates;
    for (const Program& program : schedule) {
        matching.add(program);
        mates.emplace_back(program.steps.size());
    }
    const auto mate = [&](StepOfRank at) -> StepOfRank& {
        return mates[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    };
    matching.match([&](StepOfRank send, StepOfRank receive) {
        mate(send) = receive;
        mate(receive) = send;
    });
    return mates;
}

std::logic_error fault(const Program& program, StepOfRank at, std::string_view what) {
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    std::string peer;
    if (step.verb == Verb::send)
        peer = fmt::format(" to rank {}", step.peer);
    if (step.verb == Verb::receive)
        peer = fmt::format(" from rank {}", step.peer);
    return std::logic_error(
        fmt::format("rank {}, step {} ({}{}): {}", at.rank, at.step, name(step.verb), peer, what));
}

} // namespace sextant
