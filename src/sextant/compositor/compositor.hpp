// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/planner/planner.hpp"
#include "sextant/planner/race.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// How partial images are to be blended. Every rank gives the same.
struct CompositeOptions {
    std::string algorithm = "auto";       ///< predicted; or a name of compositing::catalogue()
    std::vector<int> radices;             ///< for radix-k; empty: its usual
    int window = 0;                       ///< rounds of messages open at once; 0: its usual
    std::string blend = "over";           ///< a name of kernel::catalogue(), or "deep"
    std::optional<ElementFormat> element; ///< of the pixels; none: the first that `blend` has
    int fragments = 0;                 ///< "deep": what a pixel has room for (kernel/fold/deep.hpp)
    std::vector<int> order;            ///< ranks front to back; empty: rank order
    std::optional<RgbaF32> background; ///< premultiplied; put behind the picture once
    int root = 0;                      ///< who gets the picture, or `distributed`
    Association association = Association::in_order;
    bool trace = false;
    int fold_threads = 1; ///< that share a rank's blending; pictures do not depend on it
    /// For `auto`: the profile to predict with (a file; docs/machine.md). Empty: the machine's own,
    /// or, where it has none, what a probe of it found; else a built-in one. Rank 0 decides for
    /// all.
    std::string machine = {};
    /// For that: `now` has this constructor measure a machine that has no profile, unless such
    /// ranks did before: once on a machine, for about a second.
    planner::Probing probing = planner::Probing::kept;
    /// A file of a plan: taken instead where it exists, at rank 0.
    std::string plan = {};
    /// For `auto`: about how many frames will be composited. Where they are many, the two or three
    /// ways that predictions cannot tell apart are raced on the first of them.
    int frames = 1;
    /// Whether messages leave out what was not drawn. The same bits come of it; pays where little
    /// was drawn and messages are moved, so not between threads.
    planner::Sparse sparse = planner::Sparse::automatic;
    /// For that: what part of an image something was drawn in, on average; the same on all ranks.
    /// kernel::sampled_density tells of an image.
    double density = 1;
    /// Whether rows of the picture are dealt to ranks in turn, so that all blend as much of what
    /// was drawn. `automatic`: of collected pictures, where messages leave out what was not drawn
    /// and `drawn` says that it pays. With `on` what stays distributed is in dealt order.
    planner::Interlace interlace = planner::Interlace::automatic;
    /// For that: what part of each of planner::drawn_bands bands of this rank's images something
    /// was drawn in (kernel::sampled_bands); each rank gives its own. Empty: unknown.
    std::vector<double> drawn = {};
    /// No race: the plan does not depend on what was measured, and every frame has its bracketing.
    bool reproducible = false;

    static constexpr int distributed = compositing::Task::distributed;
};

/// What may differ from frame to frame. Every rank that brings an image, and the root, gives the
/// same.
struct FrameOptions {
    std::span<const int> order = {};        ///< ranks front to back; empty: CompositeOptions'
    std::optional<RgbaF32> background = {}; ///< premultiplied; none: CompositeOptions'
};

/// The operator that options ask for. Throws InvalidTask.
Operator operator_of(const CompositeOptions& options);

/// What a rank holds after compositing: pixels `first` … `first + count` of the picture, row by
/// row; where it stays distributed and is interlaced, of the dealt order (Compositor::pixel). Valid
/// until the next frame, or until the compositor goes. Where one rank alone brings one image, and
/// there is no background, it is that image: the caller's own memory, not a copy.
struct Frame {
    Elements first = 0, count = 0;
    std::span<const std::byte> bytes;

    template <class Pixel>
    std::span<const Pixel> pixels() const {
        return {reinterpret_cast<const Pixel*>(bytes.data()), bytes.size() / sizeof(Pixel)};
    }
};

/// Blends the images that the ranks of a communicator hold into one: planned once, used frame after
/// frame, in any visibility order.
///
/// A schedule is made for a position in the order, when a rank first has that position, and kept:
/// nothing is planned again, and the ranks need not meet for it. When a rank is given another order
/// or background than for the frame before, it compares them with the other ranks before the frame
/// begins (comm/agreement.hpp): a few bytes to each of log2(ranks) others. A frame like the one
/// before costs nothing.
///
/// In a race (CompositeOptions::frames) all ranks change from way to way with the same frame. Each
/// such frame is as right as any, but may differ from the next in its last digits where colours are
/// bracketed otherwise, and, left distributed, in which piece lies where. It begins with a barrier;
/// all contestants' scratch is held until the race is over, and each allocates in its first two
/// turns.
class Compositor {
  public:
    /// Input     the shape of an image; how many images, front to back, this rank brings (0: none).
    /// Requires  the same shape and options on all ranks; an order that places every rank with
    ///           images. Whatever goes wrong on any rank, every rank throws AgreedFailure, which
    ///           names rank and value.
    /// Collective.
    Compositor(Communicator communicator, ImageShape shape, int layers,
               CompositeOptions options = {});

    /// Blends one frame.
    /// Input     this rank's images, one after another: layers * shape.elements() pixels of the
    ///           operator's format. Only read; must not change until this returns. Where nodes
    ///           share memory (share_nodes.hpp) images in `Communicator::memory` are not copied.
    /// Output    the picture at the root and nothing elsewhere, or everyone's piece.
    /// Throws    InvalidTask (another size than planned), and PeerFailed on the ranks that wait for
    ///           such a one; the next frame may be right again. CommunicationFailed.
    ///           AgreedFailure where ranks give different frame options, with two of them: on every
    ///           rank that brings an image, and the root. A rank whose options changed has not
    ///           begun the frame; a rank for which they are as before has, and where there is one
    ///           the communicator is of no further use.
    /// Collective.
    /// Cost      nothing is allocated once this rank has had each of its positions twice.
    Frame composite(std::span<const std::byte> images, const FrameOptions& frame = {});

