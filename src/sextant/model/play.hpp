// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"
#include "sextant/model/folding_ranks.hpp"
#include "sextant/model/message_costs.hpp"
#include "sextant/model/play_state.hpp"
#include "sextant/model/turns.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/timeline.hpp"

#include <cstdint>
#include <queue>
#include <vector>

namespace sextant::model {

/// One play of a schedule on a clock: what `critical_path` does.
class Play {
  public:
    Play(const Question& question, const Prices& prices, const Prepared& prepared);

    Prediction play();

  private:
    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    RankState& rank_of(StepOfRank at) { return ranks_[static_cast<std::size_t>(at.rank)]; }
    StepState& state(StepOfRank at) { return rank_of(at).steps[static_cast<std::size_t>(at.step)]; }
    StepOfRank mate(StepOfRank at) const {
        return mates_[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    }

    void expect(Happening::Kind kind, const Span& time, StepOfRank at) {
        happenings_.push({kind, time, at, count_++});
    }

    /// What happens next, to a rank or on links; false where nothing does.
    bool happen_next();
    void happen(const Happening& now);
    void begin(int rank);
    void finish(StepOfRank at, const Span& now);
    void start_ready(int rank, const Span& now);

    // Messages.

    void post(StepOfRank at, const Span& now);

    /// The next step of a lane that is free; none where nothing waits, or the lane is busy and will
    /// be looked at when it is free.
    int next_of(Lane& lane, Happening::Kind when_free, StepOfRank rank, const Span& now);
    void wake(Lane& lane, Happening::Kind when_free, StepOfRank rank);
    void send_next(StepOfRank rank, const Span& now);

    // Links that messages share.

    /// A message that nothing buffers travels once its receiver waits for it.
    void set_out(StepOfRank send);
    void enter_links(StepOfRank send);
    void leave_links(const Traffic::Left& left);
    static Span enters_links(const StepState& sent);

    /// When all of a message is at its receiver.
    static Span path_end(const StepState& sent);

    /// The receiver need turn to a message only so early that it ends with the message's path.
    void expect_arrival(StepOfRank from, StepOfRank to);

    /// Who waits for a message has it at the end of its path, even where the receiver's own time is
    /// longer: that then holds up what comes next. Who turns to it late spends his time on it
    /// after.
    void receive_next(StepOfRank rank, const Span& now);
    void take(StepOfRank at, const Span& now);

    /// The processor hands over or takes a message, one at a time; when that begins.
    Span occupy(int rank, bool interrupts, const Span& now, const Span& cost);

    // Work.

    /// Operands that come while the processor is busy, or at one time, are combined in one pass.
    void expect_combining(StepOfRank fold, const Span& now);
    void combine_when_free(StepOfRank fold, const Span& now);

    /// Whether a fold may begin that is to be one pass.
    bool all_readable(StepOfRank fold);

    /// Combines the operands that have become readable, as far as they come in order.
    void combine(StepOfRank fold, const Span& now);
    void work(StepOfRank at, Activity activity, const Span& cost, const Span& now);
    void note(StepOfRank at, Activity activity, const Span& begin, const Span& end);
    void check_finished(int rank);

    const Question& question_;
    const Schedule& schedule_;
    const Prices& prices_;
    WorkCosts work_;
    const std::vector<std::vector<StepOfRank>>& mates_;
    const std::vector<Dependences>& dependences_;
    const FoldingRanks folding_;
    Turns turns_;
    Traffic traffic_;
    MessageCosts costs_;
    std::vector<RankState> ranks_;
    std::priority_queue<Happening> happenings_;
    std::uint64_t count_ = 0;
    Timeline timeline_;
    Span end_;
};

} // namespace sextant::model
