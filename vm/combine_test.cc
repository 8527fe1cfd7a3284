// Additions that are combined before memory give what single ones give. --check=full never combines, so it is the
// comparison: random lanes, masks, places and widths; lanes that are outside; what reads the sums right afterwards.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

constexpr int64_t kTile = 512, kBlocks = 200;  // a thread takes several blocks at a time

struct Input {
  std::vector<int32_t> indices;  // kTile of each block
  std::vector<uint64_t> bins;    // as i32 or i64
  uint64_t offset = 0;           // of the pointer into bins, in bytes
  uint64_t bin_bytes = 0;        // how many belong to the buffer; 0: all
};

struct Result {
  std::vector<uint64_t> bins;
  std::vector<std::string> reports;
};

// Runs kernel @k(%index, %bins).
Result RunWith(const std::string& text, CheckLevel check, int threads, Input in) {
  Result r;
  ir::Diagnostics d;
  auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString() << text;
  if (!d.ok()) return r;
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Launch launch;
  launch.grid[0] = kBlocks;
  launch.threads = threads;
  launch.check = check;
  const auto bins = reinterpret_cast<uintptr_t>(in.bins.data());
  launch.params = {reinterpret_cast<uintptr_t>(in.indices.data()), bins + in.offset};
  launch.buffers = {
      {"index", in.indices.data(), in.indices.size() * 4, ir::Element{ir::Elem::kI32}, {}},
      {"bins", in.bins.data(), in.bin_bytes != 0 ? in.bin_bytes : in.bins.size() * 8, ir::Element{ir::Elem::kI32}, {}}};
  const Outcome o = (*program)->Run(launch);
  EXPECT_TRUE(o.status.ok()) << o.status;
  // Up to what depends on where memory lies.
  for (const Report& report : o.reports) {
    const std::string message = report.message.substr(0, report.message.find(" at "));
    r.reports.push_back(absl::StrCat(report.where, " ", report.code, " ", report.block[0], " ",
                                     message.substr(0, message.find(" address"))));
  }
  r.bins = std::move(in.bins);
  return r;
}

Input Random(uint32_t seed, int bins, int lowest = 0) {
  std::mt19937 random(seed);
  Input in;
  for (int64_t i = 0; i < kTile * kBlocks; ++i) {
    // Sometimes all in one.
    in.indices.push_back(seed % 4 == 0 ? 1 : lowest + static_cast<int>(random() % static_cast<uint32_t>(bins)));
  }
  for (int i = 0; i < 32768; ++i) in.bins.push_back(random() * 0x9E3779B97F4A7C15u);
  return in;
}

void ExpectSame(const std::string& text, const Input& in) {
  const Result alone = RunWith(text, CheckLevel::kFull, 1, in);
  EXPECT_TRUE(alone.reports.empty()) << alone.reports[0];
  EXPECT_TRUE(alone.bins != in.bins) << "adds nothing\n" << text;
  for (int threads : {1, 3}) {
    for (CheckLevel check : {CheckLevel::kBounds, CheckLevel::kNone})
      EXPECT_TRUE(RunWith(text, check, threads, in).bins == alone.bins) << text;
  }
}

// The tile of indices %at of the block, the mask %even, the values %v: tile<TILExT>.
constexpr char kBegin[] = R"(entry @k(%index: tile<ptr<i32>>, %bins: tile<ptr<T>>) {
  %i, %j, %k = get_tile_block_id
  %it = make_tensor_view %index, shape = [102400], strides = [1] : tensor_view<102400xi32, strides=[1]>
  %iv = make_partition_view %it : partition_view<tile=(512), tensor_view<102400xi32, strides=[1]>>
  %at, %t1 = load_view_tko weak %iv[%i] : partition_view<tile=(512), tensor_view<102400xi32, strides=[1]>>, tile<i32> -> tile<512xi32>, token
  %lane = iota : tile<512xT>
  %one = constant <i32: 1> : tile<512xi32>
  %low = andi %at, %one : tile<512xi32>
  %even = cmpi equal %low, %one, signed : tile<512xi32> -> tile<512xi1>
  %hot = constant <T: 2147483646> : tile<512xT>
  %p1 = reshape %bins : tile<ptr<T>> -> tile<1xptr<T>>
  %p2 = broadcast %p1 : tile<1xptr<T>> -> tile<512xptr<T>>
  %p = offset %p2, %at : tile<512xptr<T>>, tile<512xi32> -> tile<512xptr<T>>
)";

