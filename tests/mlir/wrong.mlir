// expect: absf.c5 text.operand_types text.unknown_op text.syntax
// What breaks a rule is refused where it stands, and what follows is read.
cuda_tile.module @a {
  testing$func @f(%x: tile<4xi32>) {
    %y = absf %x : tile<4xi32>
  }
}

// -----

cuda_tile.module @b {
  entry @g(%x: !cuda_tile.tile<f32>) {
    %y = cuda_tile.negf %x : !cuda_tile.tile<f16>
    %z = cuda_tile.softmax %x : !cuda_tile.tile<f32>
  }
  entry @h(%x: tensor<4xf32>) {
  }
}
