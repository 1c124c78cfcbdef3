// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair_reader.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::registration {

PairReader::PairReader(FrameSource& source, const RigidOptions& options, double prefilter, int kept,
                       Team* team, double offset)
    : source_(source),
      offset_(offset),
      samples_(static_cast<std::size_t>(source.header().shape.elements())),
      registration_(source.header().shape, 0, options, team) {
    if (kept < 2)
        throw std::logic_error("pairs of frames read with less than two in memory");
    for (int i = 0; i < kept; ++i)
        kept_.push_back({Pyramid(source.header().shape, 0, prefilter, team)});
}

FrameLook PairReader::read(std::int64_t frame) {
    source_.read_frame(frame, samples_);
    FrameLook look = look_at(samples_);
    if (look.gaps == look.samples)
        throw UnusableFrame(fmt::format("none of its {} samples is a finite number", look.samples));
    for (double* value : {&look.mean, &look.least, &look.largest})
        *value += offset_;
    if (look.least == look.largest)
        throw UnusableFrame(fmt::format("every sample is {:g}", look.least));
    return look;
}

/// The pyramid that was not used for longest makes room.
const PairReader::Kept& PairReader::kept(std::int64_t frame) {
    auto slot = std::find_if(kept_.begin(), kept_.end(),
                             [frame](const Kept& one) { return one.frame == frame; });
    if (slot == kept_.end()) {
        slot = std::min_element(kept_.begin(), kept_.end(),
                                [](const Kept& a, const Kept& b) { return a.used < b.used; });
        slot->frame = -1; // in case what follows throws
        slot->look = read(frame);
        const ImageShape shape = source_.header().shape;
        slot->pyramid.fill(
            {samples_.data(), shape.width, {0, 0, shape.width, shape.height}, shape});
        slot->frame = frame;
    }
    slot->used = ++uses_;
    return *slot;
}

FrameLook PairReader::look(std::int64_t frame) {
    return kept(frame).look;
}

RigidResult PairReader::align(std::int64_t reference, std::int64_t moved) {
    const Pyramid& r = kept(reference).pyramid;
    return registration_.align(r, kept(moved).pyramid);
}

RigidResult PairReader::refine(std::int64_t reference, std::int64_t moved,
                               const RigidMotion& start) {
    return refine(kept(reference).pyramid, moved, start);
}

RigidResult PairReader::refine(const Pyramid& reference, std::int64_t moved,
                               const RigidMotion& start) {
    return registration_.refine(reference, kept(moved).pyramid, start);
}

} // namespace sextant::registration
