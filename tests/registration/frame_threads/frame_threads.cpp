// SPDX-License-Identifier: BSD-3-Clause
// Threads that take whole frames: the same motions as threads that share rows, whoever steals, and
// failures on any thread.
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/synthetic.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/frames_in_memory.hpp"
#include "tests/support/time_limit.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::FrameThreads;
using registration::FrameThreadUse;
using registration::RigidMotion;
using registration::ThreadPlan;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A series of known motion.
struct MadeSeries {
    registration::SyntheticSeries series;
    FramesMade frames;
};

MadeSeries make_series(int frames, std::vector<int> blanks = {}) {
    registration::SeriesPlan plan;
    plan.shape = {128, 128};
    plan.frames = frames;
    plan.drift = {-.002, -1.4, .9};
    plan.wander = .4;
    plan.blanks = std::move(blanks);
    const registration::SyntheticSeries series(plan, specimen_of(plan));
    return {series, counted_frames(series)};
}

struct Registration {
    std::vector<FrameRegistration> places;
    FrameThreadUse use;
};

/// Registers a series on one rank whose threads take whole frames.
Registration by_frames(const FramesMade& frames, RegistrationOptions options, ThreadPlan plan,
                       registration::Ledger* ledger = nullptr) {
    Registration run;
    run_threads(1, [&](const Communicator& communicator) {
        MadeSource source(frames);
        registration::SeriesContext context{communicator, source, options, ledger};
        context.threads = plan;
        context.used = &run.use;
        run.places = registration::register_series(context, inspect_series(context));
    });
    return run;
}

/// Registers a series on one thread.
std::vector<FrameRegistration> places_of(const FramesMade& frames, RegistrationOptions options) {
    options.reproducible = true;
    return by_frames(frames, options, {}).places;
}

TEST(FrameThreads, do_every_item_once_and_read_frames) {
    const MadeSeries made = make_series(3);
    MadeSource source(made.frames);
    for (const int threads : {1, 2, 5}) {
        FrameThreads workers(source, threads);
        for (const std::size_t items : {0U, 1U, 7U, 100U}) {
            std::vector<std::atomic<int>> done(items);
            std::atomic<int> reported = 0;
            workers.for_each(
                items,
                [&](std::size_t) {
                    EXPECT_TRUE(workers.on_caller());
                    ++reported;
                },
                [&](std::size_t item, int thread) {
                    if (item % 9 == 0) {
                        std::vector<float> samples(128 * 128);
                        workers.source(thread).read_frame(static_cast<std::int64_t>(item % 3),
                                                          samples);
                        EXPECT_EQ(samples[700], made.frames[item % 3].image().row(5)[60]);
                    }
                    ++done[item];
                });
            for (const auto& count : done)
                EXPECT_EQ(count, 1);
            EXPECT_LE(reported, static_cast<int>(items));
        }
        const auto counts = workers.registrations();
        EXPECT_EQ(counts.size(), static_cast<std::size_t>(threads));
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 108);
    }
}

TEST(FrameThreads, an_exception_on_any_thread_ends_all) {
    const MadeSeries made = make_series(2);
    MadeSource source(made.frames);
    FrameThreads workers(source, 3);
    for (const std::size_t failing : {0U, 11U, 150U, 199U}) {
        std::atomic<int> later = 0;
        EXPECT_THAT(
            [&] {
                workers.for_each(
                    200, [](std::size_t) {},
                    [&](std::size_t item, int) {
                        if (item == failing)
                            throw InvalidTask("frame 11 is damaged");
                        std::this_thread::sleep_for(std::chrono::microseconds(50));
                        ++later;
                    });
            },
            ThrowsMessage<InvalidTask>(HasSubstr("frame 11 is damaged")));
        EXPECT_LT(later, 200);
    }
    // The other threads wait in their first item, so that the calling thread gets one.
    const TimeLimit limit;
    std::atomic<bool> thrown = false;
    EXPECT_THROW(workers.for_each(
                     50,
                     [&](std::size_t) {
                         thrown = true;
                         throw Cancelled();
                     },
                     [&](std::size_t, int) { limit.wait_until([&] { return thrown.load(); }); }),
                 Cancelled);
}

