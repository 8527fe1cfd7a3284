"""Products in NVIDIA's CuTe DSL, by one block or by pairs of blocks (cta_group::2), with multicast of their operands by TMA.

    kernel = Product(cutlass.Float16, cutlass.Float32, tile=(256, 128), cluster=(2, 1), stages=3)
    cute.compile(kernel, a, b, c)        # M × K × 1, N × K × 1, M × N × 1

The first warp loads and multiplies; then all four take the sums out of tensor memory.
"""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.blackwell_helpers as blackwell
from cutlass.cute.nvgpu import cpasync, tcgen05

THREADS = 128
ROW_BYTES = 128  # of K in a stage


class Product:
    def __init__(self, operand, total, tile, cluster, stages):
        self.operand, self.total = operand, total
        self.pair = cluster[0] % 2 == 0 and tile[0] in (128, 256)
        self.tile = (*tile, 8 * ROW_BYTES // operand.width)
        self.cluster, self.stages = cluster, stages

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        majors = [utils.LayoutEnum.from_tensor(x).mma_major_mode() for x in (a, b)]
        group = tcgen05.CtaGroup.TWO if self.pair else tcgen05.CtaGroup.ONE
        mma = blackwell.make_trivial_tiled_mma(self.operand, *majors, self.total, group, self.tile[:2])
        blocks = cute.tiled_divide(cute.make_layout((*self.cluster, 1)), (mma.thr_id.shape,))
        a_stages = blackwell.make_smem_layout_a(mma, self.tile, self.operand, self.stages)
        b_stages = blackwell.make_smem_layout_b(mma, self.tile, self.operand, self.stages)
        a_stage, b_stage = (cute.slice_(x, (None, None, None, 0)) for x in (a_stages, b_stages))
        a_op = blackwell.cluster_shape_to_tma_atom_A(self.cluster, mma.thr_id)
        a_load, a_view = cute.nvgpu.make_tiled_tma_atom_A(a_op, a, a_stage, self.tile, mma, blocks.shape)
        b_op = blackwell.cluster_shape_to_tma_atom_B(self.cluster, mma.thr_id)
        b_load, b_view = cute.nvgpu.make_tiled_tma_atom_B(b_op, b, b_stage, self.tile, mma, blocks.shape)
        members = 2 if self.pair else 1
        bytes_ = (cute.size_in_bytes(self.operand, a_stage) + cute.size_in_bytes(self.operand, b_stage)) * members
        grid = cute.round_up(cute.ceil_div((*c.layout.shape[:2], 1), (self.tile[0] // members, self.tile[1], 1)), (*self.cluster, 1))
        self.kernel(mma, a_load, a_view, b_load, b_view, c, blocks, a_stages, b_stages, bytes_).launch(
            grid=grid, block=[THREADS, 1, 1], cluster=(*self.cluster, 1))

    @cute.kernel
    def kernel(self, mma: cute.TiledMma, a_load: cute.CopyAtom, a: cute.Tensor, b_load: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor,
               blocks: cute.Layout, a_stages: cute.ComposedLayout, b_stages: cute.ComposedLayout, bytes_: cutlass.Constexpr):
        members = cute.size(mma.thr_id.shape)
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        thread, _, _ = cute.arch.thread_idx()
        x, y, _ = cute.arch.block_idx()
        member = x % members
        leads = member == 0
        place = blocks.get_flat_coord(cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster()))

        @cute.struct
        class Storage:
            stages: cute.struct.MemRange[cutlass.Int64, self.stages * 2]
            sums: cute.struct.MemRange[cutlass.Int64, 2]
            dealloc: cutlass.Int64
            address: cutlass.Int32

        smem = utils.SmemAllocator()
        storage = smem.allocate(Storage)
        arrivals = cute.size(blocks.shape[1]) + cute.size(blocks.shape[2]) - 1
        one = pipeline.CooperativeGroup(pipeline.Agent.Thread)
        producer, consumer = pipeline.PipelineTmaUmma.create(
            barrier_storage=storage.stages.data_ptr(), num_stages=self.stages, producer_group=one,
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, arrivals), tx_count=bytes_, cta_layout_vmnk=blocks).make_participants()
        sums_producer, sums_consumer = pipeline.PipelineUmmaAsync.create(
            barrier_storage=storage.sums.data_ptr(), num_stages=1, producer_group=one,
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, members * THREADS), cta_layout_vmnk=blocks).make_participants()
        memory = utils.TmemAllocator(
            storage.address.ptr, barrier_for_retrieve=pipeline.NamedBarrier(barrier_id=1, num_threads=THREADS), is_two_cta=self.pair,
            two_cta_tmem_dealloc_mbar_ptr=storage.dealloc.ptr)
        a_shared = smem.allocate_tensor(element_type=self.operand, layout=a_stages.outer, byte_alignment=1024, swizzle=a_stages.inner)
        b_shared = smem.allocate_tensor(element_type=self.operand, layout=b_stages.outer, byte_alignment=1024, swizzle=b_stages.inner)

        part = mma.get_slice(member)
        tile = (x // members, y, None, 0)
        a_tiles = part.partition_A(cute.local_tile(a, cute.slice_(self.tile, (None, 0, None)), (tile[0], None, 0)))
        b_tiles = part.partition_B(cute.local_tile(b, cute.slice_(self.tile, (0, None, None)), (tile[1], None, 0)))
        c_tile = part.partition_C(cute.local_tile(c, cute.slice_(self.tile, (None, None, 0)), (tile[0], tile[1], 0)))
        a_to, a_from = cpasync.tma_partition(a_load, place[2], cute.make_layout(cute.size(blocks, mode=[2])),
                                             cute.group_modes(a_shared, 0, 3), cute.group_modes(a_tiles, 0, 3))
        b_to, b_from = cpasync.tma_partition(b_load, place[1], cute.make_layout(cute.size(blocks, mode=[1])),
                                             cute.group_modes(b_shared, 0, 3), cute.group_modes(b_tiles, 0, 3))
        a_mask = b_mask = None
        if cutlass.const_expr(self.cluster != (1, 1)):
            a_mask = cpasync.create_tma_multicast_mask(blocks, place, mcast_mode=2)
            b_mask = cpasync.create_tma_multicast_mask(blocks, place, mcast_mode=1)
        a_operand, b_operand = mma.make_fragment_A(a_shared), mma.make_fragment_B(b_shared)
        sums_layout = mma.make_fragment_C(mma.partition_shape_C(self.tile[:2])).layout

        memory.allocate(512)
        memory.wait_for_alloc()
        pointer = memory.retrieve_ptr(self.total)
        sums = cute.make_tensor(pointer, sums_layout)
        if warp == 0:
            if leads:
                sums_producer.acquire_and_advance()
            for _ in cutlass.range(cute.size(a_from, mode=[1]), prefetch_stages=self.stages - 1):
                empty = producer.acquire_and_advance()
                cute.copy(a_load, a_from[(None, empty.count)], a_to[(None, empty.index)], tma_bar_ptr=empty.barrier, mcast_mask=a_mask)
                cute.copy(b_load, b_from[(None, empty.count)], b_to[(None, empty.index)], tma_bar_ptr=empty.barrier, mcast_mask=b_mask)
                if leads:
                    full = consumer.wait_and_advance()
                    for k in cutlass.range_constexpr(cute.size(a_operand, mode=[2])):
                        at = (None, None, k, full.index)
                        cute.gemm(mma, sums, a_operand[at], b_operand[at], sums)
                        mma.set(tcgen05.Field.ACCUMULATE, True)
                    full.release()
            if leads:
                sums_producer.commit()
        memory.relinquish_alloc_permit()
        ready = sums_consumer.wait_and_advance()
        self.store(thread, sums, c_tile)
        ready.release()
        if warp == 0:
            producer.tail()
            if leads:
                sums_producer.tail()
        pipeline.sync(barrier_id=1)
        memory.free(pointer)

    @cute.jit
    def store(self, thread: cutlass.Int32, sums: cute.Tensor, c_tile: cute.Tensor):
        members = 2 if self.pair else 1
        block_tile = (self.tile[0] // members, *self.tile[1:])
        epilogue = blackwell.compute_epilogue_tile_shape(block_tile, self.pair, utils.LayoutEnum.ROW_MAJOR, self.total)
        load = blackwell.get_tmem_load_op(block_tile, utils.LayoutEnum.ROW_MAJOR, self.total, self.total, epilogue, self.pair)
        pieces = cute.flat_divide(sums[((None, None), 0, 0)], epilogue)
        copy = tcgen05.make_tmem_copy(load, pieces[(None, None, 0, 0)]).get_slice(thread)
        tiled = tcgen05.make_tmem_copy(load, pieces[(None, None, 0, 0)])
        source = copy.partition_S(pieces)
        target = copy.partition_D(cute.flat_divide(c_tile[((None, None), 0, 0)], epilogue))
        source = cute.group_modes(source, 3, cute.rank(source))
        target = cute.group_modes(target, 3, cute.rank(target))
        registers = cute.make_rmem_tensor(target[(None, None, None, 0)].shape, self.total)
        for i in cutlass.range(cute.size(source, mode=[3])):
            cute.copy(tiled, source[(None, None, None, i)], registers)
            cute.autovec_copy(registers, target[(None, None, None, i)])
