import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pan, type TimeRange, zoom } from "../time/time-range.ts";
import type { TimeScale } from "../time/time-scale.ts";

/**
 * Time under the pointer: dragging pans, the wheel with Ctrl zooms at the pointer, and sideways it pans. Without Ctrl the wheel
 * scrolls the list, as everywhere.
 */
export function useTimeGestures(
  ref: RefObject<HTMLElement>,
  options: {
    readonly range: TimeRange;
    readonly scale: TimeScale;
    readonly now: () => number;
    /** Where the track begins, from the left of the element. */
    readonly offset: number;
    onChange(range: TimeRange): void;
  },
): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const placeOf = (event: MouseEvent): number =>
      event.clientX - element.getBoundingClientRect().left - latest.current.offset;
    const onWheel = (event: WheelEvent): void => {
      const { range, scale, now, onChange } = latest.current;
      if (placeOf(event) < 0) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120);
        onChange(zoom(range, factor, { now: now(), anchor: scale.at(Math.max(0, placeOf(event))) }));
        return;
      }
      const sideways = event.deltaX !== 0 ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      if (Math.abs(sideways) <= Math.abs(event.deltaX === 0 ? 0 : event.deltaY)) return;
      if (sideways === 0) return;
      event.preventDefault();
      onChange(pan(range, sideways / Math.max(1, scale.width), now()));
    };
    let drag: { readonly x: number; readonly range: TimeRange; readonly id: number; isMoved: boolean } | undefined;
    const onDown = (event: PointerEvent): void => {
      const isOnTrack = event.target instanceof Element && event.target.closest(".timeline-track, .chart") !== null;
      if (event.button !== 0 || !isOnTrack) return;
      drag = { x: event.clientX, range: latest.current.range, id: event.pointerId, isMoved: false };
    };
    const onMove = (event: PointerEvent): void => {
      if (!drag || event.pointerId !== drag.id) return;
      const { scale, now, onChange } = latest.current;
      const byX = drag.x - event.clientX;
      if (!drag.isMoved && Math.abs(byX) < 4) return;
      if (!drag.isMoved) {
        drag.isMoved = true;
        element.setPointerCapture(event.pointerId);
        element.dataset.dragging = "true";
      }
      onChange(pan(drag.range, byX / Math.max(1, scale.width), now()));
    };
    const onUp = (): void => {
      drag = undefined;
      delete element.dataset.dragging;
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onUp);
    return () => {
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onUp);
    };
  }, [ref]);
}
