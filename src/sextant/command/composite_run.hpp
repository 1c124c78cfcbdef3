// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/composite.hpp"
#include "sextant/command/composite_inputs.hpp"
#include "sextant/command/composite_report.hpp"
#include "sextant/command/trace_clocks.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/core/progress.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// One rank's run of `sextant composite`. All ranks agree on the result of each phase, so that a
/// failure on any rank ends all ranks with the same message. Parameters are checked before any
/// input is read. If the run is traced or reported, the frame is composited twice, and the second
/// time is traced: the first time includes page faults, which predictions exclude.
class CompositeRun {
  public:
    /// `inputs`: the images if this process has already found them, else null.
    CompositeRun(const CompositeCommand& command, const Call& call, Communicator communicator,
                 std::shared_ptr<const Inputs> inputs);

    /// Collective.
    void run();

  private:
    void phase(const char* name, const std::function<void()>& part);
    bool is_root() const { return communicator_.rank() == 0; }

    void check();
    void check_against_plan() const;
    std::vector<std::string> outputs() const;
    void check_inputs_kept() const;
    void offer_sharing();
    void read();
    void gather_warnings();
    void take_density();
    double density() const;
    void plan();
    void make_compositor(const Communicator& communicator);
    void weigh_sharing();
    void blend();
    const Compositor& compositor() const { return deep_ ? deep_->compositor() : *flat_; }
    const ElementFormat& picture_element() const;
    void gather_events();
    void write();
    void report();
    void fill_summary();

    const CompositeCommand& command_;
    const Call& call_;
    const Communicator communicator_;
    std::optional<Communicator> shared_; // set if ranks can share memory within nodes
    Progress progress_;
    std::shared_ptr<const Inputs> inputs_;
    CompositeOptions options_;
    std::optional<TraceClocks> clocks_; ///< set if the run is traced
    NodeSharingChoice sharing_;
    int layers_ = 0, fragments_ = 0;
    Memory images_;
    std::vector<DeepImage> deep_images_; // used instead of images_ if the images are deep
    std::vector<Oddity> oddities_;
    std::optional<Compositor> flat_; // empty if the images are deep; deep_ is then used
    std::optional<DeepCompositor> deep_;
    Frame frame_;
    Image picture_;
    CompositeSummary summary_;
    bool saves_plan_ = false, raced_ = false;
};

} // namespace sextant::command
