// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"
#include "sextant/registration/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "papers/experiments.hpp"
#include "papers/thesis_registration.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

using registration::RigidMotion;
using registration::SeriesPlan;
using registration::SyntheticSeries;

SyntheticSeries lattice_series(SeriesPlan plan) {
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    return {plan, registration::find_specimen("lattice").make(specimen)};
}

// Figure 2.5 of Copik's thesis: the energy between two results for frames 0 and 3.

/// The motion from frame 0 to frame 3, computed with two bracketings.
struct Bracketings {
    RigidMotion serial; ///< (φ01 ⊙ φ12) ⊙ φ23
    RigidMotion tree;   ///< φ01 ⊙ (φ12 ⊙ φ23)
    double apart = 0;   ///< distance between the two motions, RMS over the frame, in pixels
    double error = 0;   ///< larger distance of the two from the true motion
    std::vector<double> energies; ///< energies on the line from `serial` to `tree` and beyond
};

constexpr int steps_between = 20;
constexpr int steps_beyond = 10; ///< steps beyond each end of the line

RigidMotion on_the_line(const RigidMotion& from, const RigidMotion& to, double s) {
    return {from.alpha + s * (to.alpha - from.alpha), from.tx + s * (to.tx - from.tx),
            from.ty + s * (to.ty - from.ty)};
}

Bracketings register_in_two_ways(std::uint64_t seed) {
    SeriesPlan plan;
    plan.shape = {128, 120};
    plan.frames = 4;
    plan.dose = 7;
    plan.wander = 1;
    plan.rotation_wander = .005;
    plan.seed = seed;
    const SyntheticSeries series = lattice_series(plan);
    std::vector<kernel::FloatPlane> frames;
    for (int i = 0; i < plan.frames; ++i)
        frames.push_back(series.counted(i));
    const auto frame = [&](std::size_t i) { return frames[i].samples(); };
    // With this tolerance, the flow does not stop before it reaches a minimum.
    const GradientFlowRegistration registration({.stop = 1e-9});
    std::array<RigidMotion, 3> neighbours;
    for (std::size_t i = 0; i < neighbours.size(); ++i)
        neighbours[i] = registration.rigid(frame(i), frame(i + 1)).motion;
    const RigidMotion first =
        registration.joined(frame(0), frame(2), neighbours[0], neighbours[1]).motion;
    const RigidMotion last =
        registration.joined(frame(1), frame(3), neighbours[1], neighbours[2]).motion;
    Bracketings found;
    found.serial = registration.joined(frame(0), frame(3), first, neighbours[2]).motion;
    found.tree = registration.joined(frame(0), frame(3), neighbours[0], last).motion;
    found.apart = rms_distance(found.serial, found.tree, plan.shape);
    const RigidMotion truth = series.between(0, 3);
    found.error = std::max(rms_distance(found.serial, truth, plan.shape),
                           rms_distance(found.tree, truth, plan.shape));
    std::vector<RigidMotion> line;
    for (int i = -steps_beyond; i <= steps_between + steps_beyond; ++i)
        line.push_back(on_the_line(found.serial, found.tree, double(i) / steps_between));
    found.energies = registration.energies(frame(0), frame(3), line);
    return found;
}

Result bracketings(Extent extent) {
    Result result{"10⁻⁶, energy E minus its value at s = 0", {"farthest apart"}};
    std::vector<Bracketings> all;
    constexpr int last = 12;
    const int first = extent == Extent::whole ? 1 : 10, series = last - first + 1;
    for (int seed = first; seed <= last; ++seed)
        all.push_back(register_in_two_ways(static_cast<std::uint64_t>(seed)));
    std::vector<double> apart;
    constexpr double rounding = 1e-10;
    double error = 0;
    int barriers = 0;
    const Bracketings* farthest = &all.front();
    for (const Bracketings& each : all) {
        apart.push_back(each.apart);
        error = std::max(error, each.error);
        const auto begin = each.energies.begin() + steps_beyond, end = begin + steps_between;
        barriers += *std::max_element(begin, end + 1) > std::max(*begin, *end) + rounding ? 1 : 0;
        farthest = each.apart > farthest->apart ? &each : farthest;
    }
    for (std::size_t i = 0; i < farthest->energies.size(); i += 5)
        result.rows.push_back(
            {fmt::format("s = {:.2f}", (double(i) - steps_beyond) / steps_between),
             {},
             {1e6 * (farthest->energies[i] - farthest->energies[steps_beyond])}});
    const double most = farthest->apart;
    result.claims = {
        {"the difference between two bracketings appears only at the sub-pixel level", most < 1,
         fmt::format("{:.4f} px apart in the median of {} series, {:.4f} px at most; at most "
                     "{:.2f} px from the true motion",
                     median(apart), series, most, error)},
        {"the flow does not reach the other solution because it is stuck in a local minimum",
         barriers > 0,
         fmt::format("in {} of {} series, the energy between the solutions exceeds both", barriers,
                     series)}};
    return result;
}

// Figures 4.3 and 4.4 of Copik's thesis: the time of the operator.

constexpr int values_per_worker = 8;

