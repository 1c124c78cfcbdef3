// SPDX-License-Identifier: BSD-3-Clause
// What ranks do between messages.
#include "sextant/model/play.hpp"

#include <algorithm>

namespace sextant::model {

void Play::expect_combining(StepOfRank fold, const Span& now) {
    StepState& mine = state(fold);
    if (mine.will_combine || mine.next == step(fold).count)
        return;
    mine.will_combine = true;
    expect(Happening::combining, later(now, rank_of(fold).processor), fold);
}

void Play::combine_when_free(StepOfRank fold, const Span& now) {
    if (rank_of(fold).processor.median > now.median)
        expect_combining(fold, now);
    else
        combine(fold, now);
}

bool Play::all_readable(StepOfRank fold) {
    const Walk& walk = rank_of(fold).walk;
    const Step& what = step(fold);
    for (std::uint32_t operand = 0; operand < what.count; ++operand) {
        if (!walk.readable(what.first + operand))
            return false;
    }
    return true;
}

void Play::combine(StepOfRank fold, const Span& now) {
    const Step& what = step(fold);
    StepState& mine = state(fold);
    if (question_.folds_at_once && !all_readable(fold))
        return;
    const Walk& walk = rank_of(fold).walk;
    int operands = mine.next > 0 ? 1 : 0; // what has been combined is one
    for (; mine.next < what.count && walk.readable(what.first + mine.next); ++mine.next)
        ++operands;
    if (operands > 1)
        work(fold, Activity::fold,
             work_.fold(what.to.elements(), operands, folding_.is_alone(fold.rank, what.round)),
             now);
}

void Play::work(StepOfRank at, Activity activity, const Span& cost, const Span& now) {
    RankState& r = rank_of(at);
    const Span begin = turns_.begin(at.rank, later(now, r.processor), cost);
    r.processor = begin + cost;
    if (prices_.blocking) {
        for (Lane* lane : {&r.in, &r.out})
            lane->free = later(lane->free, begin) + cost;
    }
    state(at).done = r.processor;
    note(at, activity, begin, r.processor);
}

} // namespace sextant::model
