// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/live_registration.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::registration {

namespace {

RigidOptions options_of_links(const RegistrationOptions& options) {
    RigidOptions rigid = options.rigid;
    rigid.inverts = options.contrast == ContrastSearch::automatic;
    return rigid;
}

} // namespace

LiveRegistration::LiveRegistration(FrameSource& source, const RegistrationOptions& options,
                                   LiveLinks& links)
    : source_(source),
      options_(options),
      links_(links),
      team_(options.threads),
      reader_(source, options_of_links(options), options.prefilter, options.farthest + 3, &team_),
      resampler_(source, &team_) {
    const auto pixels = static_cast<std::size_t>(source.header().shape.elements());
    sum_.resize(pixels);
    count_.resize(pixels);
    shown_.resize(pixels);
}

/// Returns the reason why a frame is left out, compared with the usable frames before it; "" if it
/// is usable.
std::string LiveRegistration::fault_of_next(const FrameStatistics& statistics) {
    constexpr std::size_t most = 31;
    std::vector<FrameStatistics> before(means_.size());
    for (std::size_t i = 0; i < means_.size(); ++i) {
        before[i].samples = 1;
        before[i].mean = means_[i];
    }
    std::string fault = fault_of(statistics, usual_statistics(before), options_.limits);
    if (!fault.empty())
        return fault;
    means_.push_back(statistics.mean);
    if (means_.size() > most)
        means_.pop_front();
    return "";
}

const LiveFrame& LiveRegistration::take(bool is_last) {
    LiveFrame next{std::ssize(frames_)};
    try {
        const FrameStatistics statistics = reader_.statistics(next.frame);
        next.flag = fault_of_next(statistics);
        if (next.flag.empty()) {
            links_.keep(next.frame, statistics);
            usable_.push_back(next.frame);
            place(next);
        }
    } catch (const UnusableFrame& why) {
        if (is_last)
            throw;
        next.flag = why.what();
    } catch (const InvalidFile& why) {
        if (is_last)
            throw;
        next.flag = why.what();
    }
    if (next.flag.empty())
        add(next);
    frames_.push_back(std::move(next));
    return frames_.back();
}

bool LiveRegistration::good(const RigidResult& result) const {
    constexpr double least = .6; // of the usual NCC
    return trusted(result) && result.ncc_after >= least * usual_ncc_;
}

/// Makes this frame the reference.
void LiveRegistration::begin_at(std::int64_t frame) {
    reference_ = base_ = frame;
    of_base_ = last_ = {};
    usual_ncc_ = 0;
    averaged_ = 0;
    std::ranges::fill(sum_, 0.F);
    std::ranges::fill(count_, 0.F);
}

void LiveRegistration::place(LiveFrame& frame) {
    if (base_ < 0) {
        begin_at(frame.frame);
        frame.ncc = 1;
        return;
    }
    RigidResult result = reader_.refine(base_, frame.frame, last_);
    if (!good(result)) {
        const RigidResult searched = reader_.align(base_, frame.frame);
        if (trusted(searched) && (!trusted(result) || searched.ncc_after > result.ncc_after))
            result = searched;
    }
    frame.ncc = result.ncc_after;
    if (!trusted(result)) {
        frame.flag = "unrelated";
        if (averaged_ > 1)
            return;
        // Nothing resembles the reference: it may have been taken before the beam was on.
        for (LiveFrame& before : frames_) {
            if (before.flag.empty())
                before.flag = "unrelated";
        }
        begin_at(frame.frame);
        frame.flag.clear();
        frame.ncc = 1;
        return;
    }
    frame.motion = compose(result.motion, of_base_);
    if (result.ambiguous) {
        frame.flag = "ambiguous";
        return;
    }
    constexpr double share = .1; // of a new value in the usual NCC
    usual_ncc_ += (usual_ncc_ == 0 ? 1 : share) * (result.ncc_after - usual_ncc_);
    last_ = result.motion;
    constexpr double least_overlap = .5;
    if (result.overlap < least_overlap) {
        base_ = frame.frame;
        of_base_ = frame.motion;
        last_ = {};
    }
}

void LiveRegistration::add(const LiveFrame& frame) {
    resampler_.show(frame.frame, frame.motion, area_of(source_.header().shape), shown_);
    for (std::size_t pixel = 0; pixel < shown_.size(); ++pixel) {
        const float sample = shown_[pixel];
        const bool covers = std::isfinite(sample);
        sum_[pixel] += covers ? sample : 0.F;
        count_[pixel] += covers ? 1.F : 0.F;
    }
    ++averaged_;
}

std::vector<float> LiveRegistration::average() const {
    std::vector<float> mean(sum_.size());
    for (std::size_t pixel = 0; pixel < mean.size(); ++pixel)
        mean[pixel] = count_[pixel] > 0 ? sum_[pixel] / count_[pixel] : 0.F;
    return mean;
}

bool LiveRegistration::link() {
    while (linked_ < usable_.size()) {
        if (back_ == 0)
            back_ = std::min(static_cast<std::size_t>(options_.farthest), linked_);
        const bool neighbours = back_ == 1;
        const std::int64_t reference = usable_[linked_ - back_], moved = usable_[linked_];
        --back_;
        linked_ += back_ == 0;
        if (links_.has(reference, moved, neighbours))
            continue;
        TimedResult timed;
        sextant::timed(timed.seconds, [&] {
            timed.result =
                neighbours ? reader_.align(reference, moved) : reader_.locate(reference, moved);
        });
        links_.keep(reference, moved, neighbours, timed);
        return true;
    }
    return false;
}

} // namespace sextant::registration
