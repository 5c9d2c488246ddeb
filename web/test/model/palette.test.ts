import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, hex, lighter, mix, ramp, rgb } from "../../src/model/colour-space";
import { LEAST_CONTRAST, Palette } from "../../src/model/palette";
import { chooseSequences } from "../../src/model/sequences";
import { coloursOf } from "../../src/model/theme";
import type { Sequences } from "../../src/model/types";
import { modularAddition, tasks } from "../tasks";

test("colour arithmetic against known values", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.ok(Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01); // WCAG's own example of AA
  assert.equal(hex(rgb("#12ab9f")), "#12ab9f");
  for (const colour of ["#000000", "#ffffff", "#0072b2", "#f0e442"]) {
    assert.equal(mix(colour, "#123456", 0), colour);
    assert.equal(lighter(colour, 0), colour);
  }
  assert.equal(ramp(["#000000", "#ffffff", "#ff0000"], 0.5), "#ffffff");
  assert.equal(ramp(["#0072b2"], 0.3), "#0072b2");
});

const sequences = [
  chooseSequences(tasks, modularAddition(2, 12, [0, 1, 2, 3, 4])),
  chooseSequences(tasks, modularAddition(3, 12, [0, 1, 2, 3, 4])),
  chooseSequences(tasks, modularAddition(10, 12, [3, 4])),
];

for (const theme of ["light", "dark"] as const) {
  const palette = new Palette(theme);
  const { panel, page, raised } = coloursOf(theme);

  test(`${theme}: every point can be told from the panel`, () => {
    const styles = [
      ...Array.from({ length: 40 }, (_, i) => palette.token(i)),
      ...palette.positions(40, [1, 3, 5, 7, 30]),
      ...Array.from({ length: 256 }, (_, i) => palette.receptor(i)),
      ...sequences.flatMap((each) => palette.sequences(each)),
    ];
    for (const { fill } of styles)
      assert.ok(contrast(fill, panel) >= LEAST_CONTRAST, `${fill} has ${contrast(fill, panel)}`);
  });

  test(`${theme}: the palette itself needs no mending, text is readable`, () => {
    const colours = coloursOf(theme);
    const named = [
      ...Object.values(colours.curves),
      ...Object.values(colours.parameters),
      ...Object.values(colours.shares),
    ];
    for (const colour of [...colours.cycle, ...colours.groups, ...named, colours.query])
      assert.ok(contrast(colour, panel) >= LEAST_CONTRAST, `${colour}: ${contrast(colour, panel)}`);
    for (const background of [panel, page, raised])
      for (const colour of [
        colours.ink,
        colours.quiet,
        colours.accent,
        colours.good,
        colours.warning,
        colours.bad,
      ])
        assert.ok(contrast(colour, background) >= 4.5, `${colour} on ${background}`);
  });

  test(`${theme}: one colour per prefix, similar within a multiset, the class is the marker`, () => {
    for (const each of sequences) {
      const styles = palette.sequences(each);
      const byPrefix = new Map<number, string>();
      styles.forEach(({ fill, marker }, i) => {
        assert.equal(byPrefix.get(each.prefix[i]!) ?? fill, fill);
        byPrefix.set(each.prefix[i]!, fill);
        assert.equal(marker, palette.marker(each.targets[i]!));
      });
    }
    assert.deepEqual(
      [0, 1, 2].map((c) => palette.marker(c)),
      ["circle", "square", "triangle"],
    );
    const [binary] = sequences as [Sequences];
    const fills = palette.sequences(binary).map(({ fill }) => rgb(fill));
    const far = (i: number, j: number): number =>
      Math.hypot(...fills[i]!.map((part, c) => part - fills[j]![c]!));
    const within: number[] = [];
    const apart: number[] = []; // multisets two or more steps away
    for (let i = 0; i < binary.count; i++)
      for (let j = 0; j < i; j++) {
        const steps = Math.abs(binary.group[i]! - binary.group[j]!);
        if (steps === 0) within.push(far(i, j));
        if (steps >= 2) apart.push(far(i, j));
      }
    assert.ok(Math.max(...within) < Math.min(...apart), "similar means nearer than another one");
    const six = new Set(Array.from({ length: 6 }, (_, g) => palette.group(g, 6)));
    assert.equal(six.size, 6);
  });
}

test("markers of positions, colours of units", () => {
  const palette = new Palette("light");
  const styles = palette.positions(4, [1, 2]);
  assert.deepEqual(
    styles.map((s) => s.marker),
    ["square", "circle", "circle", "square"],
  );
  assert.equal(styles[0]!.fill, styles[1]!.fill); // each kind begins with the first colour
  const unknown = palette.positions(4, null);
  assert.deepEqual(new Set(unknown.map((s) => s.marker)), new Set(["diamond"]));
  assert.equal(new Set(unknown.map((s) => s.fill)).size, 4);
  assert.equal(palette.receptor(7).fill, palette.assembler(7).fill);
  assert.equal(palette.map(1).length, 3);
  assert.ok([...palette.map(25)].every((part) => part >= 0 && part <= 255));
});
