// Bytes that stand in a page as text.

const AT_ONCE = 3 * 2 ** 13; // bytes; of a multiple of three the text has no end in between

export function base64OfBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += AT_ONCE)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + AT_ONCE))));
  return parts.join("");
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
