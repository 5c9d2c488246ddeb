// A long curve as no more points than pixels show: the lowest and highest value of each column.

export function thinnedCurve(
  values: ArrayLike<number | null>,
  epochs: ArrayLike<number | null> | undefined,
  width: number,
  last: number,
  x: (epoch: number) => number,
  y: (value: number) => number,
): number[] {
  const points: number[] = [];
  if (epochs || values.length <= 2 * width) {
    for (let i = 0; i < values.length; i++) points.push(x(epochs?.[i] ?? i), y(values[i] ?? NaN));
    return points;
  }
  const perPixel = last / width;
  for (let column = 0; column < width; column++) {
    const [from, to] = [
      Math.floor(column * perPixel),
      Math.min(values.length, Math.ceil((column + 1) * perPixel)),
    ];
    let [low, high, lowAt, highAt] = [Infinity, -Infinity, -1, -1];
    for (let i = from; i < to; i++) {
      const value = values[i] ?? NaN;
      if (value < low) [low, lowAt] = [value, i];
      if (value > high) [high, highAt] = [value, i];
    }
    if (lowAt < 0) points.push(x(from), NaN);
    else if (lowAt === highAt) points.push(x(lowAt), y(low));
    else if (lowAt < highAt) points.push(x(lowAt), y(low), x(highAt), y(high));
    else points.push(x(highAt), y(high), x(lowAt), y(low));
  }
  return points;
}
