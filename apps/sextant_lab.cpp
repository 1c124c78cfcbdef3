// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"
#include "sextant/lab/catalogue.hpp"

int main(int argc, char** argv) {
    return sextant::command::main_of(sextant::lab::catalogue(), argc, argv);
}
