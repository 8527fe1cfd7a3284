// Every truncation and every changed bit of ten real modules: see ir/testing/error_or_sound.h. They are chosen from the
// folder that TILEVM_CORPUS names, so that small files show many operations; without it the test is skipped.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "ir/testing/damage.h"
#include "ir/testing/error_or_sound.h"
#include "ir/tileir/reader.h"

namespace tile::ir::tileir {
namespace {

constexpr size_t kFiles = 10, kMostBytes = 2048;

struct RealFile {
  std::string path, bytes;
  std::set<Opcode> ops;
};

std::vector<RealFile> SmallFiles(const std::string& folder) {
  std::vector<RealFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".tilebc" || entry.file_size() > kMostBytes) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    RealFile f{entry.path().string(), std::string((std::istreambuf_iterator<char>(in)), {}), {}};
    const auto module = ReadTileIr(AsBytes(f.bytes), f.path);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) continue;
    for (const auto& function : (*module)->functions)
      Walk(function->body(), [&](Op* op) { f.ops.insert(op->opcode()); });
    files.push_back(std::move(f));
  }
  std::sort(files.begin(), files.end(), [](const RealFile& a, const RealFile& b) {
    return std::make_pair(a.bytes.size(), a.path) < std::make_pair(b.bytes.size(), b.path);
  });
  return files;
}

// Time and again the file with the most operations that are new; the smallest of them.
std::vector<RealFile> Choose(const std::vector<RealFile>& files) {
  std::vector<RealFile> chosen;
  std::set<Opcode> seen;
  while (chosen.size() < std::min(kFiles, files.size())) {
    const RealFile* best = nullptr;
    size_t most = 0;
    for (const RealFile& f : files) {
      size_t fresh = 0;
      for (Opcode op : f.ops) fresh += seen.count(op) == 0;
      if (best != nullptr && fresh <= most) continue;
      best = &f;
      most = fresh;
    }
    chosen.push_back(*best);
    seen.insert(best->ops.begin(), best->ops.end());
  }
  return chosen;
}

TEST(CorpusDamage, EveryCutAndEveryBit) {
  const char* folder = std::getenv("TILEVM_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "TILEVM_CORPUS is not set";
  const std::vector<RealFile> chosen = Choose(SmallFiles(folder));
  ASSERT_EQ(chosen.size(), kFiles);
  for (const RealFile& f : chosen) {
    SCOPED_TRACE(f.path);
    int64_t count = 0, rejected = 0, verified = 0;
    ForEachDamage(f.bytes, kEveryBit, [&](const Damage& d) {
      const Verdict v = TileIrErrorOrSound(d.bytes);
      ++count;
      rejected += v == Verdict::kRejected;
      verified += v == Verdict::kVerified;
      EXPECT_TRUE(v == Verdict::kRejected || d.flip != 0);  // no file that lacks its end is accepted
      EXPECT_FALSE(HasFailure()) << d.ToString();
      return !HasFailure();
    });
    EXPECT_LT(rejected, count);
    std::printf("%s: %lld damaged files: %lld rejected, %lld read, of which %lld verify\n", f.path.c_str(),
                static_cast<long long>(count), static_cast<long long>(rejected),
                static_cast<long long>(count - rejected), static_cast<long long>(verified));
  }
}

}  // namespace
}  // namespace tile::ir::tileir
