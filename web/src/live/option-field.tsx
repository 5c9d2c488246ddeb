// One option to fill in: ranges, help and refusals come from the kernel's table.

import { optionTerm } from "../model/glossary";
import { accepted } from "../model/live/live-options";
import type { Option } from "../model/kernel/names";
import { Term } from "../terms/term";

interface Props {
  prefix?: string; // of its id, where a form is on the page twice
  option: Option;
  text: string;
  refused: string | null; // why the text is none of its values
  onText: (text: string) => void;
}

export function OptionField({ prefix = "", option, text, refused, onText }: Props) {
  const id = `${prefix}option-${option.name}`;
  return (
    <div class="option-field">
      <Term of={optionTerm(option.name)}>{option.name.split(".").at(-1)}</Term>
      <Control option={option} id={id} text={text} invalid={refused !== null} onText={onText} />
      {refused && (
        <p class="trouble" id={`${id}-refused`} role="alert">
          {refused}
        </p>
      )}
    </div>
  );
}

function Control(props: {
  option: Option;
  id: string;
  text: string;
  invalid: boolean;
  onText: (text: string) => void;
}) {
  const { option, id, text, invalid, onText } = props;
  const words = option.kind === "flag" ? ["true", "false"] : option.words;
  const shared = {
    id,
    "aria-label": option.name,
    "aria-invalid": invalid,
    ...(invalid && { "aria-describedby": `${id}-refused` }),
  };
  if (words && option.kind !== "words")
    return (
      <select {...shared} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        {words.map((word) => (
          <option value={word}>{word}</option>
        ))}
      </select>
    );
  return (
    <input
      {...shared}
      type="text"
      inputMode={option.kind === "whole" || option.kind === "real" ? "decimal" : "text"}
      autocomplete="off"
      spellcheck={false}
      placeholder={option.optional ? "none" : ""}
      title={`${option.meaning}: ${accepted(option)}`}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}
