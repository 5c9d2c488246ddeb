// The guided experiments to choose from.

import { EXPERIMENTS } from "../model/guided/experiments";
import { openGuide } from "../state/guided";

export function GuideList({ close = () => undefined }: { close?: () => void }) {
  return (
    <ul class="guide-list" aria-label="Guided experiments">
      {EXPERIMENTS.map(({ name, title, about }) => (
        <li>
          <button
            onClick={() => {
              close();
              openGuide(name);
            }}
          >
            <b>{title}</b>
            <span>{about}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
