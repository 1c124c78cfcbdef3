// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/memory_frames.hpp"
#include "sextant/array/row_source.hpp"
#include "sextant/collectives/collective.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/compositor/frames_in_flight.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/core/error.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/stitching.hpp"
#include "sextant/prefix/scan.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/group_cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

// A rank that fails between two calls of an object stops the others: for every class whose calls
// are collective, on any communicator. Each function is collective.
namespace sextant::test {

/// An object whose calls are collective. The other functions of its class are not needed.
class CollectiveObject {
  public:
    virtual ~CollectiveObject() = default;
    virtual void call() = 0;
    virtual void fail(const std::string& text) = 0;
};

template <class Object>
class CalledBy : public CollectiveObject {
  public:
    using Call = std::function<void(Object&)>;
    CalledBy(std::unique_ptr<Object> object, Call call)
        : object_(std::move(object)), call_(std::move(call)) {}
    void call() override { call_(*object_); }
    void fail(const std::string& text) override { object_->fail(text); }

  private:
    std::unique_ptr<Object> object_;
    Call call_;
};

template <class Object>
std::unique_ptr<CollectiveObject> called(std::unique_ptr<Object> object,
                                         std::function<void(Object&)> call) {
    return std::make_unique<CalledBy<Object>>(std::move(object), std::move(call));
}

struct ObjectKind {
    const char* name;
    std::function<std::unique_ptr<CollectiveObject>(const Communicator&)> make;
};

class DroppedPlanes : public LabelSink {
  public:
    Elements begin(const LabelResult&, Elements, Elements) override { return 0; }
    void planes(Elements, const LabelPlanes&) override {}
};

inline constexpr ImageShape small_shape{24, 21};

inline std::unique_ptr<FrameSource> small_series(std::int64_t frames) {
    static const std::vector<std::byte> samples = [] {
        std::vector<std::byte> all(static_cast<std::size_t>(small_shape.elements() * 9));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<std::byte>(i * i / 7 % 3);
        return all;
    }();
    return std::make_unique<MemoryFrames>(
        FrameHeader{.frames = frames, .shape = small_shape, .sample = Sample::u8},
        std::span(samples).first(static_cast<std::size_t>(small_shape.elements() * frames)));
}

inline std::unique_ptr<CollectiveObject> a_collective(const Communicator& communicator,
                                                      CollectiveKind kind) {
    CollectiveTask task{kind, {3}, sizeof(double)};
    if (kind == CollectiveKind::reduce || kind == CollectiveKind::all_reduce)
        task.op = element_operator<double>("sum", std::plus());
    return called<Collective>(
        std::make_unique<Collective>(communicator, task), [](Collective& collective) {
            const std::vector<double> own(static_cast<std::size_t>(collective.send_count()));
            collective.run<double>(own);
        });
}

/// A kind of objects that are made with these arguments, after the communicator.
template <class Object, class... Arguments>
ObjectKind kind_of(const char* name, std::function<void(Object&)> call,
                   const Arguments&... arguments) {
    return {name, [=](const Communicator& communicator) {
                return called<Object>(std::make_unique<Object>(communicator, arguments...), call);
            }};
}

inline ObjectKind kind_of(const char* name, CollectiveKind kind) {
    return {name,
            [kind](const Communicator& communicator) { return a_collective(communicator, kind); }};
}

inline const std::vector<ObjectKind>& object_kinds() {
    static const std::vector<RgbaF32> image(static_cast<std::size_t>(small_shape.elements()));
    static const DeepImage deep = empty_deep_image(small_shape);
    const auto composite = [](Compositor& compositor) { compositor.composite<RgbaF32>(image); };
    CompositeOptions tree;
    tree.algorithm = "binary-tree";
    static const std::vector<ObjectKind> kinds = {
        kind_of<Compositor>("Compositor", composite, small_shape, 1),
        kind_of<Compositor>("Compositor whose leaves only send", composite, small_shape, 1, tree),
        {"Compositor with another order in every frame",
         [](const Communicator& communicator) {
             std::vector<int> order;
             for (int rank = 0; rank < communicator.size(); ++rank)
                 order.push_back(rank);
             return called<Compositor>(std::make_unique<Compositor>(communicator, small_shape, 1),
                                       [order](Compositor& compositor) mutable {
                                           std::ranges::rotate(order, order.begin() + 1);
                                           compositor.composite<RgbaF32>(image, {.order = order});
                                       });
         }},
        kind_of<DeepCompositor>(
            "DeepCompositor",
            [](DeepCompositor& compositor) {
                compositor.composite({&deep, 1});
            },
            small_shape, 1, 2),
        kind_of<FramesInFlight>(
            "FramesInFlight",
            [](FramesInFlight& frames) {
                PendingFrame first = frames.start<RgbaF32>(image);
                PendingFrame second = frames.start<RgbaF32>(image);
                second.wait();
                first.wait();
            },
            small_shape, 1, 2),
        {"TileWall",
         [](const Communicator& communicator) {
             const Rectangle all{0, 0, small_shape.width, small_shape.height};
             const int last = communicator.size() - 1;
             return called<TileWall>(
                 std::make_unique<TileWall>(communicator,
                                            std::vector<WallTile>{{all, 0}, {all, last}}, all),
                 [](TileWall& wall) {
                     const auto bytes = std::as_bytes(std::span(image));
                     wall.composite(std::vector<std::span<const std::byte>>{bytes, bytes});
                 });
         }},
        kind_of("Collective, all-gather", CollectiveKind::all_gather),
        kind_of("Collective, all-reduce", CollectiveKind::all_reduce),
        kind_of<prefix::Scan>(
            "Scan",
            [](prefix::Scan& scan) {
                const std::vector<double> values(3, 1);
                scan.run(std::as_bytes(std::span(values)));
            },
            3, prefix::operator_on(prefix::plain_slots<double>(), std::plus<double>())),
        kind_of<Filtering>("Filtering",
                           [](Filtering& filtering) {
                               RowSource rows(small_series(1), 0);
                               filtering.run(&rows, [](auto&&...) {});
                           }),
        kind_of<Labelling>("Labelling",
                           [](Labelling& labelling) {
                               RowSource rows(small_series(1), 0);
                               labelling.run(rows, [](auto&&...) {});
                           }),
        kind_of<Labelling>("Labelling of a volume",
                           [](Labelling& labelling) {
                               const auto volume = small_series(9);
                               DroppedPlanes sink;
                               labelling.run(*volume, nullptr, sink);
                           }),
        kind_of<Stitching>(
            "Stitching",
            [](Stitching& stitching) {
                auto blocks = stitching.open({{"block", {}, [] { return small_series(9); }}});
                stitching.stitch(blocks, [](auto&&...) {});
            }),
        kind_of<ContourTracing>("ContourTracing",
                                [](ContourTracing& tracing) {
                                    RowSource rows(small_series(1), 0);
                                    tracing.run(rows, [](auto&&...) {});
                                }),
    };
    return kinds;
}

/// Calls an object until it throws PeerFailed; returns the text.
inline std::string told_by_calls(CollectiveObject& object, int failed_rank) {
    while (true) {
        try {
            object.call();
        } catch (const PeerFailed& error) {
            EXPECT_EQ(error.rank(), failed_rank);
            return error.what();
        }
    }
}

/// Expects the communicator to work, with another object of this kind.
inline void expect_usable(const Communicator& communicator, const ObjectKind& kind) {
    communicator.barrier();
    const auto other = kind.make(communicator);
    other->call();
    EXPECT_EQ(communicator.all_gather(7),
              std::vector<int>(static_cast<std::size_t>(communicator.size()), 7));
}

/// An exception destroys the object of one rank between two calls, and is caught there.
inline void
a_rank_whose_object_an_exception_destroys_stops_the_others(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    int number = 0;
    for (const ObjectKind& kind : object_kinds()) {
        const int failed = number++ % communicator.size();
        SCOPED_TRACE(testing::Message() << kind.name << ", rank " << communicator.rank() << " of "
                                        << communicator.size());
        if (communicator.rank() == failed) {
            EXPECT_EQ(message_of<std::runtime_error>([&] {
                          const auto object = kind.make(communicator);
                          object->call();
                          object->call();
                          throw std::runtime_error("no memory for textures");
                      }),
                      "no memory for textures");
        } else {
            const auto object = kind.make(communicator);
            const std::string told = told_by_calls(*object, failed);
            EXPECT_THAT(told, testing::StartsWith("rank " + std::to_string(failed) +
                                                  ": an exception destroyed its "));
        }
        expect_usable(communicator, kind);
    }
}

/// A rank says why it fails; every rank gets the text.
inline void a_rank_that_fails_on_purpose_tells_all_ranks_why(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    int number = 1;
    for (const ObjectKind& kind : object_kinds()) {
        const int failed = number++ % communicator.size();
        SCOPED_TRACE(testing::Message() << kind.name << ", rank " << communicator.rank() << " of "
                                        << communicator.size());
        const auto object = kind.make(communicator);
        object->call();
        if (communicator.rank() == failed)
            object->fail("no memory for textures");
        EXPECT_EQ(told_by_calls(*object, failed),
                  "rank " + std::to_string(failed) + ": no memory for textures");
        expect_usable(communicator, kind);
    }
}

/// Calls that the failed rank has completed complete on the other ranks, also while ranks compare
/// their orders. `repeats`: of a race; over MPI few, because MPI keeps the communicator of each
/// object that failed, and MPICH has 2048.
inline void a_failure_does_not_affect_completed_calls(const Communicator& communicator,
                                                      int repeats) {
    const auto& kinds = object_kinds();
    const auto ordered = std::ranges::find(
        kinds, std::string("Compositor with another order in every frame"), &ObjectKind::name);
    for (int repeat = 0; repeat < repeats && communicator.size() > 1; ++repeat) {
        const auto object = ordered->make(communicator);
        EXPECT_NO_THROW(object->call());
        const int failed = repeat % communicator.size();
        if (communicator.rank() == failed)
            object->fail("ends after a frame");
        told_by_calls(*object, failed);
        communicator.barrier();
    }
    for (int repeat = 0; repeat < 20; ++repeat) {
        const int failed = repeat % communicator.size();
        Compositor compositor(communicator, small_shape, 1);
        const std::vector<RgbaF32> image(static_cast<std::size_t>(small_shape.elements()));
        for (int frame = 0; frame < 3; ++frame)
            EXPECT_NO_THROW(compositor.composite<RgbaF32>(image));
        if (communicator.rank() == failed)
            compositor.fail("ends after three frames");
        EXPECT_NO_THROW(communicator.barrier());
    }
}

inline void calls_in_swapped_order_are_named_on_every_rank(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    const bool swaps = communicator.rank() == communicator.size() - 1;
    const auto first = a_collective(communicator, CollectiveKind::all_gather),
               second = a_collective(communicator, CollectiveKind::all_to_all);
    first->call();
    second->call();
    const std::string told = message_of<InvalidTask>([&] {
        (swaps ? second : first)->call();
        (swaps ? first : second)->call();
    });
    EXPECT_THAT(told, testing::HasSubstr("ranks make collective calls in different orders: rank "));
    EXPECT_THAT(told, testing::HasSubstr(" waits in the Collective, all-gather"));
    EXPECT_THAT(told, testing::HasSubstr(" waits in the Collective, all-to-all"));
    communicator.barrier();
}

/// A compositor of images that MPI does not send before their receiver waits, and in which every
/// rank needs data of every other.
class WaitingCompositor {
  public:
    static constexpr ImageShape shape{512, 512};

