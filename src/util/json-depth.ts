const QUOTE = 34;
const ESCAPE = 92;

/** How deep lists and objects are nested in the text of a JSON value. A number or text alone has depth 0. */
export function jsonDepth(json: string): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (inText) {
      if (char === ESCAPE) at += 1;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    // [ and {
    else if (char === 91 || char === 123) deepest = Math.max(deepest, ++depth);
    // ] and }
    else if (char === 93 || char === 125) depth -= 1;
  }
  return deepest;
}
