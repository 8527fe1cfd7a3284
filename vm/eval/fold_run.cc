// Runs a reduce or scan as calls of kernels (fold_program.h).
#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/eval/fold_program.h"
#include "vm/kernels/copy.h"

namespace tile::vm {
namespace {

// The tile as lines: [outer, n, inner].
struct Lines {
  int64_t outer, n, inner;
};

// Some positions of an operand, one row each: row r begins at elements + r * step.
struct Rows {
  const uint8_t* elements;
  uint8_t* results;
  int64_t step;
};

class FoldRun {
 public:
  FoldRun(BlockState& b, const FoldProgram& f) : f_(f), streams_(f.streams), whole_{f.outer, f.n, f.inner} {
    for (int s = 0; s < streams_; ++s) {
      const FoldScratch& scratch = f.scratch[s];
      bytes_[s] = f.stream[s].bytes;
      source_[s] = At(b, f.stream[s].source);
      result_[s] = At(b, f.stream[s].result);
      elements_[s] = At(b, scratch.elements);
      results_[s] = At(b, scratch.results);
      first_[s] = At(b, scratch.accumulators);
      parts_[s] = At(b, scratch.parts);
    }
    for (int i = 0; i < f.num_others; ++i) {
      const FoldPlace& place = f.others[i];
      uint8_t* at = place_[3 * streams_ + i] = At(b, place.at);
      if (place.bytes > 0) Fill(at, b.at(place.source), place.bytes, kFoldLanes);
    }
  }

  void Run() {
    const bool cut = f_.parts > 1 && PartsBeginWithNumbers();
    if (!UsesStrips(f_, cut ? f_.parts : 1)) return RunInPlace();
    RunInStrips(cut ? f_.parts : 1);
    if (cut) f_.scan ? JoinScans() : JoinReductions();
  }

 private:
  static uint8_t* At(const BlockState& b, Slot slot) { return static_cast<uint8_t*>(b.at(slot)); }

  // --- steps --------------------------------------------------------------------------------------------------------

  // The body on the places of elements, accumulators and results.
  void Step(int64_t lanes) {
    for (const FoldCall *c = f_.calls, *end = c + f_.num_calls; c != end; ++c) {
      const void* operands[kMaxElementwiseOperands];
      for (int i = 0; i < c->arity; ++i) operands[i] = place_[c->in[i]];
      c->fn(place_[c->out], operands, lanes);
    }
  }

  uint8_t*& Element(int s) { return place_[s]; }
  uint8_t*& Accumulator(int s) { return place_[streams_ + s]; }
  uint8_t*& Result(int s) { return place_[2 * streams_ + s]; }

  // Goes through `count` positions. `begun`: there are accumulators; else the first elements become them.
  void Positions(const Rows* rows, int64_t count, int64_t lanes, bool begun) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t r = f_.reverse ? count - 1 - k : k;
      for (int s = 0; s < streams_; ++s) {
        Element(s) = const_cast<uint8_t*>(rows[s].elements) + r * rows[s].step;  // is only read
        Result(s) = f_.scan ? rows[s].results + r * rows[s].step : results_[s] + (k & 1) * kFoldLanes * bytes_[s];
      }
      if (begun) {
        Step(lanes);
      } else {
        for (int s = 0; s < streams_; ++s) Copy(Result(s), Element(s), lanes, s);
        begun = true;
      }
      for (int s = 0; s < streams_; ++s) Accumulator(s) = Result(s);
    }
  }

  void Copy(void* to, const void* from, int64_t elements, int s) const {
    std::memcpy(to, from, static_cast<size_t>(elements * bytes_[s]));
  }

  // Accumulators are about to be overwritten: a later step finds them here.
  void KeepAccumulators(int64_t lanes) {
    for (int s = 0; s < streams_; ++s) {
      Copy(first_[s], Accumulator(s), lanes, s);
      Accumulator(s) = first_[s];
    }
  }

  // --- lanes that are neighbours ------------------------------------------------------------------------------------

