// A small generator for choices that need to be the same each time, and nothing more: what a run is
// trained with comes from the kernel's own generator.

/** Numbers in [0, 1) that follow from the seed. (Weyl sequence through a 32-bit mixer.) */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** The items in another order. */
export function shuffled<Item>(items: readonly Item[], next: () => number): Item[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
