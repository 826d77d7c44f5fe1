import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../src/base/properties.fixture.ts";
import type { CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { EMPTY_QUERY, LIST_SORTS, LIST_STATES, type ListQuery, matcherOf, namespaceOf, orderOf } from "./list-query.ts";
import { RowIndex } from "./row-index.ts";
import { rowAfterKey, scrollFor, virtualWindow } from "./virtual-window.ts";

const row = (name: string, more: Partial<Row> = {}): Row => ({
  id: `ServiceBinding/${name}`,
  kind: "ServiceBinding",
  name,
  phase: "Ready",
  keys: [],
  ...more,
});

const trouble = { reason: "NotRotated", message: "overdue", group: "overdue" } as const;
const anyRow = fc
  .record({
    name: fc.constantFrom(..."abcdefghij"),
    isTroubled: fc.boolean(),
    isFrozen: fc.boolean(),
    rotationAt: fc.option(fc.integer({ min: 0, max: 5 })),
  })
  .map(({ name, isTroubled, isFrozen, rotationAt }) =>
    row(name, {
      ...(isTroubled ? { troubles: [trouble] } : {}),
      ...(isFrozen ? { isFrozen: true } : {}),
      ...(rotationAt === null ? {} : { rotationAt }),
    }),
  );
const anyQuery: fc.Arbitrary<ListQuery> = fc
  .record({
    search: fc.constantFrom("", "a", "Binding c"),
    sort: fc.constantFrom(...LIST_SORTS),
    state: fc.option(fc.constantFrom(...LIST_STATES)),
  })
  .map(({ state, ...query }) => (state === null ? query : { ...query, state }));

describe("the rows that a query asks for", () => {
  it("are the same, kept up to date or sorted anew", () => {
    const changes = fc.array(fc.array(fc.oneof(anyRow, fc.constantFrom(..."abc")), { maxLength: 5 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(anyQuery, fc.array(anyRow), changes, (query, first, steps) => {
        const rows = new Map<CredentialId, Row>(first.map((one) => [one.id, one]));
        const index = new RowIndex(query, rows.values());
        for (const step of steps) {
          const changed = new Set<CredentialId>();
          for (const change of step) {
            const id = typeof change === "string" ? `ServiceBinding/${change}` : change.id;
            changed.add(id);
            if (typeof change === "string") rows.delete(id);
            else rows.set(id, change);
          }
          const before = index.ordered;
          const isChanged = index.update(changed, rows);
          const anew = [...rows.values()].filter(matcherOf(query)).sort(orderOf(query));
          assert.deepEqual(index.ordered, anew);
          assert.equal(index.ordered !== before, isChanged);
        }
      }),
    );
  });

  for (const [query, found, reason] of [
    [{ search: "orders SHOP" }, true, "every word is somewhere, in any case"],
    [{ search: "orders dev" }, false, "a word is nowhere"],
    [{ search: "k-77" }, true, "the name of a key"],
    [{ namespace: "shop" }, true, "the namespace of its Secret, where its kind has none"],
    [{ kind: "RndcKey" }, false, "another kind"],
    [{ state: "static" }, true, "it has no rotation policy"],
    [{ search: "<img onerror>" }, false, "markup is only text"],
  ] as const) {
    it(`${JSON.stringify(query)} ${found ? "finds" : "does not find"} it: ${reason}`, () => {
      const keys = [{ id: "1", name: "k-77", state: "active", createdAt: 0 }] as const;
      const one = row("orders-db", { secret: "shop/orders", keys });
      assert.equal(matcherOf({ ...EMPTY_QUERY, ...query })(one), found);
    });
  }

  it("have problems first, then names in order, whatever their kind, and children under their parent", () => {
    const rows = [
      row("zebra", { troubles: [trouble] }),
      row("orders"),
      row("ledger-b", { id: "Single/ledger-b", parent: "Rotating/ledger" }),
      row("ledger-c", { id: "ServiceBinding/ledger-c" }),
      row("ledger-a", { id: "Single/ledger-a", parent: "Rotating/ledger" }),
      row("ledger", { id: "Rotating/ledger", kind: "Rotating" }),
      row("ledger", { id: "ServiceBinding/ledger" }),
      row("ingress", { id: "Resource/platform/ingress", kind: "Resource", namespace: "platform" }),
    ];
    assert.deepEqual(
      rows.toSorted(orderOf(EMPTY_QUERY)).map(({ id }) => id),
      [
        "ServiceBinding/zebra",
        "Resource/platform/ingress",
        "Rotating/ledger",
        "Single/ledger-a",
        "Single/ledger-b",
        "ServiceBinding/ledger",
        "ServiceBinding/ledger-c",
        "ServiceBinding/orders",
      ],
    );
  });

  it("has no namespace where neither the resource nor its Secret has one", () => {
    assert.equal(namespaceOf(row("a")), undefined);
    assert.equal(namespaceOf(row("a", { secret: "odd" })), undefined);
  });
});

describe("a long list", () => {
  it("draws what is in sight, and never a row that is not there", () => {
    fc.assert(
      fc.property(fc.nat(500_000), fc.nat(2000), fc.nat(10_000), (scrollTop, height, count) => {
        const { first, end } = virtualWindow({ scrollTop, height, rowHeight: 34, count });
        assert.ok(first >= 0 && end <= count);
        for (const at of [scrollTop, scrollTop + height - 1]) {
          const index = Math.floor(at / 34);
          if (index < count && index >= 0 && height > 0) assert.ok(index >= first && index < end);
        }
      }),
    );
  });

  it("scrolls as little as needed", () => {
    const view = { scrollTop: 100, height: 100, rowHeight: 10 };
    assert.deepEqual([scrollFor(5, view), scrollFor(15, view), scrollFor(30, view)], [50, 100, 210]);
  });

  it("goes by keys, and not beyond its ends", () => {
    const at = { index: 3, count: 10, page: 5 };
    const keys = ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "x"];
    assert.deepEqual(
      keys.map((key) => rowAfterKey(key, at)),
      [4, 2, 8, 0, 0, 9, undefined],
    );
    assert.equal(rowAfterKey("ArrowDown", { index: 0, count: 0, page: 5 }), undefined);
  });
});
