// SPDX-License-Identifier: BSD-3-Clause
// The throughput of threads that take whole frames and steal work in the scan of motions, compared
// with equal blocks of frames, for series whose registrations take different times.
//
//   bench_stealing CASES.json [THREADS [ROUNDS [NAME]]]
//
// A case is a series of frames of known motion. Its frames from `hard_first` to before `hard_last`
// are distorted, so their registrations take longer, as while a specimen charges or bends.
//
// Method: equal blocks are THREADS ranks (threads of this process) of one thread each; the other
// contestant is one rank of THREADS threads. Both run the first stage of registration, from the
// registration of neighbours to the result of the scan; frames are inspected before. Rounds are
// interleaved, and every second round runs the contestants in reverse order. The ratio of wall
// times is taken within a round; medians with bootstrap intervals are reported. On a machine with
// other load, wall times say little. Therefore the program also measures the CPU time of every
// registration in a run on one thread, and rehearses both contestants with these times on a
// simulated clock (scan/rehearsal.hpp): each application of ⊙ takes as long as the measured one
// that joins the same two neighbours. The variation of these times is stated as the ratio of their
// 95th and 5th percentile. Motions are compared with those of one thread: the largest RMS distance
// in pixels and, with `reproducible`, bits.
#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/stages/stages.hpp"
#include "sextant/registration/synthetic.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/duel.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace {

using namespace sextant;
using bench::with_interval;

struct StealingCase {
    std::string name, model = "rigid", specimen = "carbon";
    int frames = 256, seed = 1, hard_first = 0, hard_last = 0;
    std::int64_t side = 128;
    double dose = 10;         ///< electrons per pixel
    double hard_warp = 0;     ///< distortion of hard frames, pixels
    double warp_length = 512; ///< its wavelength, pixels

    MotionModel motion() const {
        return model == "rigid" ? MotionModel::rigid : MotionModel::nonrigid;
    }
};

Record record_of(StealingCase& one) {
    Record record;
    record.add("name", one.name, "NAME", "name of the case").required();
    record.add("model", one.model, "NAME", "model of motions").one_of({"rigid", "nonrigid"});
    record.add("specimen", one.specimen, "NAME", "specimen")
        .one_of({"lattice", "carbon", "particles"});
    record.add("frames", one.frames, "N", "number of frames").between(2, 1 << 20);
    record.add("seed", one.seed, "N", "seed of the series").between(0, 1 << 20);
    record.add("side", one.side, "PIXELS", "width and height of a frame").between(16, 1 << 14);
    record.add("hard_first", one.hard_first, "N", "first hard frame").between(0, 1 << 20);
    record.add("hard_last", one.hard_last, "N", "frame after the last hard one")
        .between(0, 1 << 20);
    record.add("dose", one.dose, "DOSE", "electrons per pixel").between(0, 1e6);
    record.add("hard_warp", one.hard_warp, "PIXELS", "distortion of hard frames").between(0, 1e3);
    record.add("warp_length", one.warp_length, "PIXELS", "wavelength of the distortion")
        .between(1, 1e6);
    return record;
}

/// The frames of a series, in one array.
struct Frames {
    FrameHeader header;
    std::vector<float> samples;
};

Frames frames_of(const StealingCase& one) {
    registration::SeriesPlan plan;
    plan.shape = {one.side, one.side};
    plan.frames = one.frames;
    plan.dose = one.dose;
    plan.wander = .3;
    plan.seed = static_cast<std::uint64_t>(one.seed);
    registration::SpecimenPlan of_specimen;
    of_specimen.field = registration::field_for(plan);
    of_specimen.seed = plan.seed;
    const auto specimen = registration::find_specimen(one.specimen).make(of_specimen);
    registration::SeriesPlan hard_plan = plan;
    hard_plan.warp = one.hard_warp;
    hard_plan.warp_length = one.warp_length;
    const registration::SyntheticSeries easy(plan, specimen), hard(hard_plan, specimen);
    Frames frames;
    frames.header.frames = one.frames;
    frames.header.shape = plan.shape;
    for (int frame = 0; frame < one.frames; ++frame) {
        const bool is_hard = frame >= one.hard_first && frame < one.hard_last;
        const kernel::FloatPlane counts = (is_hard ? hard : easy).counted(frame);
        for (Elements y = 0; y < plan.shape.height; ++y) {
            const float* const row = counts.image().row(y);
            frames.samples.insert(frames.samples.end(), row, row + plan.shape.width);
        }
    }
    return frames;
}

/// Records the CPU time of each registration on the thread that does it, and stores nothing.
class CpuTimes : public registration::Ledger {
  public:
    std::optional<std::vector<std::byte>> load(const registration::EntryName&) override {
        began_ = now();
        return std::nullopt;
    }
    void store(const registration::EntryName& name, std::span<const std::byte>) override {
        times[name] = now() - began_;
    }
    void update() override {}

