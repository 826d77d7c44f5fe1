import type { CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { type ListQuery, matcherOf, orderOf } from "./list-query.ts";

/**
 * The rows that a query asks for, in its order, kept up to date change by change: of ten thousand rows of which one changes
 * nothing is sorted anew. `ordered` is another array after every change, so that who has drawn one can tell.
 */
export class RowIndex {
  readonly #order: (a: Row, b: Row) => number;
  readonly #matches: (row: Row) => boolean;
  /** What stands in `ordered`, by id, as it was when it was put there. */
  readonly #placed = new Map<CredentialId, Row>();
  ordered: readonly Row[] = [];

  constructor(query: ListQuery, rows: Iterable<Row>) {
    this.#order = orderOf(query);
    this.#matches = matcherOf(query);
    this.#fill(rows);
  }

  #fill(rows: Iterable<Row>): void {
    this.#placed.clear();
    const ordered: Row[] = [];
    for (const row of rows) {
      if (!this.#matches(row)) continue;
      this.#placed.set(row.id, row);
      ordered.push(row);
    }
    this.ordered = ordered.sort(this.#order);
  }

  /** So many changes at once cost more one by one than all anew. */
  static readonly #FEW = 300;

  /** Says whether anything that is shown has changed. */
  update(changed: ReadonlySet<CredentialId>, rows: ReadonlyMap<CredentialId, Row>): boolean {
    if (changed.size > RowIndex.#FEW) {
      this.#fill(rows.values());
      return true;
    }
    const ordered = [...this.ordered];
    let isChanged = false;
    for (const id of changed) {
      const before = this.#placed.get(id);
      const row = rows.get(id);
      const after = row && this.#matches(row) ? row : undefined;
      if (before === after) continue;
      isChanged = true;
      const place = before ? this.#place(ordered, before) : -1;
      if (before && after && this.#staysAt(ordered, place, after)) ordered[place] = after;
      else {
        if (before) ordered.splice(place, 1);
        if (after) ordered.splice(this.#place(ordered, after), 0, after);
      }
      if (after) this.#placed.set(id, after);
      else this.#placed.delete(id);
    }
    if (isChanged) this.ordered = ordered;
    return isChanged;
  }

  #staysAt(ordered: readonly Row[], place: number, row: Row): boolean {
    const [before, after] = [ordered[place - 1], ordered[place + 1]];
    return !(before && this.#order(before, row) > 0) && !(after && this.#order(row, after) > 0);
  }

  /** The place of a row, or where it would stand. */
  #place(ordered: readonly Row[], row: Row): number {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = ordered[middle];
      if (other && this.#order(other, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
