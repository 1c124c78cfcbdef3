// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include <pybind11/pybind11.h>

namespace sextant::python {

/// A keyword argument has an unknown name or a value of the wrong type.
class InvalidKeyword : public InvalidTask {
  public:
    using InvalidTask::InvalidTask;
};

/// A value of the wrong type was passed.
class WrongType : public InvalidTask {
  public:
    using InvalidTask::InvalidTask;
};

/// Translates Sextant's exceptions to those of sextant/errors.py, with the same text.
void translate_exceptions();

} // namespace sextant::python
