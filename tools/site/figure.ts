import { escapeHtml } from "./escape.ts";
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

export interface Picture {
  readonly file: string;
  readonly url: string;
  readonly bytes: Uint8Array;
  /** What it shows, for whoever does not see it. */
  readonly alt: string;
  /** For those who do, where there is something to say. */
  readonly caption: string | undefined;
}

/** A picture as a file of the site, with the room that it takes, so that nothing moves when it comes. Pure. */
export function pictureFigure({ file, url, bytes, alt, caption }: Picture): string {
  if (alt.trim() === "") throw new SiteError(`${file}: a picture says in words what it shows`);
  const { width, height } = sizeOf(file, bytes);
  const image = `<img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}" width="${width}" height="${height}" loading="lazy">`;
  return `<figure>${image}${caption === undefined ? "" : `<figcaption>${escapeHtml(caption)}</figcaption>`}</figure>`;
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

function sizeOf(file: string, bytes: Uint8Array): { readonly width: number; readonly height: number } {
  if (bytes.length < 24 || PNG.some((byte, at) => bytes[at] !== byte)) throw new SiteError(`${file} is no PNG`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
