// An 8x8 matrix of ldmatrix has rows of 16 bytes, whose addresses lanes give: of matrix j, lane 8 j + row. Lane l
// receives the word l % 4 of row l / 4; with .trans the elements in rows 2 (l % 4) and the next, of column l / 4.
//
// Bytes that lie across are moved as 16-bit elements. Lane l should hold four neighbouring k, from 4 (l % 4) on, of each of two
// neighbours of a row: two of the k come by one matrix, two by the next. Were the rows of the first k = 0, 1, 4, 5, 8, 9, 12, 13, pairs
// of them would meet in banks, as rows k and k + 8 are swizzled alike. So its upper half brings k = 10, 11, 14, 15 instead, and the
// second matrix 8, 9, 12, 13.
#include <algorithm>
#include <cassert>
#include <set>

#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"

namespace tile::codegen {
namespace {

// The parts of a fragment that ldmatrix treats alike.
struct Parts {
  Masks row;          // what lies in the 16 bytes of a row, from the lowest bit
  Masks number;       // the row of a matrix
  Masks others;       // bases of the register bits that tell matrices apart
  int word_bits = 0;  // the low register bits, of a word of elements
  bool bytes = false;
};

std::optional<Parts> Divide(const Layout& l, int element_bits, bool trans) {
  std::optional<Parts> parts;
  if (trans ? element_bits != 16 && element_bits != 8 : element_bits != 8 && element_bits != 16 && element_bits != 32)
    return parts;
  const int word_bits = element_bits == 32 ? 0 : element_bits == 16 ? 1 : 2;
  const Masks& regs = l.bases(In::kRegister);
  const Masks& lanes = l.bases(In::kLane);
  if (static_cast<int>(regs.size()) < word_bits || lanes.size() != 5) return parts;
  Masks words(regs.begin(), regs.begin() + word_bits);
  words.insert(words.end(), {lanes[0], lanes[1]});
  Masks high(lanes.begin() + 2, lanes.end());
  if (trans && element_bits == 8) {
    if (regs.size() < 3) return parts;
    high.insert(high.begin(), regs[2]);
    parts.emplace();
    parts->row = high;
    parts->number = {regs[0], lanes[0], lanes[1] ^ regs[1]};
    parts->others = {regs[1]};
    parts->others.insert(parts->others.end(), regs.begin() + 3, regs.end());
    parts->word_bits = word_bits;
    parts->bytes = true;
    return parts;
  }
  parts.emplace();
  parts->row = trans ? high : words;
  parts->number = trans ? words : high;
  parts->others.assign(regs.begin() + word_bits, regs.end());
  parts->word_bits = word_bits;
  return parts;
}

}  // namespace

std::optional<LdMatrix> FitLdMatrix(const SharedMap& map, const Layout& fragment) {
  std::optional<LdMatrix> along = FitLdMatrix(map, fragment, false);
  return along ? along : FitLdMatrix(map, fragment, true);
}

std::optional<LdMatrix> FitLdMatrix(const SharedMap& map, const Layout& fragment, bool trans) {
  const Layout l = Compose(map.index, fragment);
  const std::optional<Parts> parts = Divide(l, map.element_bits, trans);
  if (!parts) return std::nullopt;
  const Mask in_row = (Mask{1} << parts->row.size()) - 1;
  for (size_t i = 0; i < parts->row.size(); ++i) {
    if (parts->row[i] != Mask{1} << i) return std::nullopt;
  }
  for (const Masks& bases : {parts->number, parts->others, l.bases(In::kWarp)}) {
    for (Mask basis : bases) {
      if (basis & in_row) return std::nullopt;
    }
  }
  LdMatrix load;
  load.trans = trans;
  load.bytes = parts->bytes;
  const int chosen = std::min(2, static_cast<int>(parts->others.size()));
  load.matrices = 1 << chosen;
  load.per_instruction = load.matrices << parts->word_bits;
  load.lanes = parts->number;
  load.lanes.insert(load.lanes.end(), parts->others.begin(), parts->others.begin() + chosen);
  load.lanes.resize(5, 0);
  load.warps = l.bases(In::kWarp);
  for (int r = 0; r < l.registers(); ++r) {
    load.registers.push_back(r);
    if (r % load.per_instruction == 0) load.offsets.push_back(Combine(l.bases(In::kRegister), static_cast<Mask>(r)));
  }
  return load;
}

int64_t LdMatrixWavefronts(const LdMatrix& load, int element_bits) {
  const int chunk = 128 / element_bits;  // elements of 16 bytes
  int64_t wavefronts = 0;
  for (uint32_t warp = 0; warp < 1u << load.warps.size(); ++warp) {
    for (int i = 0; i < load.instructions(); ++i) {
      for (int j = 0; j < load.matrices; ++j) {
        std::set<Mask> banks[8];
        size_t most = 1;
        for (uint32_t row = 0; row < 8; ++row) {
          const Mask at = load.Address(i, static_cast<uint32_t>(j) * 8 + row, warp) / static_cast<Mask>(chunk);
          banks[at % 8].insert(at);
          most = std::max(most, banks[at % 8].size());
        }
        wavefronts += static_cast<int64_t>(most);
      }
    }
  }
  return wavefronts;
}

int64_t LeastLdMatrixWavefronts(const LdMatrix& load) {
  return int64_t{load.instructions()} * load.matrices << load.warps.size();
}

std::optional<LdMatrixExchange> ChooseSharedForLdMatrix(const Layout& src, const Layout& fragment, int element_bits,
                                                        bool trans) {
  assert(src.shape() == fragment.shape());
  const std::optional<Parts> parts = Divide(fragment, element_bits, trans);
  if (!parts || Subspace(parts->row).dimension() != static_cast<int>(parts->row.size())) return std::nullopt;
  // The lanes of src that write at a time: fewer, the more of the row they hold in registers.
  const Subspace held(src.bases(In::kRegister));
  size_t own = 0;
  while (own < parts->row.size() && held.Contains(parts->row[own])) ++own;
  const int bytes = (1 << own) * element_bits / 8;
  const size_t phase = bytes <= 4 ? 5 : bytes == 8 ? 4 : 3;
  const Masks& src_lanes = src.bases(In::kLane);
  const Masks writing(src_lanes.begin(), src_lanes.begin() + std::min(phase, src_lanes.size()));
  Masks prefer;
  for (const Masks& bases : {parts->others, fragment.bases(In::kWarp), src_lanes, src.bases(In::kWarp)}) {
    prefer.insert(prefer.end(), bases.begin(), bases.end());
  }
  LdMatrixExchange x;
  x.map = MakeSwizzle(src.offset_bits(), element_bits, parts->row, writing, parts->number, prefer);
  std::optional<LdMatrix> read = FitLdMatrix(x.map, fragment, trans);
  if (!read) return std::nullopt;
  x.read = *std::move(read);
  x.write = Vectorise(Compose(x.map.index, src), element_bits, 0, 128 / element_bits);
  return x;
}

}  // namespace tile::codegen
