// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sextant {

std::vector<int> message_tags(const Program& program) {
    std::vector<int> tags(program.steps.size(), 0);
    std::unordered_map<int, int> sent, received;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (step.verb == Verb::send)
            tags[i] = sent[step.peer]++;
        if (step.verb == Verb::receive)
            tags[i] = received[step.peer]++;
    }
    return tags;
}

Walk::Walk(const Program& program, const Dependences& dependences, std::vector<std::uint32_t> needs)
    : dependences_(dependences),
      needs_(std::move(needs)),
      commits_at_(program.steps.size()),
      regions_at_(2 * program.steps.size()),
      flags_(program.steps.size()),
      queued_(program.steps.size()),
      window_(program.window) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        flags_[i] = is_message(program.steps[i].verb) ? is_message_step : 0;
        if (flags_[i] != 0)
            ++awaited_work_.first;
        else
            work_.first += dependences.before_message(static_cast<int>(i)) ? 1 : 0;
    }
    work_.first += awaited_work_.first;
    if (window_ > 0)
        list_rounds(program);
    start();
}

void Walk::list_rounds(const Program& program) {
    for (const Step& step : program.steps) {
        if (is_message(step.verb))
            rounds_.push_back(step.round);
    }
    std::sort(rounds_.begin(), rounds_.end());
    rounds_.erase(std::unique(rounds_.begin(), rounds_.end()), rounds_.end());
    messages_in_round_.resize(rounds_.size());
    place_.resize(program.steps.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (!is_message(program.steps[i].verb))
            continue;
        const auto place = std::lower_bound(rounds_.begin(), rounds_.end(), program.steps[i].round);
        place_[i] = static_cast<std::uint32_t>(place - rounds_.begin());
        ++messages_in_round_[place_[i]];
    }
    held_.resize(rounds_.size());
    for (std::size_t i = 0; i < held_.size(); ++i) {
        held_[i].reserve(static_cast<std::size_t>(messages_in_round_[i]));
    }
}

void Walk::reset() {
    std::ranges::copy(dependences_.all_needs(), needs_.begin());
    for (std::uint8_t& flags : flags_)
        flags &= is_message_step;
    start();
}

void Walk::start() {
    for (Queue* queue : {&messages_, &work_, &awaited_work_})
        queue->head = queue->tail = queue->first;
    unfinished_ = static_cast<int>(flags_.size());
    oldest_ = held_from_ = 0;
    if (window_ > 0) {
        open_ = messages_in_round_;
        for (std::vector<int>& held : held_)
            held.clear();
        close_rounds();
    }
    for (int i = 0; i < unfinished_; ++i) {
        if (needs_[static_cast<std::size_t>(i)] == 0)
            offer(i);
    }
}

int Walk::next_work() {
    const int awaited = pop(awaited_work_);
    return awaited != none ? awaited : pop(work_);
}

void Walk::offer(int i) {
    if ((flags_[static_cast<std::size_t>(i)] & is_message_step) == 0) {
        push(dependences_.before_message(i) ? awaited_work_ : work_, i);
    } else if (window_ > 0 && place_[static_cast<std::size_t>(i)] >= held_from_) {
        held_[place_[static_cast<std::size_t>(i)]].push_back(i);
    } else {
        push(messages_, i);
    }
}

/// Skips rounds whose messages have all finished, and releases the messages that the window held
/// back.
void Walk::close_rounds() {
    while (oldest_ < open_.size() && open_[oldest_] == 0)
        ++oldest_;
    const auto open = [&](std::size_t round) {
        return oldest_ == rounds_.size() ||
               std::int64_t{rounds_[round]} < std::int64_t{rounds_[oldest_]} + window_;
    };
    for (; held_from_ < rounds_.size() && open(held_from_); ++held_from_) {
        for (int step : held_[held_from_])
            push(messages_, step);
        held_[held_from_].clear();
    }
}

void Walk::finish(int i) {
    const auto index = static_cast<std::size_t>(i);
    flags_[index] |= is_finished;
    --unfinished_;
    if (window_ > 0 && (flags_[index] & is_message_step) != 0) {
        --open_[place_[index]];
        close_rounds();
    }
    for (const Dependences::Edge& edge : dependences_.after(i)) {
        if (edge.region == Dependences::commit)
            --needs_[commits_at_ + edge.step];
        else
            --needs_[regions_at_ + static_cast<std::size_t>(edge.region)];
        if (--needs_[edge.step] == 0)
            offer(static_cast<int>(edge.step));
    }
}

} // namespace sextant
