// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositing/composite_task.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/memory.hpp"
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

/// The state and the steps of a Compositor. The functions of Compositor call those of the same name
/// in this class.
class CompositorRun {
  public:
    CompositorRun(Communicator communicator, ImageShape shape, int layers,
                  CompositeOptions options);

    Frame composite(std::span<const std::byte> images, const FrameOptions& frame);
    void start(std::span<const std::byte> images, Flight& flight, std::span<std::byte> picture,
               const FrameOptions& frame);
    bool ready(Flight& flight) { return flight.ready(execution()); }
    Frame wait(Flight& flight);
    void abandon(Flight& flight) { flight.abandon(execution()); }
    void fail(const std::string& text) { sextant::fail(communicator_, text); }

    /// `plan`: a plan for the new shape, the same on all ranks; if null, a plan is chosen.
    void resize(ImageShape shape, const planner::CompositingPlan* plan = nullptr);

    void set_drawn(std::span<const Rectangle> drawn);
    /// This rank's rectangles; empty without rectangles.
    std::vector<Rectangle> drawn() const;

    ImageShape shape() const { return shape_; }
    const planner::CompositingPlan& plan() const { return runner().plan; }
    std::optional<model::Prediction> prediction() const;
    bool racing() const { return race_.has_value(); }
    const std::vector<std::string>& warnings() const { return warnings_; }
    const compositing::Task& task() const { return task_; }
    const Operator& blend() const { return *operator_; }
    Elements pixel(const Frame& frame, Elements i) const;
    const Program& program() const { return execution().program(); }
    const Trace& trace() const { return execution().trace(); }
    const Sent& sent() const { return execution().sent(); }

  private:
    /// A seat: an execution for one position in the visibility order.
    struct Seated {
        std::vector<int> key; // identifies the seat (compositing::list_seat, list_images)
        compositing::Piece piece;
        Execution execution;
        int order;                     // value of orders_ when the peers were set
        std::uint64_t used;            // value of frames_ at the last use of the seat
        bool collects_outside = false; // the last frame was collected into the caller's memory
    };
    /// A plan and its executions, one per position that this rank has had.
    struct Runner {
        planner::CompositingPlan plan;
        std::vector<std::unique_ptr<Seated>> seats;
        Seated* seat = nullptr;
    };

    /// The plan for an earlier shape.
    struct KnownPlan {
        ImageShape shape;
        planner::CompositingPlan plan;
    };

    planner::CompositingPlan plan_for_shape();
    void keep_plan();
    /// The program of this rank, its piece, and a flag that allows encoded messages.
    struct Prepared {
        Program program;
        compositing::Piece piece;
        bool sparse = false;
        std::vector<Kernel> kernels;
    };

    bool is_by_image() const { return !options_.image_order.empty(); }
    planner::CompositingPlan for_image_orders(planner::CompositingPlan plan) const;
    void require_image_orders(const compositing::Configuration& configuration) const;
    Prepared prepared(const compositing::Configuration& configuration);
    void list_images();
    void blend_cell(const Computation& computation);
    bool reckon_interlacing() const;
    compositing::Tuning requested(bool interlaced) const;
    planner::CompositingPlan by_name(const std::vector<int>& nodes) const;
    planner::CompositingPlan decide();
    bool predicts() const;
    planner::CompositingPlan choose(const std::vector<int>& nodes,
                                    const planner::DefaultPlanner& usual);
    planner::Work work(const std::vector<int>& nodes) const;
    planner::DefaultPlanner planner_here(const std::vector<int>& nodes) const;
    void warn_of_shortage();
    planner::CompositingPlan received_plan(const planner::CompositingPlan& own) const;
    void enter_race(const planner::CompositingPlan& plan);
    void settle();
    void prepare(planner::CompositingPlan plan);
    void remember_order();
    void make_comparison();
    std::exception_ptr turn(const FrameOptions& frame);
    bool list_requests(const FrameOptions& frame);
    void take_order(const FrameOptions& frame);
    void check_order_kind(const FrameOptions& frame) const;
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
    ImageShape shape_;
    bool interlacing_pays_ = false; // true if interlacing is faster; the same on all ranks
    std::vector<std::string> warnings_;
    std::vector<int> nodes_;                         // node of each rank
    std::optional<planner::DefaultPlanner> planner_; // not set if nothing was predicted
    std::vector<KnownPlan> known_plans_;             // most recent last; the same on all ranks
    std::vector<Runner> runners_;                    // one runner; in a race, one per configuration
    std::size_t running_ = 0;
    std::optional<planner::Race> race_;
    int rank_ = 0, layers_ = 0;
    Memory finished_;              // the finished image, unless the result is returned in place
    std::span<std::byte> picture_; // the caller's memory for the image, if any

    std::shared_ptr<Workspace> workspace_;
    std::unique_ptr<Comparison> comparison_; // null if this rank need not compare options
    std::vector<int> layers_of_;             // number of images of each rank
    std::vector<int> first_order_;           // visibility order in `options_`
    std::vector<compositing::PlacedImage> images_,
        next_images_;                       // images front to back, with an image order
    std::vector<const std::byte*> sources_; // sources of a cell of DrawnImages
    std::vector<Rectangle>
        drawn_;                // rectangles of all ranks' images, by rank; empty without rectangles
    int orders_ = 0;           // number of visibility orders so far
    std::uint64_t frames_ = 0; // number of frames so far
    std::vector<int> peers_;   // peers in the current visibility order
    std::optional<RgbaF32> background_; // background of the current frame
    std::vector<int> asked_;            // options of the current frame, as numbers
    std::exception_ptr fault_;          // error in `asked_`, if any
    std::vector<int> next_asked_, next_order_, found_, key_; // scratch memory
};

} // namespace sextant
