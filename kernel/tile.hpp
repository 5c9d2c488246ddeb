// A tile: up to 32 sequences on their way through the model, as two vectors of sixteen lanes.
//
// Small enough that everything between table look-up and loss stays in the first-level cache.
#pragma once

#include "arena.hpp"
#include "normalize.hpp"
#include "spec.hpp"

namespace dynascope {
namespace DYNASCOPE_ISA {

constexpr int TILE = 2;  // vectors
constexpr int TILE_SEQUENCES = TILE * LANES;

template <class T> struct Tile {
  using V = Lanes<T>;
  int vectors = 0;      // in use: 1 or 2
  Mask<T>* tokens;      // [length][TILE]
  Mask<T>* target;      // [TILE]
  V* share;             // [TILE]: a sequence's share of the mean; 0 for a lane that only fills up
  V* total;             // [TILE]: sum of attention weights
  V* xi;                // [dim][TILE]: sequence embedding
  V* x;                 // [dim][TILE]: normalised
  Norming<T>* norming;  // [TILE]
  V* hidden;            // [hidden][TILE]: after the activation
  V* slope;             // [hidden][TILE]: the activation's derivative
  V* psi;               // [dim][TILE]
  V* error;             // [embeddings][TILE]: logits, then (probability - truth) * share
  V* loss;              // [TILE]
  V* correct;           // [TILE]: 1 or 0
  V* d_psi;             // [dim][TILE]
  V* d_x;               // [dim][TILE]
  V* d_xi;              // [dim + 1][TILE]: then those of the weighted sums

  Tile(const Shape& s, Arena& arena) {
    tokens = arena.take<Mask<T>>(s.length * TILE);
    target = arena.take<Mask<T>>(TILE);
    share = arena.take<V>(TILE);
    total = arena.take<V>(TILE);
    xi = arena.take<V>(s.dim * TILE);
    x = arena.take<V>(s.dim * TILE);
    norming = arena.take<Norming<T>>(TILE);
    hidden = arena.take<V>(s.hidden * TILE);
    slope = arena.take<V>(s.hidden * TILE);
    psi = arena.take<V>(s.dim * TILE);
    error = arena.take<V>(s.embeddings * TILE);
    loss = arena.take<V>(TILE);
    correct = arena.take<V>(TILE);
    d_psi = arena.take<V>(s.dim * TILE);
    d_x = arena.take<V>(s.dim * TILE);
    d_xi = arena.take<V>((s.dim + 1) * TILE);
  }
};

}  // namespace DYNASCOPE_ISA
}  // namespace dynascope