std::string Kernel(const std::string& body, const std::string& type) {
  return absl::StrReplaceAll(absl::StrCat(kBegin, body, "  return\n}\n"),
                             {{"xT", absl::StrCat("x", type)}, {"<T", absl::StrCat("<", type)}});
}

constexpr char kAdd[] =
    "  %old, %t = atomic_rmw_tko relaxed device %p, add, VALUE MASK : tile<512xptr<T>>, tile<512xT> MASKTYPE -> tile<512xT>, token\n";

std::string Add(const std::string& value, bool mask) {
  return absl::StrReplaceAll(
      kAdd, {{"VALUE", value}, {" MASK ", mask ? ", %even " : " "}, {" MASKTYPE", mask ? ", tile<512xi1>" : ""}});
}

TEST(Combine, Pointers) {
  uint32_t seed = 0;
  for (const char* type : {"i32", "i64"}) {
    for (const char* value : {"%lane", "%hot"}) {
      for (bool mask : {false, true}) {
        const std::string text = Kernel(Add(value, mask), type);
        // Few, as many as lanes, more than lanes: a table in copies, one table, none.
        for (int bins : {2, 256, 700, 4000}) {
          Input in = Random(++seed, bins);
          ExpectSame(text, in);
          // A small buffer is a place as a whole.
          in.bin_bytes = static_cast<uint64_t>(bins) * 8;
          ExpectSame(text, in);
          // Negative indices; bins that begin in the middle of an i64.
          in = Random(++seed, bins, -300);
          in.offset = type[1] == '3' ? 4804 : 4800;
          ExpectSame(text, in);
        }
      }
    }
  }
}

// What the block reads after the addition, it sees, though others are still to come. Each block has bins of its own.
constexpr char kReads[] = R"(
  %size = constant <i32: 64> : tile<i32>
  %shift = muli %i, %size : tile<i32>
  %own1 = offset %bins, %shift : tile<ptr<T>>, tile<i32> -> tile<ptr<T>>
  %own2 = reshape %own1 : tile<ptr<T>> -> tile<1xptr<T>>
  %own3 = broadcast %own2 : tile<1xptr<T>> -> tile<512xptr<T>>
  %own = offset %own3, %at : tile<512xptr<T>>, tile<512xi32> -> tile<512xptr<T>>
  %old, %t = atomic_rmw_tko relaxed device %own, add, %lane : tile<512xptr<T>>, tile<512xT> -> tile<512xT>, token
  %l64 = iota : tile<64xi32>
  %f1 = reshape %own1 : tile<ptr<T>> -> tile<1xptr<T>>
  %f2 = broadcast %f1 : tile<1xptr<T>> -> tile<64xptr<T>>
  %from = offset %f2, %l64 : tile<64xptr<T>>, tile<64xi32> -> tile<64xptr<T>>
  %sum, %t2 = load_ptr_tko weak %from token=%t : tile<64xptr<T>> -> tile<64xT>, token
  %far = constant <i32: 16384> : tile<64xi32>
  %to = offset %from, %far : tile<64xptr<T>>, tile<64xi32> -> tile<64xptr<T>>
  %t3 = store_ptr_tko weak %to, %sum token=%t2 : tile<64xptr<T>>, tile<64xT> -> token
)";

TEST(Combine, ReadAfterwards) {
  for (const char* type : {"i32", "i64"}) ExpectSame(Kernel(kReads, type), Random(7, 64));
}

