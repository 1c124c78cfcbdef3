// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/checkpoint.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/command/transforms.hpp"
#include "sextant/command/work_log.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/registration/refinement.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters that name reports; "-" is standard output.
inline constexpr std::array report_names = {"report", "json"};

/// Parameters and results of a registration.
struct RegisterSummary {
    SeriesTransforms transforms;
    std::string output, transport;
    int ranks = 1, team = 1; ///< and threads of each
    std::size_t resumed = 0; ///< results taken from an earlier run
    Seconds look = 0, registered = 0, stages = 0, combine = 0, write = 0;
    std::vector<std::string> files, warnings;

    /// Further data that a page shows.
    struct Shown {
        std::int64_t registered = 0;          ///< number of frames
        registration::Combined before, after; ///< the frames as recorded, and registered
        GatheredWork work;
    };
    std::optional<Shown> shown;
};

std::string to_text(const RegisterSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const RegisterSummary& summary);
/// A self-contained HTML page. Requires `summary.shown`.
std::string to_page(const RegisterSummary& summary);

/// One rank's run of `sextant register`. All ranks agree on the result of each part, so that a
/// failure on any ends all with the same message. The output files appear together at the end;
/// until then results are kept in the checkpoint.
class RegisterRun {
  public:
    /// Uses `threads` threads on this rank.
    RegisterRun(const Values& values, Communicator communicator, int threads);

    /// Collective.
    void run();

  private:
    using Places = std::vector<registration::FramePlace>;

    bool tells() const { return communicator_.rank() == 0; }
    bool nonrigid() const { return summary_.transforms.model == "nonrigid"; }
    std::string path_of(const std::string& name) const;
    void open();
    void check_folder() const;
    void check_reports() const;
    std::vector<std::string> results() const;
    void check_memory() const;
    void check_disk() const;
    void open_checkpoint(const registration::SeriesLook& look);
    Checkpoint::Identity identity_of(const registration::SeriesLook& look) const;
    void require_two(std::size_t fit, const Places& mine) const;
    void register_first(registration::SeriesLook look);
    void refine(std::uint32_t stage);
    registration::TransformOf transform_of(std::uint32_t stage);
    void gather_places();
    void gather_shown(const registration::Combined& combined);
    void write(const registration::Combined& combined);
    /// With an offset to be added, or 0.
    std::unique_ptr<FrameSink> sink(const std::string& name, std::int64_t frames, double offset,
                                    Seconds interval = 0);
    std::unique_ptr<FrameSink> image(const std::string& name, const std::vector<float>& pixels,
                                     const std::vector<float>& count);
    std::unique_ptr<FrameSink> count_of(const registration::Combined& combined);
    std::unique_ptr<FrameSink> aligned();
    std::unique_ptr<FrameSink> fields();
    void report();

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    RegisterSummary summary_;
    std::unique_ptr<FrameSource> source_;
    std::unique_ptr<Checkpoint> checkpoint_;
    std::unique_ptr<WorkLog> log_;      ///< of the checkpoint
    std::optional<TraceClocks> clocks_; ///< if a page shows it
    registration::SeriesOptions options_;
    registration::StageOptions stage_options_;
    registration::SeriesHooks hooks_;
    Places mine_; ///< this rank's
    registration::Registered registered_;
    std::uint32_t stages_ = 1;
};

} // namespace sextant::command
