// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/trials.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/schedules/explanation.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/format/catalogue.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace sextant::command {

namespace {

constexpr std::size_t repeats = 3;

/// Times a command on some of this thread's cores, up to `most` times if it is short. Runs it in a
/// folder, and removes the folder "out" before each run.
model::Span timed(const std::string& folder, const std::string& words, int cores,
                  std::size_t most = 1) {
    constexpr Seconds patience = 300, enough = 1;
    std::vector<Seconds> times;
    std::exception_ptr error;
    std::thread([&] {
        cpu_set_t some;
        CPU_ZERO(&some);
        const Cores available = Cores::available();
        for (int core = 0, left = cores; core < CPU_SETSIZE && left > 0; ++core) {
            if (available.has(core) && left-- > 0)
                CPU_SET(core, &some);
        }
        sched_setaffinity(0, sizeof some, &some); // also of the processes that it starts
        try {
            for (Seconds all = 0; times.size() < most && all < enough; all += times.back()) {
                std::filesystem::remove_all(folder + "out");
                std::filesystem::create_directory(folder + "out");
                const auto begin = std::chrono::steady_clock::now();
                run_process(fmt::format("env -C {} SEXTANT_PROBE=off {} 2>/dev/null",
                                        shell_quoted(folder), words),
                            patience);
                const std::chrono::duration<double> taken =
                    std::chrono::steady_clock::now() - begin;
                times.push_back(taken.count());
            }
        } catch (...) {
            error = std::current_exception();
        }
    }).join();
    if (error)
        std::rethrow_exception(error);
    const auto [low, high] = std::ranges::minmax(times); // other programs only add time
    return {low, low, high};
}

/// Makes a file that has the samples of `path` several times: more frames, or more rows of an
/// image. Each copy is rotated, so that frames differ.
void repeat(const std::string& path, Elements times) {
    const std::unique_ptr<FrameSource> source = format::open_frames(path, {});
    FrameHeader header = source->header();
    const ImageShape shape = header.shape;
    std::vector<float> all;
    for (std::int64_t k = 0; k < header.frames; ++k) {
        std::vector<float> frame(static_cast<std::size_t>(shape.elements()));
        source->read_rows(k, {0, shape.height}, frame);
        all.insert(all.end(), frame.begin(), frame.end());
    }
    const Elements writes = times * header.frames;
    (header.frames > 1 ? header.frames : header.shape.height) *= times;
    const std::unique_ptr<FrameSink> sink = format::create_frames(path, header);
    for (Elements k = 0; k < writes; ++k) {
        sink->write(std::span(all).first(static_cast<std::size_t>(shape.elements())));
        std::ranges::rotate(all, all.begin() + (shape.elements() + 7919) % std::ssize(all));
    }
    sink->commit();
}

} // namespace

model::Span SharedTime::on(int n) const {
    const double share = cores > 1 ? (1. / n - 1. / cores) / (1 - 1. / cores) : 1;
    const auto time = [&](Seconds alone, Seconds together) {
        return std::max(together + (alone - together) * share,
                        together * std::min(1., 1. * cores / n));
    };
    const bool more = share < 0; // extrapolated: the shorter the time on one core, the longer
    return {time(one.median, all.median), time(more ? one.high : one.low, all.low),
            time(more ? one.low : one.high, all.high)};
}

SharedTime& SharedTime::cover(const SharedTime& other) {
    for (const auto& [own, more] : {std::pair(&one, &other.one), std::pair(&all, &other.all)}) {
        own->low = std::min(own->low, more->low);
        own->high = std::max(own->high, more->high);
    }
    return *this;
}

bool Trials::allowed() {
    return detect_launcher().launcher == Launcher::none &&
           calibrate::may_measure(planner::Probing::now);
}

Trials::Trials(const PlannedTask& task, double density) : task_(task) {
    const bool series = task.moves_frames(), is_image = !series && !task.depth;
    // The larger input has four times as many frames or rows. Those of `label` and `contours`
    // repeat a few frames or rows.
    const Elements most = is_image ? 2048 : task.what == "apply" ? 1024 : 512;
    const Elements width = std::min(task.width, most);
    const Elements height = std::min(task.height, is_image ? 512 : most);
    const Elements planes = series ? task.frames : task.depth.value_or(1);
    start_ = timed(folder_.file(""), task.program + " --version", 1, repeats);
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
        const Elements more = k == 0 ? 1 : 4, few = task.what == "apply" ? 2 : 3;
        const Elements frames = std::min(planes, is_image ? 1 : series ? more * few : 4);
        const Elements copies = std::min(series                    ? 1
                                         : task.what == "contours" ? more
                                                                   : 4 * more,
                                         is_image ? task.height / height : planes / frames);
        const std::string file = fmt::format("{}.mrc", k);
        const auto run = [&](const std::string& words) {
            timed(folder_.file(""), task.program + " " + words, 1);
        };
        run(fmt::format("synthesize -o {} --width {} --height {} --frames {} --dose {}", file,
                        width, height, frames, density < 1 ? -std::log1p(-density) : 20));
        repeat(folder_.file(file), copies);
        inputs_[k] = {width * height * frames * copies, task.what + " " + file};
        if (task.what == "apply") {
            run(fmt::format("register {0} -o motions{0} --aligned off", file));
            inputs_[k].words = fmt::format("apply motions{0}/transforms.json {0}", file);
        }
    }
}

model::Span Trials::time(int cores, const std::string& options) const {
    const char* const output = task_.what == "register" ? ""
                               : task_.what == "apply"  ? "/out.mrc"
                                                        : "/out.npy";
    std::array<model::Span, 2> times;
    for (std::size_t k = 0; k < times.size(); ++k)
        times[k] = timed(folder_.file(""),
                         fmt::format("{} {} -o out{} {}", task_.program, inputs_[k].words, output,
                                     options),
                         cores, repeats) -
                   start_;
    const auto more = static_cast<double>(inputs_[1].samples - inputs_[0].samples);
    const auto rest = static_cast<double>(task_.samples() - inputs_[1].samples);
    const auto at = [&](Seconds small, Seconds large) {
        return std::max(0., large) + (more > 0 ? std::max(0., large - small) / more * rest : 0);
    };
    const auto& [small, large] = times;
    // A shorter time than the noise of the start of a program cannot be measured.
    const Seconds noise = std::max(1e-6, start_.high - start_.low);
    const Seconds usual = std::max(noise, at(small.median, large.median));
    return {usual, usual, std::max(usual, at(small.high, large.high))};
}

SharedTime Trials::shared_time(const std::string& options) const {
    const int all = Cores::available().count();
    return {time(1, options), time(all, options), all};
}

} // namespace sextant::command
