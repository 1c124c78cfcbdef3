// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/choose.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace sextant::planner {

/// What a cost model says of candidates in a setting. All throw model::CannotExpress.
class Predictor {
  public:
    /// Keep the setting alive.
    explicit Predictor(const Setting& setting) : setting_(setting) {}

    /// The model that the setting asks for; else the richest that has words for what a rank does.
    /// To be called first; `what` for the error.
    void find_model(const Program& program, int rank, std::string_view what);
    bool has_model() const { return model_ != nullptr; }
    std::string_view model() const { return model_->name; }

    /// What a rank needs if nobody keeps it waiting.
    struct Single {
        Seconds bound = 0;    ///< in any case (model::least_time)
        Seconds expected = 0; ///< among peers that have all that they send from the start
    };
    Single single(Program program, int rank) const {
        return single(*model_, std::move(program), rank);
    }

    /// What all ranks take, with what passes before.
    model::Prediction whole(const Candidate& candidate) const;

  private:
    model::Question question(const Schedule& schedule, std::span<const int> nodes) const;
    Seconds seconds(const model::Model& model, Program program, int rank, bool least) const;
    Single single(const model::Model& model, Program program, int rank) const;

    const Setting& setting_;
    const model::Model* model_ = nullptr;
};

} // namespace sextant::planner
