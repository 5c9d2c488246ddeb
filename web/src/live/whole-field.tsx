// A whole number from 0 on, to type.

interface Props {
  label: string;
  most: number;
  value: number;
  set: (value: number) => void;
}

export function WholeField({ label, most, value, set }: Props) {
  return (
    <input
      class="whole"
      type="number"
      aria-label={label}
      min={0}
      max={most}
      value={value}
      onInput={({ currentTarget: { valueAsNumber } }) => {
        if (valueAsNumber >= 0) set(Math.min(most, Math.floor(valueAsNumber)));
      }}
    />
  );
}
