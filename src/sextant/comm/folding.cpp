// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/folding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sextant {

Folding::Folding(const Program& program, const Operator& op, const Places& places,
                 Association association, std::function<void()> progress,
                 std::function<Room(int)> room)
    : program_(program),
      operator_(op),
      places_(places),
      association_(association),
      progress_(std::move(progress)),
      room_(std::move(room)),
      fold_of_(program.steps.size(), -1) {
    std::size_t most_operands = 0;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (program.steps[i].verb != Verb::fold)
            continue;
        const std::size_t operands = program.steps[i].count;
        fold_of_[i] = static_cast<int>(folds_.size());
        folds_.push_back({static_cast<int>(i), {}});
        folds_.back().runs.reserve(association == Association::in_order ? 1 : operands / 2 + 1);
        most_operands = std::max(most_operands, operands);
    }
    items_.reserve(most_operands);
    sources_.reserve(most_operands);
    make_accumulators();
}

/// Enough for the fold with most operands, as large as the largest: none is made during a run. Two
/// operands need none.
void Folding::make_accumulators() {
    if (association_ == Association::in_order && !operator_.exact_when_split)
        return;
    std::size_t count = 0;
    Bytes bytes = 0;
    for (const Fold& fold : folds_) {
        const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
        if (step.count < 3)
            continue;
        const std::size_t runs = association_ == Association::in_order ? 1 : step.count / 2;
        count = std::max(count, runs + 1); // a run that grows moves to another
        bytes = std::max(bytes, step.to.elements() * places_.element_size(step.to.buffer));
    }
    for (std::size_t i = 0; i < count; ++i) {
        accumulators_.push_back({Memory(bytes), false});
        accumulators_.back().memory.touch();
    }
}

void Folding::reset() {
    for (Fold& fold : folds_) {
        fold.runs.clear();
        fold.finished = fold.settled = false;
        fold.elsewhere = nullptr;
    }
    for (Accumulator& accumulator : accumulators_)
        accumulator.taken = false;
    first_unfinished_ = 0;
}

const Folding::Run* Folding::run_from(const Fold& fold, std::uint32_t operand) const {
    for (const Run& run : fold.runs) {
        if (run.first == operand)
            return &run;
    }
    return nullptr;
}

/// The first stretch of two or more neighbours that are there; in order, only from the first on.
Folding::Group Folding::find_group(const Fold& fold, const Walk& walk) const {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    Group group;
    std::uint32_t operand = 0;
    while (operand < step.count) {
        const Run* run = run_from(fold, operand);
        if (run || walk.readable(step.first + operand)) {
            operand = run ? run->last : operand + 1;
            group.last = operand;
            ++group.items;
            continue;
        }
        if (group.items >= 2 || association_ == Association::in_order)
            break;
        ++operand;
        group = {operand, operand, 0};
    }
    return group;
}

/// Whether a group may be combined in the destination: nothing else that is still needed lies
/// there.
bool Folding::destination_free(const Fold& fold, Group group) const {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    const auto inside = [&](std::uint32_t operand) {
        return operand >= group.first && operand < group.last;
    };
    for (const Run& run : fold.runs) {
        if (!run.data && !inside(run.first))
            return false;
    }
    for (std::uint32_t operand = 0; operand < step.count; ++operand) {
        if (inside(operand) || places_.lent(step.first + operand))
            continue;
        const bool merged = std::any_of(fold.runs.begin(), fold.runs.end(), [&](const Run& run) {
            return operand >= run.first && operand < run.last;
        });
        if (!merged && program_.regions[step.first + operand] == step.to)
            return false;
    }
    return true;
}

int Folding::combine_some(const Walk& walk) {
    // An order that is kept must give the same bits however operands arrive.
    if (association_ == Association::in_order && !operator_.exact_when_split)
        return Walk::none;
    while (first_unfinished_ < folds_.size() && folds_[first_unfinished_].finished) {
        ++first_unfinished_;
    }
    for (std::size_t i = first_unfinished_; i < folds_.size(); ++i) {
        Fold& fold = folds_[i];
        if (fold.finished)
            continue;
        const Group group = find_group(fold, walk);
        if (group.items < 2)
            continue;
        const bool commits = walk.may_commit(fold.step) && destination_free(fold, group) &&
                             (fold.settled || !room_(fold.step).awaited);
        if (!commits && !accumulator_free())
            continue;
        combine(fold, group, commits);
        return fold.step;
    }
    return Walk::none;
}

