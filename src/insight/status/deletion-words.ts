import { notMoved } from "../../reconcile/managed/consumers.ts";
import { relative } from "../words/when.ts";
import type { RetiredReport } from "./status-report.ts";

/** What becomes of a retired key, and for whom it is kept. */
export function deletionWords({ goesAt, heldFor }: Pick<RetiredReport, "goesAt" | "heldFor">, now: number): string {
  const deletion = !Number.isFinite(goesAt)
    ? "deletion after its successor is published"
    : goesAt > now
      ? `deletion ${relative(goesAt, now)}`
      : "deletion now";
  return heldFor === undefined ? deletion : `held: ${notMoved(heldFor)}; ${deletion} at the latest`;
}