TEST(FrameThreads, read_frames_of_one_source_at_the_same_time) {
    const MadeSeries made = make_series(12);
    MadeSource source(made.frames);
    registration::FrameThreads frames(source, 4);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            FrameSource& own = frames.source(thread);
            std::vector<float> samples(128 * 128), rows(128 * 10);
            for (int i = 0; i < 60; ++i) {
                const int frame = (7 * i + thread) % 12;
                own.read_frame(frame, samples);
                own.read_rows(frame, {30, 40}, rows);
                const kernel::FloatPlane& expected = made.frames[static_cast<std::size_t>(frame)];
                ASSERT_EQ(samples[128 * 64 + 3], expected.image().row(64)[3]);
                ASSERT_EQ(rows[128 * 5 + 9], expected.image().row(35)[9]);
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

TEST(FrameThreads, give_the_same_bits_as_shared_rows_if_reproducible) {
    const MadeSeries made = make_series(11, {4});
    for (const std::optional<std::int64_t> reference : {std::optional<std::int64_t>(), {6}}) {
        RegistrationOptions options;
        options.reference = reference;
        const std::vector<FrameRegistration> alone = places_of(made.frames, options);
        options.reproducible = true;
        for (const int threads : {2, 3}) {
            options.threads = threads;
            const Registration run = by_frames(made.frames, options, {.whole_frames = true});
            ASSERT_EQ(run.places.size(), alone.size());
            for (std::size_t i = 0; i < alone.size(); ++i) {
                EXPECT_EQ(run.places[i].result.motion, alone[i].result.motion) << i;
                EXPECT_EQ(run.places[i].left_out, alone[i].left_out);
            }
            EXPECT_EQ(run.use.scan.applications, 0) << "the scan did not run on several threads";
            EXPECT_EQ(run.use.registrations.size(), static_cast<std::size_t>(threads));
        }
    }
}

TEST(FrameThreads, that_steal_give_the_same_motions_within_their_noise) {
    const MadeSeries made = make_series(20);
    const std::vector<FrameRegistration> alone = places_of(made.frames, {});
    RegistrationOptions options;
    for (const int threads : {2, 4}) {
        options.threads = threads;
        std::int64_t stolen = 0;
        // Threads of exactly the same speed may have nothing to steal in one run.
        for (int attempt = 0; attempt < 5 && stolen == 0; ++attempt) {
            MemoryLedger ledger;
            const Registration run =
                by_frames(made.frames, options, {.whole_frames = true, .steals = true}, &ledger);
            for (std::size_t i = 0; i < alone.size(); ++i) {
                const RigidMotion& found = run.places[i].result.motion;
                EXPECT_LT(registration::rms_distance(found, alone[i].result.motion, {128, 128}),
                          .005)
                    << i << " on " << threads;
                const RigidMotion truth = made.series.between(0, static_cast<int>(i));
                EXPECT_LT(registration::rms_distance(found, truth, {128, 128}), .3) << i;
            }
            const FrameThreadUse::Scan& scan = run.use.scan;
            EXPECT_GE(scan.applications, 18);
            EXPECT_GT(scan.seconds, 0);
            EXPECT_GE(scan.idle, 0);
            EXPECT_LT(scan.idle, threads * scan.seconds);
            EXPECT_EQ(ledger.kept, 3 * 20 - 6 + scan.applications) << "links and applications";
            stolen = scan.stolen;
        }
        EXPECT_GT(stolen, 0) << threads << " threads";
    }
}

/// A ledger that stores results of one kind only once a flag is set, except on the thread that
/// constructed it. The other threads wait, so that this thread gets work of this kind.
class WaitingLedger : public MemoryLedger {
  public:
    WaitingLedger(registration::Work work, const std::atomic<bool>& flag)
        : work_(work), flag_(flag) {}
    void store(const registration::EntryName& name, std::span<const std::byte> bytes) override {
        if (name.work == work_ && std::this_thread::get_id() != own_)
            limit_.wait_until([&] { return flag_.load(); });
        MemoryLedger::store(name, bytes);
    }

  private:
    const std::thread::id own_ = std::this_thread::get_id();
    const TimeLimit limit_;
    const registration::Work work_;
    const std::atomic<bool>& flag_;
};

TEST(FrameThreads, cancel_from_the_thread_that_runs_the_operation) {
    using registration::Work;
    const MadeSeries made = make_series(16);
    const std::pair<const char*, Work> parts[] = {{"register neighbours", Work::link},
                                                  {"combine", Work::combined}};
    for (const auto& [part, work] : parts) {
        run_threads(1, [&, part = part, work = work](const Communicator& communicator) {
            const std::thread::id own = std::this_thread::get_id();
            std::atomic<bool> reached = false;
            MadeSource source(made.frames);
            RegistrationOptions options;
            options.threads = 3;
            WaitingLedger ledger(work, reached);
            registration::SeriesContext context{communicator, source, options, &ledger};
            context.threads = {.whole_frames = true, .steals = true};
            context.control = {.progress =
                                   [&](std::string_view what, std::int64_t, std::int64_t) {
                                       EXPECT_EQ(std::this_thread::get_id(), own);
                                       if (what == part)
                                           reached = true;
                                   },
                               .cancelled =
                                   [&] {
                                       EXPECT_EQ(std::this_thread::get_id(), own);
                                       return reached.load();
                                   }};
            EXPECT_THROW(registration::register_series(context, inspect_series(context)), Cancelled)
                << part;
        });
    }
}

/// A ledger that cannot store results of one kind.
class FullLedger : public MemoryLedger {
  public:
    explicit FullLedger(registration::Work work) : work_(work) {}
    void store(const registration::EntryName& name, std::span<const std::byte> bytes) override {
        if (name.work == work_ && name.moved == 9)
            throw InvalidFile("checkpoint.0", "no space left");
        MemoryLedger::store(name, bytes);
    }

  private:
    registration::Work work_;
};

TEST(FrameThreads, fail_together_if_one_of_them_fails) {
    const MadeSeries made = make_series(14);
    RegistrationOptions options;
    options.threads = 3;
    for (const registration::Work work : {registration::Work::link, registration::Work::combined}) {
        FullLedger ledger(work);
        EXPECT_THAT(
            [&] {
                by_frames(made.frames, options, {.whole_frames = true, .steals = true}, &ledger);
            },
            ThrowsMessage<AgreedFailure>(HasSubstr("no space left")));
    }
}

/// Registers a series on ranks of several threads. Returns the result of rank 0.
RegistrationResult result_of(const FramesMade& frames, const RegistrationOptions& options,
                             int ranks = 1, const RegistrationHooks& hooks = {},
                             const RunControl& control = {}) {
    RegistrationResult result;
    run_threads(ranks, [&](const Communicator& communicator) {
        RegistrationResult own = SeriesRegistration(communicator, options, control)
                                     .run(std::make_unique<MadeSource>(frames), hooks);
        if (communicator.rank() == 0)
            result = std::move(own);
    });
    return result;
}

void expect_same_bits(const RegistrationResult& a, const RegistrationResult& b) {
    ASSERT_EQ(a.frames.size(), b.frames.size());
    for (std::size_t i = 0; i < a.frames.size(); ++i)
        EXPECT_EQ(a.frames[i].result.motion, b.frames[i].result.motion) << i;
    EXPECT_EQ(a.average.mean, b.average.mean);
}

TEST(FrameThreads, register_a_series_by_any_model_with_the_same_bits_if_reproducible) {
    const MadeSeries made = make_series(9);
    for (const MotionModel model : {MotionModel::rigid, MotionModel::nonrigid}) {
        for (const int ranks : {1, 2}) {
            RegistrationOptions options;
            options.model = model;
            options.reproducible = true;
            const RegistrationResult alone = result_of(made.frames, options, ranks);
            EXPECT_FALSE(alone.thread_plan.whole_frames);
            options.threads = 3;
            options.thread_work = ThreadWork::rows;
            expect_same_bits(alone, result_of(made.frames, options, ranks));
            options.thread_work = ThreadWork::frames;
            const RegistrationResult result = result_of(made.frames, options, ranks);
            expect_same_bits(alone, result);
            EXPECT_TRUE(result.thread_plan.whole_frames);
            EXPECT_FALSE(result.thread_plan.steals);
            EXPECT_EQ(result.thread_use.registrations.size(), 3U * static_cast<std::size_t>(ranks));
            EXPECT_GE(std::accumulate(result.thread_use.registrations.begin(),
                                      result.thread_use.registrations.end(), std::int64_t{0}),
                      8);
        }
    }
}

TEST(FrameThreads, that_steal_register_a_series_by_displacement_fields_within_the_noise) {
    const MadeSeries made = make_series(14);
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    const RegistrationResult alone = result_of(made.frames, options);
    options.threads = 3;
    options.thread_work = ThreadWork::frames;
    std::mutex mutex;
    std::map<registration::Work, int> worked;
    RegistrationHooks hooks;
    hooks.worked = [&](registration::Work work, Seconds begin, Seconds end) {
        EXPECT_TRUE(mutex.try_lock()) << "calls are serialised";
        EXPECT_LE(begin, end);
        ++worked[work];
        mutex.unlock();
    };
    const RegistrationResult result = result_of(made.frames, options, 1, hooks);
    for (std::size_t i = 0; i < alone.frames.size(); ++i)
        EXPECT_LT(registration::rms_distance(result.frames[i].result.motion,
                                             alone.frames[i].result.motion, {128, 128}),
                  .01)
            << i;
    EXPECT_TRUE(result.thread_plan.steals);
    EXPECT_EQ(worked.at(registration::Work::neighbour_field), 13);
    EXPECT_EQ(worked.at(registration::Work::combined_field), result.thread_use.scan.applications);
    EXPECT_GE(result.thread_use.scan.applications, 12);
    EXPECT_THAT(to_json(record_of(result)), HasSubstr("\"stolen\""));
}

TEST(FrameThreads, resume_a_cancelled_run_from_its_checkpoint) {
    const MadeSeries made = make_series(14);
    const TemporaryFolder folder;
    RegistrationOptions options;
    options.reproducible = true;
    const RegistrationResult whole = result_of(made.frames, options);
    options.threads = 2;
    options.thread_work = ThreadWork::frames;
    options.checkpoint = folder.path("checkpoint");
    std::atomic<int> results = 0;
    RegistrationHooks hooks;
    hooks.worked = [&](registration::Work, Seconds, Seconds) { ++results; };
    EXPECT_THROW(result_of(made.frames, options, 1, hooks,
                           {.progress = {}, .cancelled = [&] { return results > 12; }}),
                 Cancelled);
    const RegistrationResult resumed = result_of(made.frames, options);
    EXPECT_GT(resumed.resumed, 12U);
    expect_same_bits(whole, resumed);
}

} // namespace
} // namespace sextant::test
