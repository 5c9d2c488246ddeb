// A page with what it answers from as one HTML file, as `sandbox/one_file.py` writes it.

export const ARCHIVE_ELEMENT = "dynascope-archive"; // the id of what holds the answers, as text
export const LARGE = 25e6; // bytes: more is slow to open, and many do not accept it as an attachment

/** The parts of the file; `shell` is the page without answers, `archive` is base64. Style and script
 * stay byte for byte: the page's policy knows them by their hashes. */
export function pageWith(shell: string, title: string, archive: string): string[] {
  const named = shell.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`);
  const end = "</noscript>"; // the first: what stands before the page's script
  const at = named.indexOf(end) + end.length;
  const opening = `<script type="text/plain" id="${ARCHIVE_ELEMENT}">`;
  return [named.slice(0, at), opening, archive, "</script>", named.slice(at)];
}

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return text.replace(/[&<>]/g, (letter) => names[letter]!);
}

/** The distance of kept epochs with which a file that is too large would not be. */
export function smallerEvery(bytes: number, every: number): number {
  return every * Math.max(2, Math.ceil(bytes / LARGE));
}