    std::map<registration::EntryName, Seconds> times;

  private:
    static Seconds now() {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    }
    Seconds began_ = 0;
};

struct Outcome {
    std::vector<FrameRegistration> frames;
    registration::FrameThreadUse use;
    Seconds seconds = 0; ///< wall time, without the inspection of frames
};

struct Contestant {
    int ranks = 1, threads = 1;
    registration::ThreadPlan plan = {};
    bool reproducible = false;
};

Outcome registered(const StealingCase& one, const Frames& frames, const Contestant& contestant,
                   registration::Ledger* ledger = nullptr) {
    Outcome outcome;
    std::vector<std::vector<FrameRegistration>> parts(static_cast<std::size_t>(contestant.ranks));
    run_threads(contestant.ranks, [&](const Communicator& communicator) {
        MemoryFrames source(frames.header, std::as_bytes(std::span(frames.samples)));
        RegistrationOptions options;
        options.model = one.motion();
        options.threads = contestant.threads;
        options.reproducible = contestant.reproducible;
        registration::SeriesContext context{communicator, source, options, ledger};
        context.threads = contestant.plan;
        if (communicator.rank() == 0)
            context.used = &outcome.use;
        registration::SeriesInspection inspection = inspect_series(context);
        communicator.all_gather(0);
        const auto begin = std::chrono::steady_clock::now();
        auto& own = parts[static_cast<std::size_t>(communicator.rank())];
        if (options.model == MotionModel::rigid)
            own = register_series(context, std::move(inspection));
        else
            own = register_series_by_fields(context, std::move(inspection)).frames;
        communicator.all_gather(0);
        if (communicator.rank() == 0)
            outcome.seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
    for (const auto& part : parts)
        outcome.frames.insert(outcome.frames.end(), part.begin(), part.end());
    return outcome;
}

/// The largest distance between the motions of two outcomes; infinite if the same frames are not
/// left out.
double difference(const Outcome& a, const Outcome& b, const Frames& frames) {
    double most = 0;
    for (std::size_t i = 0; i < a.frames.size(); ++i) {
        if (a.frames[i].left_out != b.frames[i].left_out)
            return std::numeric_limits<double>::infinity();
        most = std::max(most, rms_distance(a.frames[i].result.motion, b.frames[i].result.motion,
                                           frames.header.shape));
    }
    return most;
}

bool same_bits(const Outcome& a, const Outcome& b) {
    return std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(),
                      [](const FrameRegistration& x, const FrameRegistration& y) {
                          return x.result.motion == y.result.motion;
                      });
}

/// Rehearses equal blocks and stealing with measured times.
struct Rehearsed {
    Seconds blocks = 0, stealing = 0, idle_blocks = 0, idle_stealing = 0;
    Elements stolen = 0;
    double spread = 0;                       ///< 95th over 5th percentile of the times of ⊙
    double hard_before = 0, hard_joined = 0; ///< mean time of hard frames over that of the others
};

/// The mean of the times of hard frames over the mean of the others.
double hard_over_easy(const std::vector<Seconds>& times, const StealingCase& one) {
    Seconds hard = 0, easy = 0;
    int hards = 0, easies = 0;
    for (int frame = 1; frame < one.frames; ++frame) {
        const bool is_hard = frame >= one.hard_first && frame < one.hard_last;
        (is_hard ? hard : easy) += times[static_cast<std::size_t>(frame)];
        ++(is_hard ? hards : easies);
    }
    return hards == 0 || easies == 0 ? 1 : hard / hards / (easy / easies);
}

Rehearsed rehearse(const CpuTimes& measured, const StealingCase& one, int threads) {
    const int frames = one.frames;
    using registration::Work;
    // By frame: all registrations before the scan, and the application of ⊙ that joins its link.
    std::vector<Seconds> before(static_cast<std::size_t>(frames)),
        joined(static_cast<std::size_t>(frames));
    std::vector<Seconds> times;
    for (const auto& [name, seconds] : measured.times) {
        if (name.work == Work::combined || name.work == Work::combined_field) {
            joined[static_cast<std::size_t>(name.moved)] = seconds;
            times.push_back(seconds);
        } else {
            before[static_cast<std::size_t>(name.moved)] += seconds;
        }
    }
    // Value v of the scan is the link of frame v + 1.
    const scan::OperatorTime of_scan = [&](const scan::Application& what) {
        return joined[static_cast<std::size_t>(what.middle) + 1];
    };
    const scan::OperatorTime of_links = [&](const scan::Application& what) {
        return before[static_cast<std::size_t>(what.middle) + 1];
    };
    const auto run = [&](int ranks, int each, const prefix::ScanOptions& options,
                         Elements& stolen) {
        const scan::Series series = scan::even_blocks(frames - 1, ranks);
        const std::vector<Seconds> ready = scan::neighbours_done(series, each, 1, of_links);
        const scan::Performance performance =
            scan::Rehearsal(series, prefix::configuration_of(options)).run(of_scan, ready, true);
        Seconds busy = 0;
        for (const scan::Bar& bar : performance.bars)
            busy += bar.end - bar.begin;
        for (const Seconds seconds : before)
            busy += seconds;
        stolen = performance.stolen;
        return std::pair(performance.makespan, ranks * each * performance.makespan - busy);
    };
    Rehearsed rehearsed;
    Elements none = 0;
    std::tie(rehearsed.blocks, rehearsed.idle_blocks) =
        run(threads, 1, registration::scan_options(RegistrationOptions()), none);
    std::tie(rehearsed.stealing, rehearsed.idle_stealing) =
        run(1, threads, registration::scan_with_threads(threads), rehearsed.stolen);
    rehearsed.spread = quantile(times, .95) / quantile(times, .05);
    rehearsed.hard_before = hard_over_easy(before, one);
    rehearsed.hard_joined = hard_over_easy(joined, one);
    return rehearsed;
}

void measure(const StealingCase& one, int threads, int rounds) {
    const Frames frames = frames_of(one);
    const registration::ThreadPlan whole{.whole_frames = true}, steals{true, true};
    CpuTimes times;
    const Outcome serial = registered(one, frames, {}, &times);
    const Rehearsed rehearsed = rehearse(times, one, threads);
    fmt::print("{}: {} frames of {}x{}, {}, seed {}; times of ⊙ vary by {:.1f}; hard "
               "frames take {:.2f} times as long before the scan, {:.2f} times in ⊙\n",
               one.name, one.frames, one.side, one.side, one.model, one.seed, rehearsed.spread,
               rehearsed.hard_before, rehearsed.hard_joined);
    fmt::print("  rehearsed with CPU times: equal blocks {:.2f} s, {:.0f} % idle; stealing {:.2f} "
               "s, {:.0f} % idle, {} stolen; throughput {:.2f}\n",
               rehearsed.blocks, 100 * rehearsed.idle_blocks / (threads * rehearsed.blocks),
               rehearsed.stealing, 100 * rehearsed.idle_stealing / (threads * rehearsed.stealing),
               rehearsed.stolen, rehearsed.blocks / rehearsed.stealing);
    std::vector<double> blocks, stealing, ratios, idle, stolen;
    double most = 0;
    std::vector<std::int64_t> registrations;
    for (int round = 0; round < rounds; ++round) {
        Outcome a, b;
        if (round % 2 == 0)
            a = registered(one, frames, {.ranks = threads});
        b = registered(one, frames, {.threads = threads, .plan = steals});
        if (round % 2 == 1)
            a = registered(one, frames, {.ranks = threads});
        blocks.push_back(a.seconds);
        stealing.push_back(b.seconds);
        ratios.push_back(a.seconds / b.seconds);
        idle.push_back(100 * b.use.scan.idle / (threads * b.use.scan.seconds));
        stolen.push_back(static_cast<double>(b.use.scan.stolen));
        registrations = b.use.registrations;
        most = std::max({most, difference(serial, a, frames), difference(serial, b, frames)});
    }
    if (rounds > 0)
        fmt::print("  measured, {} rounds: equal blocks {} s, stealing {} s, throughput {}; {} % "
                   "idle in the scan, {} stolen; registrations by thread {}; motions differ by at "
                   "most {:.4f} px\n",
                   rounds, with_interval(blocks), with_interval(stealing), with_interval(ratios),
                   with_interval(idle), with_interval(stolen), fmt::join(registrations, " "), most);
    const Outcome alone = registered(one, frames, {.reproducible = true});
    const Outcome shared =
        registered(one, frames, {.threads = threads, .plan = whole, .reproducible = true});
    fmt::print("  reproducible: {}\n", same_bits(alone, shared) ? "the same bits" : "OTHER BITS");
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    const int threads = argc > 2 ? std::stoi(argv[2]) : 2;
    const int rounds = argc > 3 ? std::stoi(argv[3]) : 9;
    if (argc < 2 || argc > 5 || threads < 2 || rounds < 0) {
        fmt::print(stderr,
                   "usage: bench_stealing CASES.json [THREADS, at least 2 [ROUNDS [NAME]]]\n");
        return 2;
    }
    const auto complete = [](StealingCase& one) {
        if (one.hard_last > one.frames)
            throw InvalidTask(fmt::format("hard_last {}: expected at most the {} frames",
                                          one.hard_last, one.frames));
    };
    for (const StealingCase& one : lab::read_cases<StealingCase>(argv[1], complete)) {
        if (argc < 5 || one.name == argv[4])
            measure(one, threads, rounds);
    }
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_stealing: {}\n", error.what());
    return 1;
}
