// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/prefix/scan.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// What registers frame `moved` to frame `reference`: a value of the scan.
struct Link {
    std::int64_t reference = 0, moved = 0;
    RigidResult result;
};

/// This rank's frames: the first, and the one after the last.
struct Share {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
};

Share share_of(int rank, int ranks, std::int64_t frames) {
    return {frames * rank / ranks, frames * (rank + 1) / ranks};
}

void check(const FrameSource& source, const SeriesOptions& options) {
    if (source.header().frames < 1)
        throw InvalidTask(source.path() + ": a series without frames, expected at least one");
    if (options.scan.threads != 1)
        throw InvalidTask(fmt::format("a series is registered on one thread a rank, not on {}",
                                      options.scan.threads));
}

/// Reads frames into pyramids, and registers them.
class Reader {
  public:
    Reader(FrameSource& source, const SeriesOptions& options)
        : source_(source),
          samples_(static_cast<std::size_t>(source.header().shape.elements())),
          reference_(source.header().shape, 0, options.prefilter),
          moved_(source.header().shape, 0, options.prefilter),
          registration_(source.header().shape, 0, options.rigid) {}

    /// The mean of a frame's samples. Throws UnusableFrame where it has no pyramid.
    double brightness(std::int64_t frame) {
        fill(moved_, frame);
        return std::accumulate(samples_.begin(), samples_.end(), 0.) /
               static_cast<double>(samples_.size());
    }

    /// Neighbours in turn: the frame that was moved last is read no more where it is the reference.
    RigidResult align(std::int64_t reference, std::int64_t moved) {
        if (in_moved_ == reference) {
            std::swap(reference_, moved_);
            in_moved_.reset();
        } else {
            fill(reference_, reference);
        }
        fill(moved_, moved);
        in_moved_ = moved;
        return registration_.align(reference_, moved_);
    }

    RigidResult refine(std::int64_t reference, std::int64_t moved, const RigidMotion& start) {
        in_moved_.reset();
        fill(reference_, reference);
        fill(moved_, moved);
        return registration_.refine(reference_, moved_, start);
    }

  private:
    void fill(Pyramid& pyramid, std::int64_t frame) {
        const ImageShape shape = source_.header().shape;
        source_.read_frame(frame, samples_);
        pyramid.fill({samples_.data(), shape.width, {0, 0, shape.width, shape.height}, shape});
    }

    FrameSource& source_;
    std::vector<float> samples_;
    Pyramid reference_, moved_;
    RigidRegistration registration_;
    std::optional<std::int64_t> in_moved_;
};

constexpr double no_picture = -std::numeric_limits<double>::infinity();

/// How bright this rank's frames are, and why some are left out.
std::vector<double> look_at(const Share& share, Reader& reader, std::vector<FramePlace>& places) {
    std::vector<double> brightness;
    for (std::int64_t frame = share.first; frame < share.last; ++frame) {
        FramePlace& place = places.emplace_back();
        place.frame = frame;
        try {
            brightness.push_back(reader.brightness(frame));
        } catch (const UnusableFrame& why) {
            place.left_out = why.what();
            brightness.push_back(no_picture);
        }
    }
    return brightness;
}

/// The median of the frames that have a picture; none where none has.
std::optional<double> usual_brightness(std::vector<double> brightness) {
    std::erase(brightness, no_picture);
    if (brightness.empty())
        return std::nullopt;
    return median(brightness);
}

/// The frames that are not left out, in order.
std::vector<std::int64_t> usable(const std::vector<double>& brightness, double least) {
    std::vector<std::int64_t> frames;
    for (std::size_t frame = 0; frame < brightness.size(); ++frame) {
        if (brightness[frame] != no_picture && brightness[frame] >= least)
            frames.push_back(static_cast<std::int64_t>(frame));
    }
    return frames;
}

/// Frames registered to the ones before, and how long each took.
struct Neighbours {
    std::vector<Link> links;
    std::vector<Seconds> took;
};

/// This rank's.
Neighbours neighbours(const Share& share, const std::vector<std::int64_t>& frames, Reader& reader) {
    using Clock = std::chrono::steady_clock;
    Neighbours made;
    for (std::size_t i = 1; i < frames.size(); ++i) {
        if (frames[i] < share.first || frames[i] >= share.last)
            continue;
        const auto begin = Clock::now();
        made.links.push_back({frames[i - 1], frames[i], reader.align(frames[i - 1], frames[i])});
        made.took.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return made;
}

/// ⊙.
Link combined(const Link& left, const Link& right, Reader& reader) {
    if (left.moved != right.reference)
        throw std::logic_error("motions combined that are not neighbours");
    Link link{left.reference, right.moved,
              reader.refine(left.reference, right.moved,
                            compose(right.result.motion, left.result.motion))};
    link.result.ambiguous = left.result.ambiguous || right.result.ambiguous;
    link.result.unrelated =
        link.result.unrelated || left.result.unrelated || right.result.unrelated;
    return link;
}

/// What is known of a frame that is registered to itself.
RigidResult itself() {
    RigidResult result;
    result.ncc_before = result.ncc_after = result.overlap = 1;
    result.converged = true;
    return result;
}

} // namespace

std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        const SeriesOptions& options) {
    const std::int64_t frames = source.header().frames;
    const Share share = share_of(communicator.rank(), communicator.size(), frames);
    std::vector<FramePlace> places;
    std::vector<double> brightness;
    std::optional<Reader> reader;
    agree(communicator, [&] {
        check(source, options);
        reader.emplace(source, options);
        brightness = look_at(share, *reader, places);
    });
    const std::vector<double> of_all =
        all_gather_lists(communicator, std::span<const double>(brightness));
    const double usual = usual_brightness(of_all).value_or(0);
    const double least = usual > 0 ? options.least_brightness * usual : no_picture;
    const std::vector<std::int64_t> used = usable(of_all, least);

    Neighbours of_frames;
    agree(communicator, [&] { of_frames = neighbours(share, used, *reader); });
    prefix::ScanOptions scan = options.scan;
    scan.expected = std::move(of_frames.took);
    const std::vector<Link> from_first = prefix::scan(
        communicator, std::span<const Link>(of_frames.links),
        [&](const Link& left, const Link& right) { return combined(left, right, *reader); }, scan);

    auto link = from_first.begin();
    for (FramePlace& place : places) {
        const double bright = of_all[static_cast<std::size_t>(place.frame)];
        if (bright != no_picture && bright < least)
            place.left_out =
                fmt::format("its mean is {:.4g}, that of others {:.4g}", bright, usual);
        if (!place.left_out.empty())
            continue;
        place.result = place.frame == used.front() ? itself() : (link++)->result;
    }
    return places;
}

} // namespace sextant::registration
