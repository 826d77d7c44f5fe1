import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../src/base/properties.fixture.ts";
import { LIST_SORTS, LIST_STATES } from "../list/list-query.ts";
import { MAX_SPAN_MS, MIN_SPAN_MS } from "../time/time-range.ts";
import { formatRoute, parseRoute, type Route, secretPath } from "./route.ts";

const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/),
  fc.constantFrom("<img src=x onerror=alert(1)>", "a b", "50%", "ä?&=#", "%2F", "javascript:alert(1)"),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const without = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;

const query = fc
  .record({
    search: fc.oneof(fc.constant(""), name),
    sort: fc.constantFrom(...LIST_SORTS),
    kind: optional(name),
    namespace: optional(name),
    state: optional(fc.constantFrom(...LIST_STATES)),
  })
  .map(without);
const range = fc
  .record({
    spanMs: fc.integer({ min: MIN_SPAN_MS / 1000, max: MAX_SPAN_MS / 1000 }).map((seconds) => seconds * 1000),
    from: optional(fc.integer({ min: -62_000_000_000, max: 253_000_000_000 }).map((seconds) => seconds * 1000)),
  })
  .map(without);
const routes = fc.oneof(
  fc.constant({ page: "overview" }),
  fc.record({ page: fc.constant("timeline"), query, range: optional(range) }).map(without),
  fc.record({ page: fc.constant("credentials"), query }),
  fc
    .record({
      page: fc.constant("credential"),
      id: fc.array(name, { minLength: 2, maxLength: 3 }).map((parts) => parts.join("/")),
      range: optional(range),
    })
    .map(without),
  fc.record({ page: fc.constant("consumers"), namespace: optional(name) }).map(without),
  fc.record({ page: fc.constant("secret"), namespace: name, name }),
  fc.record({ page: fc.constant("evidence"), maxPeriod: optional(name) }).map(without),
) as fc.Arbitrary<Route>;

describe("an address", () => {
  it("says where one is, whatever things are called", () => {
    fc.assert(
      fc.property(routes, (route) => {
        const url = new URL(formatRoute(route), "http://127.0.0.1");
        assert.equal(url.host, "127.0.0.1");
        assert.equal(url.pathname.includes("."), false, "nothing looks like a file");
        assert.deepEqual(parseRoute(url.pathname, url.search), JSON.parse(JSON.stringify(route)));
      }),
    );
  });

  for (const [address, page, reason] of [
    ["/timeline?span=1e9&from=yesterday&sort=worst", "timeline", "what makes no sense counts for nothing"],
    ["/credential/ServiceBinding", "nowhere", "a kind without a name"],
    ["/credential/a/b/c/d", "nowhere", "too many parts"],
    ["/%E0%A4%A", "nowhere", "no text at all"],
    ["/wp-login.php", "nowhere", "somebody else's page"],
  ] as const) {
    it(`${address} is ${page}: ${reason}`, () => {
      const [pathname = "", search = ""] = address.split("?");
      assert.equal(parseRoute(pathname, search).page, page);
    });
  }

  it("leads to the consumers of a Secret that has a name", () => {
    assert.equal(secretPath("shop/orders"), "/consumers/shop/orders");
    assert.equal(secretPath("orders"), undefined);
  });
});