void Folding::complete(int index) {
    Fold& fold = folds_[static_cast<std::size_t>(fold_of_[static_cast<std::size_t>(index)])];
    const Step& step = program_.steps[static_cast<std::size_t>(index)];
    fold.finished = true;
    if (fold.runs.empty()) { // nothing was combined early: one pass over all
        items_.clear();
        for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
            items_.push_back({places_.lent(r), &program_.regions[r]});
        }
        settle(fold);
        pass(step, fold.elsewhere);
        return;
    }
    const bool there = fold.runs.size() == 1 &&
                       fold.runs[0].last - fold.runs[0].first == step.count && !fold.runs[0].data;
    if (!there)
        combine(fold, {0, step.count, 0}, true);
    for (const Run& run : fold.runs) {
        if (run.data)
            release(run.data);
    }
}

/// The runs and single operands of a group, in order.
void Folding::list_items(const Fold& fold, Group group) {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    items_.clear();
    for (std::uint32_t operand = group.first; operand < group.last;) {
        if (const Run* run = run_from(fold, operand)) {
            items_.push_back(run->data ? Item{run->data, nullptr} : made(fold));
            operand = run->last;
        } else {
            const std::uint32_t region = step.first + operand++;
            items_.push_back({places_.lent(region), &program_.regions[region]});
        }
    }
}

void Folding::combine(Fold& fold, Group group, bool into_destination) {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    list_items(fold, group);
    std::byte* accumulator = nullptr;
    if (into_destination)
        settle(fold);
    else
        accumulator = take_accumulator();
    pass(step, accumulator ? accumulator : fold.elsewhere);
    std::erase_if(fold.runs, [&](const Run& run) {
        const bool merged = run.first >= group.first && run.last <= group.last;
        if (merged && run.data)
            release(run.data);
        return merged;
    });
    const auto place = std::find_if(fold.runs.begin(), fold.runs.end(),
                                    [&](const Run& run) { return run.first >= group.last; });
    fold.runs.insert(place, {group.first, group.last, accumulator});
}

void Folding::settle(Fold& fold) {
    if (!fold.settled)
        fold.elsewhere = room_(fold.step).at;
    fold.settled = true;
}

/// What has been made so far where the fold is made.
Folding::Item Folding::made(const Fold& fold) const {
    if (fold.elsewhere)
        return {fold.elsewhere, nullptr};
    return {nullptr, &program_.steps[static_cast<std::size_t>(fold.step)].to};
}

/// One pass over the items: slice by slice, each slice contiguous in all of them. It is made in one
/// piece where told, else in the step's destination.
void Folding::pass(const Step& step, std::byte* in_one_piece) {
    const Bytes size = places_.element_size(step.to.buffer);
    const Elements slice = std::max<Elements>(1, (Bytes{128} << 10) / size);
    const Elements elements = step.to.elements();
    for (Elements e = 0; e < elements;) {
        Elements count = std::min(slice, elements - e);
        if (!in_one_piece)
            count = std::min(count, step.to.run_left(e));
        sources_.clear();
        for (const Item& item : items_) {
            if (!item.data)
                count = std::min(count, item.region->run_left(e));
            sources_.push_back(item.data ? item.data + e * size : places_.at(*item.region, e));
        }
        std::byte* const to = in_one_piece ? in_one_piece + e * size : places_.at(step.to, e);
        operator_.fold(sources_, to, count, elements);
        e += count;
        if (e < elements)
            progress_();
    }
}

bool Folding::accumulator_free() const {
    return std::any_of(accumulators_.begin(), accumulators_.end(),
                       [](const Accumulator& accumulator) { return !accumulator.taken; });
}

std::byte* Folding::take_accumulator() {
    const auto free = std::find_if(accumulators_.begin(), accumulators_.end(),
                                   [](const Accumulator& each) { return !each.taken; });
    free->taken = true;
    return free->memory.data();
}

void Folding::release(const std::byte* data) {
    for (Accumulator& accumulator : accumulators_) {
        if (accumulator.memory.data() == data)
            accumulator.taken = false;
    }
}

} // namespace sextant
