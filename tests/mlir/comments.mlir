// expect: text.empty
// RUN: some-tool %S/other.tileirbc | FileCheck %s
// CHECK: cuda_tile.module @kernels
