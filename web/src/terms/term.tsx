// A word that explains itself: on hover, on focus and on touch. It is a link to where the docs say
// more, so that Enter and a click lead there.

import type { ComponentChildren } from "preact";
import { docsAddress, explanationsOf } from "../model/glossary";
import { isOffered } from "../state/all-runs";

interface Explained {
  "data-term"?: string;
  "data-detail"?: string | undefined;
  "aria-describedby"?: string;
}

/** Properties of an element that is explained while it is pointed at or has the focus. Ids are
 * parted by spaces; `detail` says more of this one case. */
export function explained(ids: string, detail?: string | null | false): Explained {
  const known = explanationsOf(ids).map(({ id }) => descriptionId(id));
  if (!known.length) return {};
  const described = detail ? [...known, DETAIL] : known;
  return {
    "data-term": ids,
    "data-detail": detail || undefined,
    "aria-describedby": described.join(" "),
  };
}

/** The element that holds a description for those who do not see the tooltip. */
export const descriptionId = (id: string): string => `term-${id.replace(/[^\w-]/g, "_")}`;

/** What the tooltip says of this one case, while it is open. */
export const DETAIL = "explanation-detail";

interface TermProps {
  of: string; // ids of the glossary, parted by spaces
  detail?: string | null | undefined;
  class?: string;
  label?: string; // for those who do not see it, where the text alone is not a name
  children: ComponentChildren;
}

export function Term({ of, detail, class: more = "", label, children }: TermProps) {
  const [first] = explanationsOf(of);
  if (!first) return <span class={more}>{children}</span>;
  const link = isOffered("docs") && {
    href: docsAddress(first.docs),
    target: "_blank",
    rel: "noopener",
  };
  return (
    <a
      class={`term ${more}`}
      {...(link || { tabIndex: 0 })}
      draggable={false}
      aria-label={label}
      {...explained(of, detail)}
    >
      {children}
    </a>
  );
}
