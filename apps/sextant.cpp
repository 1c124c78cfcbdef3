// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"

int main(int argc, char** argv) {
    return sextant::command::main_of(sextant::command::catalogue(), argc, argv);
}
