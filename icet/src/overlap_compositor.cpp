// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/buffers.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/pixel_fold.hpp"
#include "sextant/planner/predictor.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "overlaps.hpp"
#include "plane_vectors.hpp"
#include "tile_compositor.hpp"
#include <fmt/format.h>

namespace sextant::icet {

namespace {

/// The planes of an overlap that a kernel reads and writes, and a position in these planes. Each
/// plane may have a different row stride.
class Cursor {
  public:
    Cursor(const Computation& computation, const Planes& read, const Planes& made)
        : computation_(computation), read_(read), made_(made) {
        const auto words = static_cast<Elements>(made.color_words > 0 ? made.color_words : 1);
        pixels_ = computation.made[0].elements() / words;
        for (int k = 0; k < images(); ++k)
            sources_.push_back(nullptr);
        depths_.resize(sources_.size());
    }

    int images() const {
        return static_cast<int>(computation_.sources.size()) / std::max(1, read_.count());
    }
    bool done() const { return at_ + count_ == pixels_; }

    /// Moves to the next pixels that are contiguous in all planes, at most `most`. Returns their
    /// number.
    Elements next(Elements most) {
        at_ += count_;
        count_ = std::min(most, pixels_ - at_);
        const std::size_t step = static_cast<std::size_t>(read_.count());
        for (std::size_t k = 0; k < sources_.size(); ++k) {
            const Blocks* plane = &computation_.sources[k * step];
            if (read_.color_words > 0)
                sources_[k] = position(*plane++, read_.color_words);
            if (read_.depth)
                depths_[k] = reinterpret_cast<const float*>(position(*plane, 1));
        }
        const Blocks* plane = computation_.places.data();
        if (made_.color_words > 0)
            color = position(*plane++, made_.color_words);
        if (made_.depth)
            depth = reinterpret_cast<float*>(position(*plane, 1));
        return count_;
    }

    std::span<const std::byte* const> colors() const { return sources_; }
    std::span<const float* const> depths() const { return depths_; }
    std::byte* color = nullptr; ///< null if the result has no colours
    float* depth = nullptr;     ///< null if the result has no depths

  private:
    std::byte* position(const Blocks& plane, int words) {
        const Bytes size = Bytes{4} * words;
        count_ = std::min(count_, plane.run_left(at_ * size) / size);
        return plane.at(at_ * size);
    }

    const Computation& computation_;
    const Planes read_, made_;
    Elements pixels_ = 0, at_ = 0, count_ = 0;
    std::vector<const std::byte*> sources_;
    std::vector<const float*> depths_;
};

/// Keeps the nearest pixels, as keep_nearest() does, for colours of any format.
void keep_nearest_floats(const Cursor& at, Elements count, int words, const float* background) {
    auto* const to = reinterpret_cast<float*>(at.color);
    for (Elements i = 0; i < count; ++i) {
        float depth = 1;
        const float* color = background;
        for (std::size_t k = 0; k < at.depths().size(); ++k) {
            const float other = at.depths()[k][i];
            const float* const with = reinterpret_cast<const float*>(at.colors()[k]) + i * words;
            const bool shows = words == 4 && color[3] == 0 && with[3] != 0;
            if (other < depth || (other == depth && depth < 1 && shows)) {
                depth = other;
                color = with;
            }
        }
        std::copy_n(color, words, to + i * words);
        if (at.depth)
            at.depth[i] = depth;
    }
}

class OverlapCompositor : public TileCompositor {
  public:
    OverlapCompositor(Communicator communicator, const TileTask& task)
        : TileCompositor(std::move(communicator), task),
          blend_(kernel::find(composition_.blend, composition_.element)),
          read_(planes_of(task_.color_format, has_depth(composition_.element))) {}

    void take(const DrawnPart& drawn) override { drawn_ = drawn; }
    TilePiece composite(const TileFrame& frame) override;
    Seconds predict(const TileFrame& frame) override;
    TilePlan plan() const override;

  private:
    /// The values that a program depends on.
    struct Key {
        std::vector<Viewport> parts;
        std::vector<int> order;
        DrawnPlanes own;
        bool keeps_depth = true;
        bool operator==(const Key&) const = default;
    };

