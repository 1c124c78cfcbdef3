// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/folding.hpp"

#include <algorithm>

namespace sextant::simulate {

Folding::Folding(const Program& program, Association association)
    : program_(program), association_(association) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (step.verb != Verb::fold)
            continue;
        folds_.push_back({static_cast<int>(i), std::vector<std::uint32_t>(step.count), false});
        for (std::uint32_t operand = 0; operand < step.count; ++operand)
            folds_.back().run_end[operand] = operand + 1;
    }
}

Folding::Fold& Folding::fold_of(int step) {
    return *std::lower_bound(folds_.begin(), folds_.end(), step,
                             [](const Fold& fold, int wanted) { return fold.step < wanted; });
}

/// Merges the first stretch of two or more neighbours that are there; in order, only from the first
/// operand on.
Folding::Pass Folding::find(Fold& fold, const Walk& walk) const {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    std::uint32_t first = 0, operand = 0;
    int items = 0;
    while (operand < step.count) {
        const bool merged = fold.run_end[operand] > operand + 1;
        if (merged || walk.readable(step.first + operand)) {
            operand = fold.run_end[operand];
            ++items;
            continue;
        }
        if (items >= 2 || association_ == Association::in_order)
            break;
        first = ++operand;
        items = 0;
    }
    if (items < 2)
        return {};
    fold.run_end[first] = operand;
    return {fold.step, items - 1};
}

Folding::Pass Folding::combine_some(const Walk& walk) {
    while (first_unfinished_ < folds_.size() && folds_[first_unfinished_].finished)
        ++first_unfinished_;
    for (std::size_t i = first_unfinished_; i < folds_.size(); ++i) {
        if (folds_[i].finished)
            continue;
        if (const Pass pass = find(folds_[i], walk); pass.step != Walk::none)
            return pass;
    }
    return {};
}

int Folding::complete(int step) {
    Fold& fold = fold_of(step);
    fold.finished = true;
    int items = 0;
    for (std::uint32_t operand = 0; operand < fold.run_end.size(); ++items)
        operand = fold.run_end[operand];
    return items - 1;
}

} // namespace sextant::simulate