  void RunInPlace() {
    const auto& [outer, n, inner] = whole_;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t j = 0; j < inner; j += kFoldLanes) {
        const int64_t lanes = std::min(kFoldLanes, inner - j), at = o * n * inner + j;
        Rows rows[kMaxFoldStreams];
        for (int s = 0; s < streams_; ++s) {
          rows[s] = {source_[s] + at * bytes_[s], result_[s] + at * bytes_[s], inner * bytes_[s]};
        }
        Positions(rows, n, lanes, false);
        for (int s = 0; s < streams_ && !f_.scan; ++s) {
          Copy(result_[s] + (o * inner + j) * bytes_[s], Accumulator(s), lanes, s);
        }
      }
    }
  }

  // --- strips -------------------------------------------------------------------------------------------------------

  // `groups` lines at a time, which are lanes in groups of `inner`. Results of parts go to parts_: of a reduce one row, of a scan all
  // of them, still transposed; all parts fit into one step.
  void RunInStrips(int64_t parts) {
    const Lines lines = {whole_.outer * parts, whole_.n / parts, whole_.inner};
    const int64_t most = kFoldLanes / lines.inner;
    if (parts > 1) BeginWithLines(parts);
    const bool begun = parts > 1 && f_.kept == Kept::kLeftmost;
    for (int64_t o = 0; o < lines.outer; o += most) {
      const int64_t groups = std::min(most, lines.outer - o), lanes = groups * lines.inner;
      for (int64_t done = 0; done < lines.n; done += kFoldStrip) {
        const int64_t count = std::min(kFoldStrip, lines.n - done), at = f_.reverse ? lines.n - done - count : done;
        Rows rows[kMaxFoldStreams];
        for (int s = 0; s < streams_; ++s) {
          uint8_t* to = parts > 1 ? parts_[s] + at * lanes * bytes_[s] : results_[s];
          rows[s] = {elements_[s], to, lanes * bytes_[s]};
          CopyStrip<true>(lines, elements_[s], source_[s], {o, groups, at, count}, s);
        }
        Positions(rows, count, lanes, begun || done > 0);
        if (!f_.scan || parts > 1) continue;
        for (int s = 0; s < streams_; ++s) CopyStrip<false>(lines, result_[s], results_[s], {o, groups, at, count}, s);
        KeepAccumulators(lanes);
      }
      for (int s = 0; s < streams_ && !f_.scan; ++s) {
        Copy(parts > 1 ? parts_[s] : result_[s] + o * lines.inner * bytes_[s], Accumulator(s), lanes, s);
      }
    }
  }

  // Positions [at, at + count) of lines [o, o + groups).
  struct Part {
    int64_t o, groups, at, count;
  };
  // From the tile to a strip, or back.
  template <bool to_strip>
  void CopyStrip(const Lines& lines, uint8_t* to, const uint8_t* from, const Part& part, int s) const {
    const int64_t begin = (part.o * lines.n + part.at) * lines.inner * bytes_[s];
    const int64_t tile_steps[] = {lines.inner, lines.n * lines.inner, 1},
                  strip_steps[] = {part.groups * lines.inner, lines.inner, 1};
    const int64_t extents[] = {part.count, part.groups, lines.inner};
    if constexpr (to_strip) {
      CopyBox(to, strip_steps, from + begin, tile_steps, extents, 3, bytes_[s]);
    } else {
      CopyBox(to + begin, tile_steps, from, strip_steps, extents, 3, bytes_[s]);
    }
  }

  // --- parts --------------------------------------------------------------------------------------------------------

  // The first elements of lines, for all parts.
  void BeginWithLines(int64_t parts) {
    const int64_t first = f_.reverse ? whole_.n - 1 : 0, line = whole_.n * whole_.inner;
    const int64_t extents[] = {whole_.outer, parts, whole_.inner};
    const int64_t to_steps[] = {parts * whole_.inner, whole_.inner, 1}, from_steps[] = {line, 0, 1};
    for (int s = 0; s < streams_; ++s) {
      CopyBox(first_[s], to_steps, source_[s] + first * whole_.inner * bytes_[s], from_steps, extents, 3, bytes_[s]);
      Accumulator(s) = first_[s];
    }
  }

  // Whether the parts may begin with their own first elements.
  bool PartsBeginWithNumbers() {
    const int64_t part = whole_.n / f_.parts, lanes = whole_.outer * f_.parts * whole_.inner;
    const int64_t first = f_.reverse ? part - 1 : 0;
    const int64_t extents[] = {whole_.outer * f_.parts, whole_.inner};
    const int64_t to_steps[] = {whole_.inner, 1}, from_steps[] = {part * whole_.inner, 1};
    for (int s = 0; s < streams_; ++s) {
      const ElementwiseFn equal = f_.scratch[s].equal;
      if (equal == nullptr) continue;
      CopyBox(first_[s], to_steps, source_[s] + first * whole_.inner * bytes_[s], from_steps, extents, 2, bytes_[s]);
      const void* operands[] = {first_[s], first_[s]};
      equal(results_[s], operands, lanes);
      if (std::memchr(results_[s], 0, static_cast<size_t>(lanes)) != nullptr) return false;
    }
    return true;
  }

  // Combines neighbouring parts, the right one as the element, until one is left.
  void JoinReductions() {
    const int64_t inner = whole_.inner, to_steps[] = {inner, 1}, from_steps[] = {2 * inner, 1};
    for (int64_t pairs = whole_.outer * f_.parts / 2; pairs >= whole_.outer; pairs /= 2) {
      const int64_t extents[] = {pairs, inner};
      for (int s = 0; s < streams_; ++s) {
        CopyBox(first_[s], to_steps, parts_[s], from_steps, extents, 2, bytes_[s]);
        CopyBox(elements_[s], to_steps, parts_[s] + inner * bytes_[s], from_steps, extents, 2, bytes_[s]);
        Accumulator(s) = first_[s];
        Element(s) = elements_[s];
        Result(s) = pairs > whole_.outer ? parts_[s] : result_[s];
      }
      Step(pairs * inner);
    }
  }

  // What a part gave by itself meets the last result of the parts before it. Those become known in rounds: after the first one for
  // two parts, then for four, and so on. Before the first part is the line's first element, which changes nothing.
  void JoinScans() {
    const int64_t part = whole_.n / f_.parts, lanes = whole_.outer * f_.parts * whole_.inner;
    uint8_t *totals[kMaxFoldStreams], *next[kMaxFoldStreams], *before[kMaxFoldStreams];
    for (int s = 0; s < streams_; ++s) {
      const int64_t row = lanes * bytes_[s];
      totals[s] = elements_[s];
      next[s] = totals[s] + row;
      before[s] = next[s] + row;
      Copy(totals[s], parts_[s] + (f_.reverse ? 0 : part - 1) * row, lanes, s);
    }
    for (int64_t reach = 1; reach < f_.parts; reach *= 2) {
      for (int s = 0; s < streams_; ++s) {
        Behind(before[s], totals[s], reach, s);
        Element(s) = totals[s];
        Accumulator(s) = before[s];
        Result(s) = next[s];
        std::swap(totals[s], next[s]);
      }
      Step(lanes);
    }
    for (int s = 0; s < streams_; ++s) {
      Behind(before[s], totals[s], 1, s);
      Accumulator(s) = before[s];
    }
    const Lines lines = {whole_.outer * f_.parts, part, whole_.inner};
    for (int64_t at = 0; at < part; at += kFoldStrip) {
      const int64_t count = std::min(kFoldStrip, part - at);
      for (int64_t r = 0; r < count; ++r) {
        for (int s = 0; s < streams_; ++s) {
          Element(s) = parts_[s] + (at + r) * lanes * bytes_[s];
          Result(s) = results_[s] + r * lanes * bytes_[s];
        }
        Step(lanes);
      }
      for (int s = 0; s < streams_; ++s) {
        CopyStrip<false>(lines, result_[s], results_[s], {0, lines.outer, at, count}, s);
      }
    }
  }

  // Each part gets what `row` has for the part `distance` before it; the first parts of a line get its first element.
  void Behind(uint8_t* to, const uint8_t* row, int64_t distance, int s) const {
    const int64_t moved = distance * whole_.inner, line = f_.parts * whole_.inner;
    for (int64_t o = 0; o < whole_.outer; ++o) {
      const int64_t at = o * line, kept = line - moved;
      const int64_t from = f_.reverse ? at + moved : at, firsts = f_.reverse ? at + kept : at;
      Copy(to + (f_.reverse ? at : at + moved) * bytes_[s], row + from * bytes_[s], kept, s);
      Copy(to + firsts * bytes_[s], first_[s] + firsts * bytes_[s], moved, s);
    }
  }

  const FoldProgram& f_;
  const int streams_;
  const Lines whole_;
  int bytes_[kMaxFoldStreams];
  const uint8_t* source_[kMaxFoldStreams];
  uint8_t *result_[kMaxFoldStreams], *elements_[kMaxFoldStreams], *results_[kMaxFoldStreams], *first_[kMaxFoldStreams],
      *parts_[kMaxFoldStreams];
  uint8_t* place_[kMaxFoldPlaces];
};

}  // namespace

void RunFold(BlockState& b, const FoldProgram& program) { FoldRun(b, program).Run(); }

}  // namespace tile::vm
