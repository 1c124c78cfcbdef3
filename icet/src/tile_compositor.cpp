// SPDX-License-Identifier: BSD-3-Clause
#include "tile_compositor.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::icet {

namespace {

/// The maximum number of ranks for overlaps, which may need a message between each pair of ranks.
constexpr int most_ranks = 32;

/// Chooses between packed pixels and overlaps by prediction, at the first frame.
class ChosenCompositor : public TileCompositor {
  public:
    ChosenCompositor(Communicator communicator, TileTask task)
        : TileCompositor(communicator, task),
          packed_(make_packed_compositor(communicator, task)),
          overlaps_(make_overlap_compositor(communicator, task)) {}

    void take(const DrawnPart& drawn) override {
        for (const auto& compositor : {&packed_, &overlaps_}) {
            if (*compositor)
                (*compositor)->take(drawn);
        }
    }

    TilePiece composite(const TileFrame& frame) override {
        is_new_ = packed_ && overlaps_;
        if (is_new_)
            choose(frame);
        const TilePiece piece = chosen().composite(frame);
        sent_ = chosen().sent();
        unpack_ = chosen().unpack_time();
        return piece;
    }

    Seconds predict(const TileFrame& frame) override { return chosen().predict(frame); }
    TilePlan plan() const override {
        TilePlan plan = chosen().plan();
        plan.reason += reason_;
        return plan;
    }

  private:
    void choose(const TileFrame& frame);
    TileCompositor& chosen() const { return packed_ ? *packed_ : *overlaps_; }

    std::unique_ptr<TileCompositor> packed_, overlaps_; // only one of them is kept after the choice
    std::string reason_;
};

/// Rank 0 chooses and broadcasts. Collective.
void ChosenCompositor::choose(const TileFrame& frame) {
    const Seconds packed = packed_->predict(frame), overlaps = overlaps_->predict(frame);
    const bool is_faster = overlaps > 0 && (packed == 0 || overlaps <= packed);
    if (communicator_.all_gather(is_faster ? 1 : 0).front() != 0)
        packed_.reset();
    else
        overlaps_.reset();
    reason_ = fmt::format("; predicted: overlaps {:.3g} ms, {:.3g} ms with packed pixels",
                          1e3 * overlaps, 1e3 * packed);
    is_set_up_ = true;
}

} // namespace

std::unique_ptr<TileCompositor> make_tile_compositor(Communicator communicator, TileTask task,
                                                     Sharing sharing) {
    if (!task.collects)
        return make_packed_compositor(std::move(communicator), task);
    const bool are_few = communicator.size() <= most_ranks;
    if (sharing == Sharing::in_place || (sharing == Sharing::table && are_few))
        return make_overlap_compositor(std::move(communicator), task);
    if (!are_few)
        return make_packed_compositor(std::move(communicator), task);
    return std::make_unique<ChosenCompositor>(std::move(communicator), task);
}

} // namespace sextant::icet
