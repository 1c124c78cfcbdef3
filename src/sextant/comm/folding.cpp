// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/folding.hpp"

#include "sextant/kernel/fold/sparse_code.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant {

std::vector<std::byte> nothing_of(const Operator& op) {
    if (!op.fill_identity || op.element.size % 4 != 0) {
        throw std::logic_error(fmt::format("operator {} on {}: messages cannot skip empty pixels",
                                           op.name, op.element.name));
    }
    std::vector<std::byte> nothing(static_cast<std::size_t>(op.element.size));
    op.fill_identity(nothing.data(), 1);
    return nothing;
}

Patches::Patches(const Operator& op, std::size_t operands)
    : size_(op.element.size),
      elements_(std::max<Elements>(1, most_bytes / size_)),
      memory_(static_cast<Bytes>(operands + 1) * elements_ * size_) {
    kernel::repeat(nothing_of(op), elements_, memory_.data());
}

const std::byte* Patches::repeated(std::size_t operand, const std::byte* element, Elements count) {
    std::byte* const to = memory_.data() + static_cast<Bytes>(operand + 1) * elements_ * size_;
    kernel::repeat({element, static_cast<std::size_t>(size_)}, count, to);
    return to;
}

FoldPass::FoldPass(const Program& program, const Operator& op, const BufferAddresses& places,
                   const ExecuteOptions& options, std::size_t most_operands,
                   std::function<void()> progress)
    : program_(program),
      operator_(op),
      places_(places),
      slice_((Bytes{128} << 10) * std::max(1, options.fold_threads)),
      progress_(std::move(progress)) {
    items_.reserve(most_operands);
    stretches_.reserve(most_operands);
    sources_.reserve(most_operands);
    if (options.sparse)
        patches_ = Patches(op, most_operands);
}

void FoldPass::add_operand(std::uint32_t region) {
    const BufferAddresses::Lent& lent = places_.lent(region);
    if (lent.code)
        items_.push_back(
            {.code = kernel::SparseCursor(*lent.code, lent.first), .first = lent.first});
    else
        add(lent.data.base, program_.regions[region]);
}

/// Processes the fold slice by slice; within a slice, the destination and every source are
/// contiguous.
void FoldPass::run(const Region& to, std::byte* in_one_piece) {
    const Bytes size = places_.element_size(to.buffer);
    const Elements slice = std::max<Elements>(1, slice_ / size);
    const Elements elements = to.elements();
    Elements since_progress = 0;
    for (Elements e = 0; e < elements;) {
        Elements count = std::min(slice, elements - e);
        if (!in_one_piece)
            count = std::min(count, to.run_left(e));
        count = find_stretches(e, count);
        gather(count);
        std::byte* const there = in_one_piece ? in_one_piece + e * size : places_.at(to, e);
        // Non-temporal stores have a start-up cost that is too high for a short slice.
        operator_.fold(sources_, there, count, 16 * count < slice ? count : elements);
        e += count;
        since_progress += count;
        if (since_progress >= slice && e < elements) {
            progress_();
            since_progress = 0;
        }
    }
}

/// Finds the form of each source at this element: data, a repeated element, or empty elements.
/// Returns the number of elements, at most `count`, over which the form of no source changes.
Elements FoldPass::find_stretches(Elements element, Elements count) {
    stretches_.clear();
    for (Item& item : items_) {
        const kernel::Stretch next = stretch(item, element);
        count = std::min(count, next.count);
        if (!next.data || next.equal)
            count = std::min(count, patches_.elements());
        stretches_.push_back(next);
    }
    return count;
}

kernel::Stretch FoldPass::stretch(Item& item, Elements element) const {
    if (item.code)
        return item.code->at(item.first + element);
    if (!item.data)
        return {places_.at(*item.region, element), item.region->run_left(element)};
    const Bytes size = places_.element_size(item.region->buffer);
    return {item.data + element * size, std::numeric_limits<Elements>::max()};
}

/// Lists the data of the sources to fold. Adjacent empty operands are folded as one, which does not
/// change the bits of the result (Operator::fill_identity).
void FoldPass::gather(Elements count) {
    sources_.clear();
    const std::byte* const nothing = patches_.nothing();
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        const kernel::Stretch& each = stretches_[i];
        if (each.data)
            sources_.push_back(each.equal ? patches_.repeated(i, each.data, count) : each.data);
        else if (sources_.empty() || sources_.back() != nothing)
            sources_.push_back(nothing);
    }
}

