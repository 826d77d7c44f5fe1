import { SiteError } from "./site-error.ts";

/** What a figure must not have, since it becomes a part of the page. */
const FORBIDDEN: readonly (readonly [what: RegExp, why: string])[] = [
  [/<script/i, "a script"],
  [/<foreignObject/i, "foreign content"],
  [/\son\w+\s*=/i, "a handler of events"],
  [/(?:href|src)\s*=\s*["'](?!#)/i, "a reference to something else"],
  [/url\((?!["']?#)/i, "a reference to something else"],
  [/@import/i, "a style from elsewhere"],
  [/<!(?:DOCTYPE|ENTITY)/i, "a document type"],
];

/**
 * The text of a figure as it stands within a page: the one thing that is not Markdown. It is drawn in the colour of the text,
 * so that it fits light and dark. Throws for what could do more than be looked at. Pure.
 */
export function inlineFigure(file: string, svg: string, alt: string): string {
  for (const [what, why] of FORBIDDEN)
    if (what.test(svg)) throw new SiteError(`${file}: a figure must not have ${why}`);
  const text = svg.replace(/^<\?xml[^>]*\?>\s*/, "").trim();
  if (!/^<svg[^>]* viewBox="/.test(text) || !text.endsWith("</svg>")) {
    throw new SiteError(`${file}: a figure is one <svg> with a viewBox`);
  }
  if (!/<title>[^<]+<\/title>/.test(text))
    throw new SiteError(`${file}: a figure has a <title>, for whoever does not see it`);
  return `<figure>${text.replace("<svg", '<svg role="img"')}<figcaption>${alt}</figcaption></figure>`;
}
