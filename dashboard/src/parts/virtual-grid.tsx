import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSize } from "../app/hooks.ts";
import { rowAfterKey, scrollFor, virtualWindow } from "../list/virtual-window.ts";

/**
 * A long list of which only what is in sight is there, with one stop for the Tab key: arrows go from row to row, and the row
 * that one stands on stays when it is scrolled out of sight, so that focus is never lost.
 */
export interface VirtualGridProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly columns: number;
  keyOf(item: T): string;
  /** The cells of a row. What is to be focused has `data-focus` and the `tabIndex` that is given. */
  row(item: T, options: { readonly tabIndex: number }): ComponentChildren;
  readonly head?: ComponentChildren;
  readonly class?: string;
  /** The rows in sight, whenever they change. */
  onSight?(items: readonly T[]): void;
  /** For keys that are not for moving between rows. */
  onKey?(event: KeyboardEvent, item: T): void;
  /** Behind the rows, and in front of them. */
  readonly underlay?: ComponentChildren;
  readonly overlay?: ComponentChildren;
  readonly bodyProps?: JSX.HTMLAttributes<HTMLDivElement>;
}

export function VirtualGrid<T>(props: VirtualGridProps<T>): JSX.Element {
  const { items, rowHeight, keyOf, onSight } = props;
  const [ref, size] = useSize();
  const [scrollTop, setScrollTop] = useState(0);
  const [activeKey, setActiveKey] = useState<string>();
  const isMoving = useRef(false);
  const window = virtualWindow({ scrollTop, height: size.height, rowHeight, count: items.length });
  const found = activeKey === undefined ? -1 : items.findIndex((item) => keyOf(item) === activeKey);
  const active = found < 0 ? Math.min(window.first, Math.max(0, items.length - 1)) : found;

  useLayoutEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    ref.current?.querySelector<HTMLElement>('[data-active="true"] [data-focus]')?.focus({ preventScroll: true });
  });
  useEffect(() => onSight?.(items.slice(window.first, window.end)), [items, window.first, window.end, onSight]);
  useEffect(() => {
    // A list that has got shorter, by a filter, begins at its top again.
    if (ref.current && ref.current.scrollTop > items.length * rowHeight) ref.current.scrollTop = 0;
  }, [items.length, rowHeight, ref]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[active];
    if (!(event.target instanceof HTMLElement && event.target.closest('[role="row"]')) || item === undefined) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return void props.onKey?.(event, item);
    const page = Math.max(1, Math.floor(size.height / rowHeight) - 1);
    const next = rowAfterKey(event.key, { index: active, count: items.length, page });
    const target = next === undefined ? undefined : items[next];
    if (next === undefined || target === undefined) return void props.onKey?.(event, item);
    event.preventDefault();
    if (ref.current)
      ref.current.scrollTop = scrollFor(next, { scrollTop: ref.current.scrollTop, height: size.height, rowHeight });
    isMoving.current = true;
    setActiveKey(keyOf(target));
    setScrollTop(ref.current?.scrollTop ?? 0);
  };

  const drawn = items.slice(window.first, window.end).map((item, index) => ({ item, index: window.first + index }));
  const lost = items[active];
  if (lost !== undefined && (active < window.first || active >= window.end)) drawn.push({ item: lost, index: active });

  return (
    <div
      class={`grid ${props.class ?? ""}`}
      role="grid"
      aria-label={props.label}
      aria-rowcount={items.length + (props.head ? 1 : 0)}
      aria-colcount={props.columns}
      onKeyDown={onKeyDown}
    >
      {props.underlay}
      {props.head}
      <div
        class="grid-scroll"
        ref={ref}
        role="presentation"
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        {/* Read by style.setProperty, which the policy against inline styles allows. */}
        <div {...props.bodyProps} class="grid-body" role="rowgroup" style={{ height: `${items.length * rowHeight}px` }}>
          {drawn.map(({ item, index }) => (
            <div
              key={keyOf(item)}
              class="grid-row"
              role="row"
              aria-rowindex={index + (props.head ? 2 : 1)}
              data-active={index === active}
              data-index={index}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onFocusIn={() => setActiveKey(keyOf(item))}
            >
              {props.row(item, { tabIndex: index === active ? 0 : -1 })}
            </div>
          ))}
        </div>
      </div>
      {props.overlay}
    </div>
  );
}