namespace {

/// True if operands may be combined in an accumulator before the destination may be written. A fold
/// of two operands gains nothing from an accumulator, so it waits for its destination.
bool combined_aside(const Step& fold) {
    return fold.count >= 3;
}

std::size_t most_operands(const Program& program) {
    std::size_t most = 0;
    for (const Step& step : program.steps) {
        if (step.verb == Verb::fold)
            most = std::max<std::size_t>(most, step.count);
    }
    return most;
}

} // namespace

Folding::Folding(const Program& program, const Operator& op, const BufferAddresses& places,
                 const ExecuteOptions& options, std::function<void()> progress,
                 std::function<ReceiveBuffer(int)> room)
    : program_(program),
      operator_(op),
      places_(places),
      association_(options.association),
      room_(std::move(room)),
      fold_of_(program.steps.size(), -1),
      pass_(program, op, places, options, most_operands(program), std::move(progress)) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (program.steps[i].verb != Verb::fold)
            continue;
        const std::size_t operands = program.steps[i].count;
        fold_of_[i] = static_cast<int>(folds_.size());
        folds_.push_back({static_cast<int>(i), {}});
        folds_.back().runs.reserve(association_ == Association::in_order ? 1 : operands / 2 + 1);
    }
    make_accumulators();
}

/// Allocates the accumulators in advance: enough for the fold with the most operands, each large
/// enough for the largest fold.
void Folding::make_accumulators() {
    if (association_ == Association::in_order && !operator_.exact_when_split)
        return;
    std::size_t count = 0;
    Bytes bytes = 0;
    for (const Fold& fold : folds_) {
        const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
        if (!combined_aside(step))
            continue;
        const std::size_t runs = association_ == Association::in_order ? 1 : step.count / 2;
        count = std::max(count, runs); // a run that grows stays in its accumulator
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

/// Finds the first group of two or more adjacent operands that have arrived. With
/// Association::in_order, the group must begin with the fold's first operand. If there is no
/// such group, the result has fewer than two items.
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

/// True if the destination holds no operand that is still needed, except those of the group.
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
    // With Association::in_order, the result must not depend on the order of arrival.
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
        if (!commits && !may_combine_aside(fold, group))
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
        pass_.clear();
        for (std::uint32_t r = step.first; r < step.first + step.count; ++r)
            pass_.add_operand(r);
        settle(fold);
        pass_.run(step.to, fold.elsewhere);
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

/// Lists the runs and single operands of a group as the sources of the next pass.
void Folding::list(const Fold& fold, Group group) {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    pass_.clear();
    for (std::uint32_t operand = group.first; operand < group.last;) {
        if (const Run* run = run_from(fold, operand)) {
            pass_.add(run->data ? run->data : fold.elsewhere, step.to);
            operand = run->last;
        } else {
            pass_.add_operand(step.first + operand++);
        }
    }
}

void Folding::combine(Fold& fold, Group group, bool into_destination) {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    list(fold, group);
    std::byte* accumulator = into_destination ? nullptr : accumulator_of(fold, group);
    if (into_destination)
        settle(fold);
    else if (!accumulator)
        accumulator = take_accumulator();
    pass_.run(step.to, accumulator ? accumulator : fold.elsewhere);
    std::erase_if(fold.runs, [&](const Run& run) {
        const bool merged = run.first >= group.first && run.last <= group.last;
        if (merged && run.data && run.data != accumulator)
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

/// Returns the accumulator of a run of the group, to be extended in place (a fold may overwrite a
/// source), or null.
std::byte* Folding::accumulator_of(const Fold& fold, Group group) {
    for (const Run& run : fold.runs) {
        if (run.data && run.first >= group.first && run.last <= group.last)
            return const_cast<std::byte*>(run.data); // points into accumulators_
    }
    return nullptr;
}

bool Folding::may_combine_aside(const Fold& fold, Group group) const {
    if (!combined_aside(program_.steps[static_cast<std::size_t>(fold.step)]))
        return false;
    if (accumulator_of(fold, group))
        return true;
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
