// RUN: the command lines of MLIR's tests are comments
// expect: read
// An entry without return, prefixes on some operations, types and attributes.
cuda_tile.module @kernels attributes {producer = "hand"} {
  // CHECK-LABEL: @twice
  cuda_tile.entry @twice(%x: !cuda_tile.tile<ptr<i32>>, %n: !cuda_tile.tile<i32>) {
    %tok = make_token : !cuda_tile.token
    %i = cuda_tile.iota : tile<128xi32>
    %a = assume #cuda_tile.div_by<4>, %x : tile<ptr<i32>>
    %r = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
    %b = cuda_tile.broadcast %r : tile<1xptr<i32>> -> !cuda_tile.tile<128x!cuda_tile.ptr<i32>>
    %p = offset %b, %i : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %nb = broadcast %n1 : tile<1xi32> -> tile<128xi32>
    %m = cmpi less_than %i, %nb, unsigned : tile<128xi32> -> tile<128xi1>
    %v:2 = load_ptr_tko weak %p, %m token=%tok : tile<128xptr<i32>>, tile<128xi1> -> tile<128xi32>, token
    %s = cuda_tile.addi %v, %v#0 : !cuda_tile.tile<128xi32>
    %u = store_ptr_tko weak %p, %s, %m token=%v#1 : tile<128xptr<i32>>, tile<128xi32>, tile<128xi1> -> token
  }
}
