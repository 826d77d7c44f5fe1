/** Which rows of a long list are drawn: those in sight, and a few on either side, so that scrolling finds them there. */
export interface VirtualWindow {
  readonly first: number;
  /** The first one that is not drawn any more. */
  readonly end: number;
}

export function virtualWindow(options: {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
  readonly overscan?: number;
}): VirtualWindow {
  const { scrollTop, height, rowHeight, count, overscan = 4 } = options;
  const top = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + overscan);
  return { first: Math.min(top, Math.max(0, count - 1)), end: Math.max(end, 0) };
}

/** Where to scroll, so that a row is wholly in sight; where it is already, nowhere. */
export function scrollFor(
  index: number,
  { scrollTop, height, rowHeight }: { readonly scrollTop: number; readonly height: number; readonly rowHeight: number },
): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

/** Which row a key of the keyboard leads to; undefined where it is not for that. */
export function rowAfterKey(
  key: string,
  { index, count, page }: { readonly index: number; readonly count: number; readonly page: number },
): number | undefined {
  const target = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1,
  }[key];
  return target === undefined || count === 0 ? undefined : Math.min(Math.max(target, 0), count - 1);
}
