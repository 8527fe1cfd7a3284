// expect: read
// The same loop and branch as MLIR prints them in generic form, with names for types and locations.
!t = !cuda_tile.tile<i32>
"builtin.module"() ({
  "cuda_tile.module"() <{sym_name = "kernels"}> ({
    "cuda_tile.global"() <{alignment = 16 : i64, sym_name = "table", value = dense<[3, 5]> : !cuda_tile.tile<2xi32>}> : () -> ()
    "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<ptr<i32>>) -> (), sym_name = "sum"}> ({
    ^bb0(%out: !cuda_tile.tile<ptr<i32>>):
      %zero = "cuda_tile.constant"() <{value = dense<0> : !t}> : () -> !t
      %one = "cuda_tile.constant"() <{value = dense<1> : !t}> : () -> !t
      %two = "cuda_tile.constant"() <{value = dense<2> : !t}> : () -> !t
      %g = "cuda_tile.get_global"() <{name = @table}> : () -> !cuda_tile.tile<ptr<i32>>
      %total = "cuda_tile.for"(%zero, %two, %one, %zero) ({
      ^bb0(%i: !t, %acc: !t):
        %p = "cuda_tile.offset"(%g, %i) : (!cuda_tile.tile<ptr<i32>>, !t) -> !cuda_tile.tile<ptr<i32>>
        %v:2 = "cuda_tile.load_ptr_tko"(%p) <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (!cuda_tile.tile<ptr<i32>>) -> (!t, !cuda_tile.token) loc(#line)
        %next = "cuda_tile.addi"(%acc, %v#0) <{overflow = #cuda_tile.overflow<none>}> : (!t, !t) -> !t
        "cuda_tile.continue"(%next) : (!t) -> ()
      }) : (!t, !t, !t, !t) -> !t
      %big = "cuda_tile.cmpi"(%total, %two) <{comparison_predicate = #cuda_tile.comparison_predicate<greater_than>, signedness = #cuda_tile.signedness<signed>}> : (!t, !t) -> !cuda_tile.tile<i1>
      "cuda_tile.if"(%big) ({
        %s = "cuda_tile.store_ptr_tko"(%out, %total) <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!cuda_tile.tile<ptr<i32>>, !t) -> !cuda_tile.token
        "cuda_tile.yield"() : () -> ()
      }, {
      }) : (!cuda_tile.tile<i1>) -> ()
      "cuda_tile.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
#line = loc("sum.py":4:11)
