#include "codegen/gpu/schedule/shared_cells.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/schedule/terms.h"

namespace tile::codegen::schedule {

SharedCells::SharedCells() { cells_[0].end = std::numeric_limits<int64_t>::max(); }

void SharedCells::Split(int64_t at) {
  const auto it = std::prev(cells_.upper_bound(at));
  if (it->first == at) return;
  Cell behind = it->second;
  it->second.end = at;
  cells_.emplace(at, std::move(behind));
}

Fault SharedCells::ForEach(Span span, const std::function<Fault(Cell&)>& visit) {
  Split(span.begin);
  Split(span.end());
  for (auto it = cells_.find(span.begin); it->first < span.end(); ++it) {
    if (Fault fault = visit(it->second); fault.found()) return fault;
  }
  return {};
}

Fault SharedCells::BeginWrite(Span span, const Write& write) {
  const uint32_t part = 1u << write.part;
  return ForEach(span, [&](Cell& cell) -> Fault {
    if (!cell.readers.empty()) {
      const Reader& reader = cell.readers.front();
      return {FaultKind::kOverwritten,
              absl::StrCat("overwrites what ", NameOf(*reader.op), " still reads in warp ", reader.agent)};
    }
    if (cell.write.op == nullptr || cell.full()) {
      cell.write = write;
      cell.begin_of_write = span.begin;
      cell.begun = cell.arrived = cell.converted = cell.landed = 0;
    } else if ((cell.begun & part) != 0) {
      return {FaultKind::kOverwritten,
              absl::StrCat("overwrites what ", NameOf(*cell.write.op), " has not brought yet")};
    } else if (cell.write.name != write.name || cell.write.parts != write.parts) {
      return {FaultKind::kOtherTile, absl::StrCat("brings a part of another tile than ", NameOf(*cell.write.op),
                                                  ", of whose tile parts are missing")};
    }
    cell.begun |= part;
    return {};
  });
}

void SharedCells::Land(Span span, int part) {
  ForEach(span, [&](Cell& cell) -> Fault {
    cell.arrived |= 1u << part;
    if (!cell.write.converts) cell.landed |= 1u << part;
    return {};
  });
}

Fault SharedCells::Convert(Span span, int part) {
  return ForEach(span, [&](Cell& cell) -> Fault {
    if (cell.write.op == nullptr || (cell.arrived & 1u << part) == 0)
      return {FaultKind::kUnfilled, "converts what has not been brought yet"};
    cell.converted |= 1u << part;
    if (!cell.write.fences) cell.landed |= 1u << part;
    return {};
  });
}

void SharedCells::FenceConverted(Span span, int part) {
  ForEach(span, [&](Cell& cell) -> Fault {
    cell.landed |= cell.converted & 1u << part;
    return {};
  });
}

Fault SharedCells::BeginRead(Span span, const Reader& reader, uint64_t* name) {
  bool first = true;
  return ForEach(span, [&](Cell& cell) -> Fault {
    if (cell.write.op == nullptr) return {FaultKind::kUnfilled, "reads what no copy has brought"};
    if (!cell.full()) {
      return {FaultKind::kUnfilled, absl::StrCat("reads what ", NameOf(*cell.write.op), " has not brought yet")};
    }
    cell.readers.push_back(reader);
    // A tile that begins elsewhere, or is made of several, is another one.
    const auto shift = static_cast<uint64_t>(cell.begin_of_write - span.begin);
    const uint64_t here = shift == 0 ? cell.write.name : Mix(cell.write.name, shift);
    if (first || here != *name) *name = first ? here : Mix(*name, here);
    first = false;
    return {};
  });
}

void SharedCells::EndRead(Span span, const Reader& reader) {
  ForEach(span, [&](Cell& cell) -> Fault {
    const auto it = std::find(cell.readers.begin(), cell.readers.end(), reader);
    if (it != cell.readers.end()) cell.readers.erase(it);
    return {};
  });
}

}  // namespace tile::codegen::schedule