// Memory of the block ends with it: nothing may be left for later.
constexpr char kAllocated[] = R"(
  %own1 = alloca num_elem = 64, alignment = 64 : tile<ptr<T>>
  %own2 = reshape %own1 : tile<ptr<T>> -> tile<1xptr<T>>
  %own3 = broadcast %own2 : tile<1xptr<T>> -> tile<512xptr<T>>
  %own = offset %own3, %at : tile<512xptr<T>>, tile<512xi32> -> tile<512xptr<T>>
  %zero = constant <T: 0> : tile<512xT>
  %t0 = store_ptr_tko relaxed device %own, %zero : tile<512xptr<T>>, tile<512xT> -> token
  %o0, %t1a = atomic_rmw_tko relaxed device %p, add, %lane : tile<512xptr<T>>, tile<512xT> -> tile<512xT>, token
  %o1, %t2 = atomic_rmw_tko relaxed device %own, add, %lane token=%t0 : tile<512xptr<T>>, tile<512xT> -> tile<512xT>, token
)";

TEST(Combine, Allocated) { ExpectSame(Kernel(kAllocated, "i32"), Random(9, 64)); }

constexpr char kScatter[] = R"(
  %bt = make_tensor_view %bins, shape = [BINS], strides = [1] : tensor_view<BINSxT, strides=[1]>
  %old, %t = atomic_scatter_view_tko relaxed device %bt[%at], add, VALUE dim = 0 CHECK : tensor_view<BINSxT, strides=[1]>, tile<512xi32>, tile<512xT> -> tile<512xT>, token
)";

std::string Scatter(int bins, const std::string& value, bool check) {
  return absl::StrReplaceAll(
      kScatter, {{"BINS", absl::StrCat(bins)}, {"VALUE", value}, {" CHECK", check ? " check_bounds" : ""}});
}

TEST(Combine, Scatter) {
  uint32_t seed = 100;
  for (const char* type : {"i32", "i64"}) {
    for (const char* value : {"%lane", "%hot"}) {
      for (int bins : {2, 256, 700, 4000}) {
        const Input in = Random(++seed, bins);
        ExpectSame(Kernel(Scatter(bins, value, false), type), in);
        ExpectSame(Kernel(Scatter(bins, value, true), type), in);
        // Lanes below and above are left out.
        ExpectSame(Kernel(Scatter(bins, value, true), type), Random(++seed, 4 * bins, -bins));
      }
    }
  }
}

// A lane that is outside: the same message, and memory as if each lane had come alone.
TEST(Combine, Outside) {
  for (const std::string& body : {Add("%lane", false), Add("%hot", true), Scatter(256, "%lane", false)}) {
    const std::string text = Kernel(body, "i32");
    for (int wrong : {-1, 256, -2147483647, 2147483647}) {
      Input in = Random(11, 256);
      in.indices[5 * kTile + 601] = wrong | 1;  // active, if there is a mask
      in.bin_bytes = 1024;
      const Result alone = RunWith(text, CheckLevel::kFull, 1, in),
                   combined = RunWith(text, CheckLevel::kBounds, 1, in);
      ASSERT_EQ(alone.reports.size(), 1u) << text;
      EXPECT_EQ(combined.reports, alone.reports);
      EXPECT_TRUE(combined.bins == alone.bins);
    }
  }
}

TEST(Combine, Misaligned) {
  Input in = Random(13, 200);
  in.offset = 2;
  const std::string text = Kernel(Add("%lane", false), "i32");
  const Result combined = RunWith(text, CheckLevel::kBounds, 1, in);
  ASSERT_EQ(combined.reports.size(), 1u);
  EXPECT_EQ(combined.reports, RunWith(text, CheckLevel::kFull, 1, in).reports);
  EXPECT_TRUE(combined.bins == in.bins);
}

}  // namespace
}  // namespace tile::vm
