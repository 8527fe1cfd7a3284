// expect: text.renamed, text.test_function
// A file of several programs, as tests of MLIR have them; functions that are no kernels are checked.
// Their parameters may be of any type.
#loc = loc("first.py":1:1)
cuda_tile.module @first {
  entry @k(%x: tile<f32>) {
    %y = negf %x : tile<f32> loc(#loc)
  }
}

// -----

#loc = loc("second.py":2:2)
cuda_tile.module @second {
  entry @k(%x: tile<f32>) {
    %y = negf %x : tile<f32> loc(#loc)
  }
  testing$func @rows(%x: tile<4x8xf32>) -> tile<4xf32> {
    %y = reduce %x dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
    (%e: tile<f32>, %acc: tile<f32>) {
      %s = addf %e, %acc : tile<f32>
      yield %s : tile<f32>
    }
    return %y : tile<4xf32>
  }
  testing$func @types(%p: !cuda_tile.ptr<i1>, %t: !cuda_tile.token, %v: !cuda_tile.tensor_view<f32>) {
    return
  }
}
