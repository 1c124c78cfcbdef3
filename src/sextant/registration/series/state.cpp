// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/state.hpp"

#include "sextant/core/packing.hpp"
#include "sextant/registration/correct/static_pattern.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

int finest_of_links(const RegistrationOptions& options, ImageShape shape) {
    constexpr Elements least_side = 256;
    const bool averages = options.stages > 1 && options.model != MotionModel::nonrigid;
    return averages && std::min(shape.width, shape.height) >= least_side ? 1 : 0;
}

std::shared_ptr<FrameCache> cache_of(const FrameHeader& series, const RegistrationOptions& options,
                                     const ThreadPlan& threads) {
    return cache_for(series.shape, options.farthest, threads.whole_frames ? options.threads : 1,
                     std::min(finest_of_links(options, series.shape),
                              pattern_view(series.shape, series.frames).level),
                     options.memory);
}

prefix::ScanOptions scan_options(const RegistrationOptions& options) {
    prefix::ScanOptions scan;
    if (!options.reproducible)
        scan.association = Association::by_arrival;
    return scan;
}

bool in_doubt(const FrameRegistration& frame) {
    return frame.in_doubt || frame.implausible || frame.result.ambiguous || frame.result.unrelated;
}

std::vector<FrameRegistration> gather_frames(const Communicator& communicator,
                                             std::span<const FrameRegistration> own) {
    const std::vector<FrameNumbers> numbers =
        all_gather_lists(communicator, std::vector<FrameNumbers>(own.begin(), own.end()));
    std::string own_texts, texts;
    for (const FrameRegistration& frame : own)
        own_texts += frame.left_out + '\0' + frame.not_averaged + '\0';
    for (const std::string& of_rank : all_gather_texts(communicator, own_texts))
        texts += of_rank;
    std::istringstream rest(texts);
    std::vector<FrameRegistration> frames;
    for (const FrameNumbers& one : numbers) {
        FrameRegistration& frame = frames.emplace_back(one);
        std::getline(rest, frame.left_out, '\0');
        std::getline(rest, frame.not_averaged, '\0');
    }
    return frames;
}

std::size_t Registered::index(std::int64_t frame) const {
    const auto at = std::lower_bound(frames.begin(), frames.end(), frame);
    if (at == frames.end() || *at != frame)
        throw std::logic_error("the requested motion is of a frame that was left out");
    return static_cast<std::size_t>(at - frames.begin());
}

std::vector<std::int64_t> Registered::contributing() const {
    std::vector<std::int64_t> some;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (contributes[i] != 0)
            some.push_back(frames[i]);
    }
    return some;
}

namespace {

/// All-gathers the row displacements, if any. Collective.
void gather_rows(const Communicator& communicator, std::span<const FrameRegistration> own,
                 Registered& all) {
    Packer of_rank;
    for (const FrameRegistration& frame : own) {
        if (!frame.left_out.empty() || !frame.rows)
            continue;
        for (const std::vector<float>* list :
             {&frame.rows->dx, &frame.rows->dy, &frame.rows->sigma})
            of_rank.add(*list);
    }
    const std::vector<std::byte> bytes = all_gather_lists(communicator, of_rank.bytes());
    for (Unpacker rest(bytes); !rest.empty();) {
        RowMotion rows{all.motions[all.rows.size()], {}, {}, {}};
        for (std::vector<float>* list : {&rows.dx, &rows.dy, &rows.sigma})
            *list = rest.take<std::vector<float>>();
        all.rows.push_back(std::make_shared<const RowMotion>(std::move(rows)));
    }
}

} // namespace

Registered gather_registered(const Communicator& communicator,
                             std::span<const FrameRegistration> own) {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    std::vector<FrameContrast> contrasts;
    std::vector<std::uint8_t> contributes;
    std::vector<AffineMotion> affine;
    int any_affine = 0;
    for (const FrameRegistration& frame : own) {
        if (!frame.left_out.empty())
            continue;
        frames.push_back(frame.frame);
        motions.push_back(frame.result.motion);
        contrasts.push_back(frame.contrast);
        contributes.push_back(in_doubt(frame) ? 0 : 1);
        affine.push_back(frame.affine.value_or(as_affine(frame.result.motion)));
        any_affine |= frame.affine.has_value();
    }
    Registered all{all_gather_lists(communicator, frames), all_gather_lists(communicator, motions),
                   all_gather_lists(communicator, contrasts),
                   all_gather_lists(communicator, contributes)};
    all.all_in_doubt = std::count(all.contributes.begin(), all.contributes.end(), 1) < 2;
    if (all.all_in_doubt)
        std::fill(all.contributes.begin(), all.contributes.end(), 1);
    if (std::ranges::max(communicator.all_gather(any_affine)) > 0)
        all.affine = all_gather_lists(communicator, affine);
    gather_rows(communicator, own, all);
    return all;
}

void leave_out_unrelated(std::span<FrameRegistration> frames) {
    for (FrameRegistration& frame : frames) {
        if (frame.left_out.empty() && frame.result.unrelated)
            frame.leave_out(Omission::unlike,
                            fmt::format("the overlap with the reference, {:.0f} % of a frame, has "
                                        "no higher NCC than noise",
                                        100 * frame.result.overlap));
    }
}

TransformOf transforms(const Registered& registered) {
    return [&registered](std::int64_t frame) -> Transform {
        const std::size_t index = registered.index(frame);
        if (!registered.rows.empty())
            return *registered.rows[index];
        if (registered.affine.empty())
            return registered.motions[index];
        return registered.affine[index];
    };
}

} // namespace sextant::registration
