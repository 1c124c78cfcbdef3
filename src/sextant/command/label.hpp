// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/merging_report.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/kernel/label/strip_seams.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters and results of a run of `sextant label`.
struct LabelSummary {
    std::string image, output, element, transport;
    Grid grid; ///< of the first strip
    ImageShape shape;
    kernel::Connection connection;
    Elements components = 0;
    Elements strips = 1;
    int ranks = 1;
    distributed::MergingPlan plan;
    Seconds read = 0, label = 0, write = 0;
    GatheredMerging merging;        ///< of the first strip, if a page shows it
    std::vector<std::byte> picture; ///< a PNG file, if a page shows it
    std::vector<std::string> warnings;
};

std::string to_text(const LabelSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const LabelSummary& summary);
/// A self-contained HTML page: the image with coloured components, the plan and its reason, a
/// timeline of the merging.
std::string to_page(const LabelSummary& summary);

/// One rank's run of `sextant label`: strip after strip of rows, each in tiles over all ranks. Rank
/// 0 joins components at the seams and writes. An image that fits in memory is one strip; others
/// are labelled twice, because components are complete only after the last strip.
class LabelRun {
  public:
    LabelRun(const Values& values, Communicator communicator);

    /// Collective.
    void run();

  private:
    bool tells() const { return communicator_.rank() == 0; }
    void open();
    void create_sink();
    Elements rows_of_strips() const;
    struct Strip {
        Elements first; ///< its first row in the image
        distributed::Image image;
        Labelled labelled;
    };
    Strip label_strip(Elements first);
    Labelled label(const distributed::Image& image);
    void label_strips(const char* what, const std::function<void(const Strip&)>& take);
    void join(const Strip& strip);
    void measure(const Strip& strip);
    void number();
    void write(const Strip& strip);
    void write_table();
    void report();

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<FrameSink> sink_;
    std::optional<LabelOverview> shown_; // if a page shows it
    LabelSummary summary_;
    kernel::StripSeams seams_;
    std::vector<kernel::Component> measured_; // for the table: by strip, then of the image
};

} // namespace sextant::command