/// The work of the published registration in a series: descent steps, each weighted by the number
/// of pixels of its level relative to a frame.
struct OperatorWork {
    std::vector<double> neighbours;   ///< by frame: registration with the next frame
    std::vector<double> applications; ///< by application of the operator in a serial scan
};

double work_of(const ThesisMotion& found) {
    double work = 0, pixels = 1;
    for (auto level = found.energies.rbegin(); level != found.energies.rend(); ++level) {
        work += pixels * static_cast<double>(level->size());
        pixels /= 4;
    }
    return work;
}

/// `dose`: electrons per pixel; `sigma`: scale of the filter, 0 for no filter.
OperatorWork work_in_series(int pairs, double dose, double sigma) {
    SeriesPlan plan;
    plan.shape = {64, 64};
    plan.frames = pairs + 1;
    plan.dose = dose;
    plan.wander = 1;
    plan.rotation_wander = .005;
    const SyntheticSeries series = lattice_series(plan);
    const GradientFlowRegistration registration({.sigma = sigma});
    const kernel::FloatPlane first = series.counted(0);
    kernel::FloatPlane frame = series.counted(0);
    RigidMotion to_first;
    OperatorWork work;
    for (int i = 1; i <= pairs; ++i) {
        kernel::FloatPlane next = series.counted(i);
        const ThesisMotion step = registration.rigid(frame.samples(), next.samples());
        work.neighbours.push_back(work_of(step));
        if (i == 1) {
            to_first = step.motion;
        } else {
            const ThesisMotion joined =
                registration.joined(first.samples(), next.samples(), to_first, step.motion);
            work.applications.push_back(work_of(joined));
            to_first = joined.motion;
        }
        frame = std::move(next);
    }
    return work;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.) / static_cast<double>(values.size());
}

double busiest_worker(const std::vector<double>& work) {
    double busiest = 0;
    for (std::size_t first = 0; first + values_per_worker <= work.size();
         first += values_per_worker) {
        double own = 0;
        for (std::size_t i = first; i < first + values_per_worker; ++i)
            own += work[i];
        busiest = std::max(busiest, own / (values_per_worker * mean_of(work)));
    }
    return busiest;
}

double deviation_of_logarithms(const std::vector<double>& work) {
    double sum = 0, squares = 0;
    for (const double each : work) {
        sum += std::log(each);
        squares += std::log(each) * std::log(each);
    }
    const auto count = static_cast<double>(work.size());
    return std::sqrt(squares / count - sum * sum / (count * count));
}

Result operator_work(Extent extent) {
    const int pairs = values_per_worker * (extent == Extent::whole ? 16 : 8);
    Result result{
        "applications of a serial scan, of their mean",
        {"filtered, 10 electrons per pixel", "unfiltered, 10 electrons", "unfiltered, 1 electron"}};
    const std::array<OperatorWork, 3> work{
        work_in_series(pairs, 10, 2), work_in_series(pairs, 10, 0), work_in_series(pairs, 1, 0)};
    const auto add = [&](const std::string& label, const auto& value_of) {
        Row& row = result.rows.emplace_back();
        row.label = label;
        for (const OperatorWork& each : work)
            row.ours.push_back(value_of(each));
    };
    for (const double share : {.05, .25, .5, .75, .95, 1.})
        add(fmt::format("{:.0f} % take at most", 100 * share), [&](const OperatorWork& each) {
            return quantile(each.applications, share) / mean_of(each.applications);
        });
    add("work of the busiest worker, with 8 applications per worker",
        [](const OperatorWork& each) { return busiest_worker(each.applications); });
    add("standard deviation of the logarithm of the work",
        [](const OperatorWork& each) { return deviation_of_logarithms(each.applications); });
    add("mean work of the registration of neighbours", [](const OperatorWork& each) {
        return mean_of(each.neighbours) / mean_of(each.applications);
    });
    const auto apart = [&](std::size_t i) {
        return quantile(work[i].applications, 1) / quantile(work[i].applications, 0);
    };
    result.claims.push_back(
        {"of iterative nature with huge variances in convergence time", apart(2) > 3,
         fmt::format("the longest takes {:.1f}, {:.1f} and {:.1f} times as long as the shortest",
                     apart(0), apart(1), apart(2))});
    return result;
}

constexpr Experiment experiments[] = {
    {"registration", "Figure 2.5", "energy between two bracketings of four frames",
     "the published rigid registration without a filter, of synthetic series of 128x120 pixels, 7 "
     "electrons per pixel, run until the energy falls by less than 10⁻⁹ in a step; s = 0: frames "
     "joined one after another, s = 1: as a tree. With more electrons, both ways give the same "
     "motion; with fewer, they may be more than a pixel apart. The thesis' energies cannot be "
     "known: they are plotted, and its frames are not published",
     "", bracketings},
    {"registration", "Figures 4.3, 4.4", "distribution of the work of the operator",
     "the published rigid registration of a synthetic series of 64x64 pixels; steps are counted, "
     "so the result is the same on every machine. The noisier the frames, the more the work "
     "varies: filtered frames of 10 electrons per pixel, the same without a filter, as published, "
     "and frames of 1 electron per pixel. The published times cannot be known: they are plotted",
     "", operator_work}};

} // namespace

constinit const std::span<const Experiment> operator_papers = experiments;

} // namespace sextant::papers