    bool is_display() const { return communicator_.rank() == task_.display; }
    Planes made() const { return {read_.color_words, read_.depth && key_.keeps_depth}; }
    void prepare(const TileFrame& frame);
    void bind(Pixels& result);
    void fold(const Computation& computation) const;
    Schedule schedule() const;
    machine::Profile with_kernel(machine::Profile profile) const;

    const Operator blend_;
    const Planes read_;
    DrawnPart drawn_;
    Key key_;
    std::vector<Overlap> overlaps_;
    const std::shared_ptr<Workspace> workspace_ = std::make_shared<Workspace>(1);
    std::optional<Execution> execution_;
    bool streams_ = false; // true if the planes exceed the caches
    std::array<IceTFloat, 4> background_{};
};

void OverlapCompositor::prepare(const TileFrame& frame) {
    Key key{{frame.parts.begin(), frame.parts.end()},
            {frame.order.begin(), frame.order.end()},
            {},
            frame.keeps_depth};
    if (!is_empty(drawn_.part))
        key.own = {drawn_.planes->width, drawn_.planes->height, drawn_.readback[0],
                   drawn_.readback[1]};
    is_set_up_ = true;
    if (execution_ && key_ == key)
        return;
    execution_.reset();
    key_ = std::move(key);
    overlaps_ = overlaps_of(task_.tile[2], task_.tile[3], key_.parts, key_.order);
    Bytes touched = 0;
    for (const Overlap& overlap : overlaps_)
        touched += Bytes{4} * (read_.color_words + (read_.depth ? 1 : 0)) * overlap.pixels[2] *
                   overlap.pixels[3] * static_cast<Bytes>(overlap.ranks.size() + 1);
    streams_ = kernel::exceeds_caches(touched);
    const Kernel kernel = [this](const Computation& computation) { fold(computation); };
    Program program = overlap_program(overlaps_, key_.parts, task_.tile, read_, made(), key_.own,
                                      task_.display, communicator_.rank());
    if (!communicator_.shares_nodes()) // strided messages take twice as long in some runs
        program = with_packed_messages(program);
    execution_.emplace(communicator_, std::move(program), blend_,
                       ExecuteOptions{.workspace = workspace_},
                       std::vector<Kernel>(key_.parts.size() + 1, kernel));
}

void OverlapCompositor::bind(Pixels& result) {
    int buffer = 0;
    if (!is_empty(drawn_.part)) {
        const auto bytes = [&](const Memory& plane, Bytes size) {
            return std::span(plane.data(), static_cast<std::size_t>(size));
        };
        const Elements pixels = drawn_.planes->count();
        if (read_.color_words > 0)
            execution_->bind(buffer++, bytes(drawn_.planes->color, pixels * read_.color_words * 4));
        if (read_.depth)
            execution_->bind(buffer++, bytes(drawn_.planes->depth, pixels * 4));
    }
    if (!is_display())
        return;
    const Planes words = made();
    result.shape(task_.color_format, words.depth ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE,
                 task_.tile[2], task_.tile[3], &communicator_);
    std::byte* const begin = words.color_words > 0 ? result.color.data() : result.depth.data();
    execution_->bind(buffer,
                     std::span(begin, static_cast<std::size_t>(words.words(task_.pixels()) * 4)));
}

TilePiece OverlapCompositor::composite(const TileFrame& frame) {
    background_ = frame.background;
    is_new_ = !execution_;
    prepare(frame);
    try {
        bind(*frame.result);
    } catch (...) { // prevents other ranks from waiting for this one
        execution_->run_failed(std::current_exception());
    }
    execution_->run();
    sent_ = execution_->sent().bytes;
    return is_display() ? TilePiece{0, task_.pixels()} : TilePiece{};
}

/// The kernel of overlap_program.
void OverlapCompositor::fold(const Computation& computation) const {
    constexpr Elements part = 16384;
    const std::uint32_t word = word_of(background_);
    const bool bytes = task_.color_format == ICET_IMAGE_COLOR_RGBA_UBYTE;
    const Bytes size = color_size(task_.color_format);
    const bool has_background = !is_clear(background_, task_.color_format);
    std::vector<std::byte> behind; // blended pixels
    std::vector<const std::byte*> sources;
    if (!has_depth(composition_.element)) {
        behind.resize(static_cast<std::size_t>(part * size));
        for (Elements i = 0; i < part; ++i)
            std::memcpy(behind.data() + i * size,
                        bytes ? static_cast<const void*>(&word) : background_.data(),
                        static_cast<std::size_t>(size));
    }
    Cursor at(computation, read_, made());
    while (!at.done()) {
        const Elements count = at.next(part);
        if (!has_depth(composition_.element)) {
            sources.assign(at.colors().begin(), at.colors().end());
            if (has_background || sources.empty()) // pixels are blended over another image
                sources.push_back(behind.data());
            blend_.fold(sources, at.color, count, streams_ ? task_.pixels() : count);
        } else if (bytes || read_.color_words == 0) {
            static_assert(sizeof(std::uint32_t) == sizeof(RgbaU8));
            const bool colored = read_.color_words > 0;
            keep_nearest({colored
                              ? reinterpret_cast<const std::uint32_t* const*>(at.colors().data())
                              : nullptr,
                          at.depths().data(), at.depths().size(),
                          reinterpret_cast<std::uint32_t*>(at.color), at.depth, word, streams_},
                         count);
        } else {
            keep_nearest_floats(at, count, read_.color_words, background_.data());
        }
        computation.progress();
    }
}

/// The programs of all ranks, assuming that each rank renders exactly its part.
Schedule OverlapCompositor::schedule() const {
    return make_schedule(communicator_.size(), [&](int rank) {
        const Viewport& part = key_.parts[static_cast<std::size_t>(rank)];
        return overlap_program(overlaps_, key_.parts, task_.tile, read_, made(),
                               {part[2], part[3], 0, 0}, task_.display, rank);
    });
}

/// Returns the profile with a kernel that costs as much as a fold of the same pixels.
machine::Profile OverlapCompositor::with_kernel(machine::Profile profile) const {
    const machine::Work* const measured =
        profile.find_operator(composition_.blend, channels(composition_.element));
    if (!measured)
        return profile;
    const Elements words = made().color_words + (made().depth ? 1 : 0);
    machine::Work kernel = *measured;
    for (auto* const passes : {&kernel.passes, &kernel.alone}) {
        for (machine::Pass& pass : *passes)
            pass.elements *= words;
    }
    profile.kernels.push_back(std::move(kernel));
    return profile;
}

Seconds OverlapCompositor::predict(const TileFrame& frame) {
    prepare(frame);
    const std::vector<int> nodes = nodes_of(communicator_);
    const planner::DefaultPlanner usual =
        calibrate::planner_here(communicator_, nodes, "", planner::Probing::kept);
    if (communicator_.rank() != 0)
        return 0;
    const machine::Profile profile = with_kernel(usual.planner->machine());
    std::vector<model::KernelUse> kernels;
    for (int images = 0; images <= communicator_.size(); ++images)
        kernels.push_back({composition_.blend, std::max(1, images)});
    const Schedule programs = schedule();
    const machine::Link within_node =
        reads_all(communicator_, nodes) ? machine::Link::same_process : machine::Link::same_node;
    const auto predicted = [&](const model::Model& model) {
        return model.predict({.schedule = programs,
                              .machine = profile,
                              .element_size = 4,
                              .kernels = kernels,
                              .element_name = channels(composition_.element),
                              .nodes = nodes,
                              .within_node = within_node});
    };
    try {
        return predicted(planner::richest_model("", "a frame composited in place", predicted))
            .seconds;
    } catch (const model::CannotExpress&) {
        return 0;
    }
}

TilePlan OverlapCompositor::plan() const {
    std::int64_t several = 0;
    std::size_t most = 0;
    for (const Overlap& overlap : overlaps_) {
        most = std::max(most, overlap.ranks.size());
        if (overlap.ranks.size() > 1)
            several += std::int64_t{overlap.pixels[2]} * overlap.pixels[3];
    }
    return {fmt::format("overlaps, {} rectangles", overlaps_.size()),
            fmt::format(
                "up to {} ranks draw a pixel; {:.0f} % of the tile is drawn by several ranks", most,
                100. * static_cast<double>(several) / static_cast<double>(task_.pixels()))};
}

} // namespace

std::unique_ptr<TileCompositor> make_overlap_compositor(Communicator communicator, TileTask task) {
    return std::make_unique<OverlapCompositor>(std::move(communicator), std::move(task));
}

} // namespace sextant::icet
