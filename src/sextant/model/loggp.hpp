// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// LogGP as a case of the three paths: a side is busy for g + n G, of which the processor for o;
/// the path takes 2 o + L + n G. Work overlaps with messages but for o. Parameters are those of the
/// profile; else, of contiguous messages, g and o are the send of none, G the slope of the path,
/// and 2 o + L the path of none.
///
/// Source    Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995, doi:10.1145/215399.215427
Prediction loggp(const Question& question);

} // namespace sextant::model
