// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agree.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/pair_reader.hpp"
#include "sextant/registration/series.hpp"
#include "sextant/registration/share.hpp"

#include <fmt/format.h>

namespace sextant::registration {

namespace {

struct Seen {
    FrameLook look;
    bool readable = false;
};

/// A frame as it is, or why it cannot be had.
Seen seen(PairReader& reader, FramePlace& place) {
    try {
        const FrameLook look = reader.look(place.frame);
        place.gaps = look.gaps;
        return {look, true};
    } catch (const UnusableFrame& why) {
        place.left_out = why.what();
    } catch (const InvalidFile& why) {
        place.left_out = why.what();
    }
    return {};
}

std::vector<Seen> look_at_mine(const Share& share, FrameSource& source,
                               const SeriesOptions& options, const SeriesHooks& hooks,
                               std::vector<FramePlace>& mine) {
    Team team(options.threads);
    PairReader reader(source, options.rigid, options.prefilter, 2, &team, options.offset);
    std::vector<Seen> all;
    for (std::int64_t frame = share.first; frame < share.last; ++frame) {
        hooks.progress("look at frames", frame - share.first, share.count());
        FramePlace& place = mine.emplace_back();
        place.frame = frame;
        all.push_back(seen(reader, place));
    }
    return all;
}

} // namespace

SeriesLook look_at_series(const Communicator& communicator, FrameSource& source,
                          const SeriesOptions& options, const SeriesHooks& hooks) {
    const std::int64_t frames = source.header().frames;
    const Share share = share_of(communicator.rank(), communicator.size(), frames);
    SeriesLook look;
    std::vector<Seen> mine;
    agree(communicator, [&] {
        if (frames < 1)
            throw InvalidTask(source.path() + ": a series without frames, expected at least one");
        mine = look_at_mine(share, source, options, hooks, look.mine);
    });
    const std::vector<Seen> all = all_gather_lists(communicator, std::span<const Seen>(mine));
    std::vector<FrameLook> readable;
    for (const Seen& frame : all) {
        look.frames.push_back(frame.look);
        if (frame.readable)
            readable.push_back(frame.look);
    }
    const UsualLook usual = usual_look(readable);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const Seen& one = all[static_cast<std::size_t>(frame)];
        if (!one.readable)
            continue;
        const std::string fault = fault_of(one.look, usual, options.limits);
        if (fault.empty())
            look.fit.push_back(frame);
        if (share.has(frame))
            look.mine[static_cast<std::size_t>(frame - share.first)].left_out = fault;
    }
    return look;
}

} // namespace sextant::registration
