// SPDX-License-Identifier: BSD-3-Clause
#include "tile_compositor.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::icet {

namespace {

/// Chooses one of the two ways at the first frame, by prediction.
class ChosenCompositor : public TileCompositor {
  public:
    using TileCompositor::TileCompositor;

    void take(const DrawnPart& drawn) override {
        drawn_ = drawn;
        if (chosen_)
            chosen_->take(drawn);
    }

    TilePiece composite(const TileFrame& frame) override {
        is_new_ = !chosen_;
        if (!chosen_)
            choose(frame);
        const TilePiece piece = chosen_->composite(frame);
        sent_ = chosen_->sent();
        unpack_ = chosen_->unpack_time();
        return piece;
    }

    Seconds predict(const TileFrame& frame) override { return chosen_->predict(frame); }
    TilePlan plan() const override {
        TilePlan plan = chosen_->plan();
        plan.reason += reason_;
        return plan;
    }

  private:
    void choose(const TileFrame& frame);

    DrawnPart drawn_;
    std::unique_ptr<TileCompositor> chosen_;
    std::string reason_;
};

/// Rank 0 decides. Overlaps of many ranks need a message from each to each, so they are considered
/// up to a number of ranks only. Collective.
void ChosenCompositor::choose(const TileFrame& frame) {
    constexpr int most_ranks = 32;
    std::unique_ptr<TileCompositor> packed = make_packed_compositor(communicator_, task_);
    packed->take(drawn_);
    if (task_.collects && communicator_.size() <= most_ranks) {
        std::unique_ptr<TileCompositor> overlaps = make_overlap_compositor(communicator_, task_);
        overlaps->take(drawn_);
        const Seconds of_packed = packed->predict(frame), of_overlaps = overlaps->predict(frame);
        const bool is_faster = of_overlaps > 0 && (of_packed == 0 || of_overlaps <= of_packed);
        if (communicator_.all_gather(is_faster ? 1 : 0).front() != 0)
            packed = std::move(overlaps);
        reason_ = fmt::format("; predicted: overlaps {:.3g} ms, {:.3g} ms with packed pixels",
                              1e3 * of_overlaps, 1e3 * of_packed);
    }
    chosen_ = std::move(packed);
    is_set_up_ = true;
}

} // namespace

std::unique_ptr<TileCompositor> make_tile_compositor(Communicator communicator, TileTask task,
                                                     bool in_place) {
    if (in_place && task.collects)
        return make_overlap_compositor(std::move(communicator), task);
    return std::make_unique<ChosenCompositor>(std::move(communicator), task);
}

} // namespace sextant::icet