    explicit WaitingCompositor(const Communicator& communicator)
        : compositor(communicator, shape, 1, options()) {}
    void call(const FrameOptions& frame = {}) { compositor.composite<RgbaF32>(image_, frame); }

    Compositor compositor;

  private:
    static CompositeOptions options() {
        CompositeOptions direct;
        direct.algorithm = "direct-send";
        return direct;
    }

    std::vector<RgbaF32> image_ = std::vector<RgbaF32>(static_cast<std::size_t>(shape.elements()),
                                                       RgbaF32{0.1f, 0.2f, 0.3f, 0.5f});
};

inline void frames_in_swapped_order_are_named_on_every_rank(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    const bool swaps = communicator.rank() == communicator.size() - 1;
    WaitingCompositor first(communicator), second(communicator);
    const std::string told = message_of<InvalidTask>([&] {
        (swaps ? second : first).call();
        (swaps ? first : second).call();
    });
    EXPECT_THAT(told, testing::HasSubstr("ranks make collective calls in different orders: rank "));
    EXPECT_THAT(told, testing::ContainsRegex("in the Compositor .* in the Compositor "));
    communicator.barrier();
}

/// While the others composite, which waits for it.
inline void
a_rank_that_changes_images_alone_is_named_on_every_rank(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    const int last = communicator.size() - 1;
    using Change = std::function<void(Compositor&)>;
    const Rectangle corner{0, 0, 1, 1};
    for (const Change& change : {Change([](Compositor& images) {
                                     images.resize({4, 4});
                                 }),
                                 Change([&](Compositor& images) {
                                     images.set_drawn({&corner, 1});
                                 })}) {
        WaitingCompositor object(communicator);
        object.call();
        const std::string told = message_of<InvalidTask>([&] {
            if (communicator.rank() == last)
                change(object.compositor);
            object.call();
        });
        EXPECT_THAT(told, testing::ContainsRegex("different orders: rank .* waits in a run of the "
                                                 "Compositor .*rank " +
                                                 std::to_string(last) + " waits in an"));
        communicator.barrier();
    }
}

/// All ranks tell each other the requests, and an exception destroys the compositor of each rank
/// once it has been told. Ranks that have not changed their request have begun the frame.
inline void ranks_that_request_different_frames_all_name_them(const Communicator& communicator,
                                                              bool all_change) {
    if (communicator.size() == 1)
        return;
    const int rank = communicator.rank(), last = communicator.size() - 1;
    const std::string told = message_of<std::exception>([&] {
        WaitingCompositor object(communicator);
        object.call();
        if (rank == last)
            object.call({.background = RgbaF32{1, 0, 0, 1}});
        else if (all_change)
            object.call({.background = RgbaF32{0, 0, 0, 1}});
        else
            object.call();
    });
    EXPECT_THAT(told, testing::StartsWith("ranks request different frames: rank 0: "));
    EXPECT_THAT(told, testing::HasSubstr("background 1,0,0,1"));
    communicator.barrier();
}

/// The last rank makes a Scan, the others an object of each other kind.
inline void
objects_made_in_swapped_order_are_named_on_every_rank(const Communicator& communicator) {
    if (communicator.size() == 1)
        return;
    const int last = communicator.size() - 1;
    const std::string scan = "Scan";
    const auto& kinds = object_kinds();
    const auto other = std::ranges::find(kinds, scan, &ObjectKind::name);
    for (const ObjectKind& kind : kinds) {
        if (kind.name == scan)
            continue;
        SCOPED_TRACE(kind.name);
        const std::string told = message_of<AgreedFailure>(
            [&] { (communicator.rank() == last ? *other : kind).make(communicator)->call(); });
        EXPECT_THAT(told, testing::StartsWith("ranks make collective calls in different orders: "
                                              "rank 0 makes a "));
        EXPECT_THAT(told, testing::EndsWith(", rank " + std::to_string(last) + " a Scan"));
        communicator.barrier();
    }
}

inline std::vector<GroupCase> failing_object_cases() {
    return {
        GROUP_CASE(a_rank_whose_object_an_exception_destroys_stops_the_others),
        GROUP_CASE(a_rank_that_fails_on_purpose_tells_all_ranks_why),
        GROUP_CASE(calls_in_swapped_order_are_named_on_every_rank),
        GROUP_CASE(frames_in_swapped_order_are_named_on_every_rank),
        GROUP_CASE(a_rank_that_changes_images_alone_is_named_on_every_rank),
        GROUP_CASE(objects_made_in_swapped_order_are_named_on_every_rank),
    };
}

} // namespace sextant::test