    template <class Pixel>
    Frame composite(std::span<const Pixel> images, const FrameOptions& frame = {}) {
        return composite(std::as_bytes(images), frame);
    }

    /// The same in two parts, for whoever has several frames under way at once
    /// (frames_in_flight.hpp, tile_wall.hpp): each compositor then has a communicator and a frame
    /// of its own. Not in a race.
    /// Input     `picture`: where the root wants the picture (shape.elements() pixels, or none): it
    ///           is collected there, not copied. What is wrong with either is thrown by `wait`.
    void start(std::span<const std::byte> images, Flight& flight, std::span<std::byte> picture = {},
               const FrameOptions& frame = {});
    bool ready(Flight& flight) { return flight.ready(execution()); }
    Frame wait(Flight& flight);
    /// Execution::abandon.
    void abandon(Flight& flight) { flight.abandon(execution()); }

    /// What the last frame ran by, and why; what else was weighed is known to rank 0.
    const planner::Plan& plan() const { return runner().plan; }
    /// What a frame by this plan would take on the machine planned for, with what each rank would
    /// do when: at rank 0, where its profile has words for it. Collective.
    std::optional<model::Prediction> prediction() const;
    /// Whether the next frame may still be by another plan than the last. The same on all ranks.
    bool racing() const { return race_.has_value(); }
    /// What the user should know of the plan; at rank 0.
    const std::vector<std::string>& warnings() const { return warnings_; }
    /// In the order of the last frame.
    const compositing::Task& task() const { return task_; }
    const Operator& blend() const { return *operator_; }
    /// Which pixel of the picture a frame's pixel i is.
    Elements pixel(const Frame& frame, Elements i) const;
    const Program& program() const { return execution().program(); }
    /// This rank's part of the last frame's trace.
    const Trace& trace() const { return execution().trace(); }
    /// What this rank sent for the last frame.
    const Sent& sent() const { return execution().sent(); }

  private:
    /// One seat in the visibility order, ready to run.
    struct Seated {
        std::vector<int> key; // compositing::list_seat
        compositing::Piece piece;
        Execution execution;
        int order;                     // whose peers it has: orders_ then
        std::uint64_t used;            // when it was last wanted
        bool collects_outside = false; // the picture was last collected into the caller's memory
    };
    /// A plan, ready to run in some seats.
    struct Runner {
        planner::Plan plan;
        std::vector<std::unique_ptr<Seated>> seats;
        Seated* seat = nullptr;
    };

    bool reckon_interlacing() const;
    compositing::Tuning asked(bool interlaced) const;
    planner::Plan by_name(const std::vector<int>& nodes) const;
    planner::Plan decide();
    bool predicts() const;
    planner::Plan choose(const std::vector<int>& nodes, const planner::UsualPlanner& usual);
    planner::Work work(const std::vector<int>& nodes) const;
    planner::UsualPlanner planner_here(const std::vector<int>& nodes) const;
    void warn_of_shortage();
    planner::Plan told(const planner::Plan& own) const;
    void enter_race(const planner::Plan& plan);
    void settle();
    void prepare(planner::Plan plan);
    void remember_order();
    void make_comparison();
    std::exception_ptr turn(const FrameOptions& frame);
    bool list_asked(const FrameOptions& frame);
    void take_order(std::span<const int> order);
    void take_seat(Runner& runner);
    Seated& seat_for(Runner& runner);
    void drop_seats(Runner& runner);
    Runner& runner() { return runners_[running_]; }
    const Runner& runner() const { return runners_[running_]; }
    Execution& execution() { return runner().seat->execution; }
    const Execution& execution() const { return runner().seat->execution; }
    Frame run(std::span<const std::byte> images, std::exception_ptr fault);
    void bind(std::span<const std::byte> images, std::span<std::byte> picture);
    void check_size(std::span<const std::byte> images) const;
    void place_picture(std::span<std::byte> picture);
    std::span<std::byte> room_for(Elements pixels);
    Frame finish(std::span<const std::byte> result);

    Communicator communicator_;
    CompositeOptions options_;
    std::optional<Operator> operator_;
    compositing::Task task_;
    Elements row_ = 0;
    bool interlacing_pays_ = false; // the same on all ranks
    std::vector<std::string> warnings_;
    std::vector<Runner> runners_; // one; in a race, the contestants
    std::size_t running_ = 0;
    std::optional<planner::Race> race_;
    int rank_ = 0, layers_ = 0;
    Memory finished_; // the picture with its background, an empty one, or a collected one
    std::span<std::byte> picture_; // where the caller wants it, if he has said so

    std::shared_ptr<Workspace> workspace_;
    std::unique_ptr<Comparison> comparison_;                 // none where no two ranks could differ
    std::vector<int> layers_of_;                             // by rank
    std::vector<int> first_order_;                           // of the options
    int orders_ = 0;                                         // that there were so far
    std::uint64_t frames_ = 0;                               // likewise
    std::vector<int> peers_;                                 // of the order at hand
    std::optional<RgbaF32> background_;                      // of the frame at hand
    std::vector<int> asked_;                                 // of the ranks, for the frame at hand
    std::exception_ptr fault_;                               // what is wrong with that
    std::vector<int> next_asked_, next_order_, found_, key_; // room for what is worked out
};

/// Blends one frame and copies the picture out: at rank `options.root` the whole image, elsewhere
/// an empty one. For more than one frame keep a Compositor.
/// Requires  options.root to be a rank, not `distributed`: a piece is no image (InvalidTask).
/// Collective.
Image composite(const Image& image, const Communicator& communicator,
                const CompositeOptions& options = {});

} // namespace sextant
