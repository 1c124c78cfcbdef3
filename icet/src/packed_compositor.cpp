// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/planner_here.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tile_compositor.hpp"
#include <fmt/format.h>

namespace sextant::icet {

namespace {

class PackedCompositor : public TileCompositor {
  public:
    PackedCompositor(Communicator communicator, const TileTask& task)
        : TileCompositor(std::move(communicator), task),
          blend_(kernel::find(composition_.blend, composition_.element)),
          image_(communicator_.memory(task_.pixels() * composition_.element.size)) {
        clear({0, 0, task_.tile[2], task_.tile[3]});
    }

    void take(const DrawnPart& drawn) override {
        if (drawn.part != packed_)
            clear(packed_);
        packed_ = drawn.part;
        if (!is_empty(drawn.part))
            pack(*drawn.planes, drawn.readback, composition_, image_.data(), drawn.part[0],
                 drawn.part[1], task_.tile[2]);
    }

    TilePiece composite(const TileFrame& frame) override;
    Seconds predict(const TileFrame& frame) override;
    TilePlan plan() const override;

  private:
    void clear(const Viewport& part) {
        const Bytes size = blend_.element.size;
        for (IceTInt y = part[1]; y < part[1] + part[3]; ++y)
            blend_.fill_identity(image_.data() + (Elements{y} * task_.tile[2] + part[0]) * size,
                                 part[2]);
    }
    void make(std::span<const Viewport> parts);

    Operator blend_;
    Memory image_;                   // colours and depths interleaved
    Viewport packed_ = {0, 0, 0, 0}; // the non-empty part of the image
    std::optional<Compositor> compositor_;
};

/// Plans the compositing of frames with these parts. Collective.
void PackedCompositor::make(std::span<const Viewport> parts) {
    double drawn = 0;
    for (const Viewport& part : parts)
        drawn += static_cast<double>(part[2]) * part[3];
    CompositeOptions options;
    options.blend = composition_.blend;
    options.element = composition_.element;
    options.root = task_.collects ? task_.display : CompositeOptions::distributed;
    options.density = std::clamp(
        drawn / static_cast<double>(task_.pixels()) / static_cast<double>(parts.size()), .001, 1.);
    if (!task_.collects)
        options.interlace = planner::Interlace::off;
    compositor_.emplace(communicator_, ImageShape{task_.tile[2], task_.tile[3]}, 1, options);
    is_set_up_ = true;
}

TilePiece PackedCompositor::composite(const TileFrame& frame) {
    is_new_ = !compositor_;
    if (!compositor_)
        make(frame.parts);
    FrameOptions options;
    options.order = frame.order;
    const sextant::Frame made = compositor_->composite(std::as_const(image_).bytes(), options);
    sent_ = compositor_->sent().bytes;
    unpack_ = 0;
    const bool has_pixels = task_.collects ? task_.display == communicator_.rank() : made.count > 0;
    if (!has_pixels)
        return {};
    const double before = wall_time();
    frame.result->shape(task_.color_format,
                        frame.keeps_depth ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE,
                        task_.tile[2], task_.tile[3], &communicator_);
    unpack(made.bytes, composition_, blend_, frame.background, made.first, *frame.result);
    unpack_ = wall_time() - before;
    return {made.first, made.count};
}

/// The prediction includes packing and unpacking.
Seconds PackedCompositor::predict(const TileFrame& frame) {
    if (!compositor_)
        make(frame.parts);
    const std::optional<model::Prediction> predicted = compositor_->prediction();
    const planner::DefaultPlanner usual =
        calibrate::planner_here(communicator_, nodes_of(communicator_), "", planner::Probing::kept);
    if (!predicted)
        return 0;
    Elements packed = 0;
    for (const Viewport& part : frame.parts)
        packed = std::max(packed, Elements{part[2]} * part[3]);
    const auto& copies = usual.planner->machine().copies;
    const Seconds per_byte = copies.empty() ? 0 : copies.front().seconds_per_byte.median;
    return predicted->seconds +
           per_byte * static_cast<double>((packed + task_.pixels()) * composition_.element.size);
}

TilePlan PackedCompositor::plan() const {
    return {planner::text_of(compositor_->plan().configuration), compositor_->plan().reason};
}

} // namespace

std::unique_ptr<TileCompositor> make_packed_compositor(Communicator communicator, TileTask task) {
    return std::make_unique<PackedCompositor>(std::move(communicator), std::move(task));
}

} // namespace sextant::icet
